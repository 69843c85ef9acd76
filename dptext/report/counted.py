"""How much became private, in a sentence and as figures: records, words, topics."""

from __future__ import annotations

from collections import Counter

from dptext.report.figures import CLASSES, count
from dptext.report.sections import Private
from dptext.tokens import kinds
from dptext.types import JsonObject


def counted(
    private: Private, is_text: bool, named: str, *, topics: bool, classes: bool = True
) -> tuple[str, JsonObject]:
    """Say how many records, words, topics or vectors there were.

    classes: count those of new words one by one.
    """
    unit = "line" if is_text else "record"
    figures: JsonObject = {"records": private.records, "left_out": private.faults}
    parts = [_some(private.records, unit)]
    if private.faults:
        parts.append(f"{_some(private.faults, unit)} left out as unreadable")
    words, vectors = private.words, private.vectors
    if topics:
        became = "became a topic" if private.texts == 1 else "became a topic each"
        parts.append(f"{_some(private.texts, 'text')}{named} {became}")
        figures |= {"texts": private.texts}
    elif words is not None:
        treated: Counter[str] = Counter()
        for name, tokens in words.tokens.items():
            if name not in kinds.MARK_NAMES:
                treated[words.treatment.get(name, "not stated")] += tokens
        replaced = treated.pop("replaced", 0)
        parts.append(f"{_some(replaced, 'word')}{named} replaced")
        figures |= {"words_replaced": replaced, "other_words": {**treated}}
        by_class = {name: words.tokens.get(name, 0) for name in kinds.OPTIONAL}
        by_class = {name: tokens for name, tokens in by_class.items() if tokens}
        if by_class:
            figures["by_class"] = {**by_class}
        common = by_class.pop("common", 0)
        if common:
            treated["unchanged"] -= common
            parts.append(f"{_some(common, 'common word')} unchanged")
        # Of those that are made new, the others have a form.
        each_class = [f"{CLASSES[name]} {count(n)}" for name, n in by_class.items()]
        if not classes:
            each_class = []
        which = {"made new": f" ({', '.join(each_class)})" if each_class else ""}
        parts += [
            f"{count(each)} {'made ' if name.startswith('random') else ''}{name}"
            f"{which.get(name, '')}"
            for name, each in treated.items()
            if each
        ]
    elif vectors is not None:
        parts.append(f"{_some(vectors.vectors, 'vector')}{named}")
        figures |= {"vectors": vectors.vectors, "words": vectors.words}
    return ", ".join(parts), figures


def _some(number: int, one: str) -> str:
    return f"{count(number)} {one}" + ("" if number == 1 else "s")
