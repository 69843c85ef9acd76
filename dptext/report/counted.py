"""How much became private, in a sentence and as figures: records, words, topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dptext.guarantees.sentences import series
from dptext.report.figures import CLASSES, count, whole
from dptext.report.sections import Private, WordCounts
from dptext.tokens import kinds
from dptext.types import JsonObject

# Treatments of tokens that are neither replaced nor made new, with their names for one
# token and for several.
_OTHERS = {
    "masked": ("word or number masked", "words and numbers masked"),
    "left out": ("word or number left out", "words and numbers left out"),
    "unchanged": ("word or number unchanged", "words and numbers unchanged"),
}


def counted(
    private: Private, unit: str, named: str, *, topics: int, brief: bool = False
) -> tuple[str, JsonObject]:
    """Say how many records, words, topics or vectors there were.

    unit: a record in a word; named: the fields, with "of" before them; topics: how
    many a text becomes, 0 without topics; brief: count all that was drawn by class or
    form in one number.
    """
    figures: JsonObject = {"records": private.records, "left_out": private.faults}
    parts = [_numbered(private.records, unit)]
    if private.faults:
        parts.append(f"{_numbered(private.faults, unit)} left out as unreadable")
    words, vectors = private.words, private.vectors
    if topics:
        became = "a topic" if topics == 1 else f"a set of {topics} topics"
        each = "" if private.texts == 1 else " each"
        parts.append(f"{_numbered(private.texts, 'text')}{named} became {became}{each}")
        figures |= {"texts": private.texts}
    elif words is not None:
        sentences, of_words = _counted_words(words, named, brief=brief)
        parts += sentences
        figures |= of_words | {"texts": private.texts}
        figures["unchanged_texts"] = words.unchanged_texts
        if words.unchanged_texts:
            unchanged = _unchanged_texts(words, private.texts)
            return f"{', '.join(parts)}; {unchanged} unchanged", figures
    elif vectors is not None:
        parts.append(f"{_numbered(vectors.vectors, 'vector')}{named}")
        figures |= {"vectors": vectors.vectors, "words": vectors.words}
    return ", ".join(parts), figures


def _unchanged_texts(words: WordCounts, texts: int) -> str:
    """Say how many texts are unchanged, of those that are not empty."""
    same, compared = words.unchanged_texts, words.unchanged_texts + words.changed_texts
    which = "" if compared == texts else " not empty"
    if compared == 1:
        return f"the only text{which} is"
    verb = "is" if same == 1 else "are"
    return f"{count(same)} of {count(compared)} texts{which} {verb}"


def _counted_words(
    words: WordCounts, named: str, *, brief: bool
) -> tuple[list[str], JsonObject]:
    """Count tokens by what happened to them."""
    treated: Counter[str] = Counter()
    for name, tokens in words.tokens.items():
        if name not in kinds.MARK_NAMES:
            treated[words.treatment.get(name, "not stated")] += tokens
    every = treated.total()
    replaced = treated.pop("replaced", 0)
    figures: JsonObject = {"words_replaced": replaced, "other_words": {**treated}}
    by_class = {
        name: tokens for name in kinds.OPTIONAL if (tokens := words.tokens.get(name, 0))
    }
    if by_class:
        figures["by_class"] = {**by_class}
    common = by_class.pop("common", 0)
    treated["unchanged"] -= common
    digits, new = treated["random digits"], treated["made new"]
    same = _replaced_by_the_same(words)
    figures["replaced_by_the_same"] = same
    by_the_same = f" ({count(same)} by the same word)" if same else ""
    parts = [f"{_numbered(replaced, 'word')}{named} replaced{by_the_same}"]
    if brief and (new or digits):
        drawn = drawn_pieces(by_class, new, digits)
        parts = [
            f"{_numbered(replaced, 'word')} and {drawn}{named} replaced{by_the_same}"
        ]
    else:
        parts += _each_drawn(by_class, new, digits)
    if common:
        figures["share_of_common_words"] = common / every
        of_all = f"({whole(common / every)} of words and numbers)"
        parts.append(f"{_numbered(common, 'common word')} unchanged {of_all}")
    for name, (one, several) in _OTHERS.items():
        if number := treated[name]:
            other = "other " if common and name == "unchanged" else ""
            parts.append(f"{count(number)} {other}{one if number == 1 else several}")
    return parts, figures


def _replaced_by_the_same(words: WordCounts) -> int | None:
    """Return how many words were drawn for themselves, None if it is not known."""
    changes = words.metrics.get("PP", {})
    changed, total = changes.get("share_changed"), changes.get("words")
    if not isinstance(changed, float) or not isinstance(total, int):
        return None
    return round((1.0 - changed) * total)


def _each_drawn(by_class: Mapping[str, int], new: int, digits: int) -> list[str]:
    """Count the pieces that were drawn by class or form, and the numbers."""
    parts = []
    if digits:
        parts.append(f"{_numbered(digits, 'number')} given random digits")
    if new:
        names = [f"{CLASSES[name]} {count(n)}" for name, n in by_class.items()]
        listed = f" ({', '.join(names)})" if names else ""
        drawn = drawn_pieces(by_class, new, 0)
        parts.append(f"{drawn}{listed} replaced by random ones")
    return parts


def drawn_pieces(by_class: Mapping[str, int], new: int, digits: int) -> str:
    """Name the pieces that were drawn by their class or form, with their number."""
    forms = new - sum(by_class.values())
    singular, plural = [], []
    if by_class:
        singular.append("name")
        plural.append("names")
    if digits:
        singular.append("number")
        plural.append("numbers")
    if forms:
        singular.append("address, number, date or the like")
        plural.append(
            "dates or the like" if plural else "addresses, numbers, dates or the like"
        )
    total = new + digits
    if total == 1:
        return f"1 {singular[0]}"
    if forms and len(plural) > 1:
        return f"{count(total)} {', '.join(plural)}"
    return f"{count(total)} {series(tuple(plural))}"


def _numbered(number: int, one: str) -> str:
    return f"{count(number)} {one}" + ("" if number == 1 else "s")
