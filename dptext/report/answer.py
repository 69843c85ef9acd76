"""The short answer of a run: what is private, what is not, and how much is protected.

One line for each question, as a sentence and as figures. A terminal shows the
sentences; machines get both. Some lines depend on the private text, as those of the
full report do: they are for the owner of the text.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from dptext.guarantees.rounding import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    factor,
    number,
)
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import ALL, InContext, Reading
from dptext.report.blocks import Badge, Block, Cell, Figures, Tone
from dptext.report.document import Document, Private, WordCounts, WordSection
from dptext.report.figures import (
    bound,
    count,
    of_third_party,
    score,
    share,
    short,
)
from dptext.types import JsonObject, Level, Notion
from dptext.vectors.measures import Measures

RARE = "all other words"  # the band of words beyond the thousand most frequent
_SEEDED = "not measured: with the seed, every draw can be repeated"
_OWN = "private figures: do not publish"
_ADD_UP = "losses of all words and records add up"
_NAMES = 110  # characters of names of fields in the sentence
_LONGEST = 30  # characters of one name
_LONG_PATH = 40  # characters
_REASON = 140  # characters


@dataclass(frozen=True, slots=True)
class Released:
    """Where a run wrote, and what it copied: what the document does not say.

    outputs are paths, None for standard output; folder, where several are, None
    where they took the place of the originals; public, the public report of the first;
    internal and page, the files of the internal report; copied, the names of the copied
    fields in the records that were looked at: all where first is 0, else so many;
    signed, by which key public reports are signed, None where they are not.
    """

    outputs: Sequence[str | None]
    folder: str | None = None
    public: str | None = None
    internal: str | None = None
    page: str | None = None
    copied: Sequence[str] = ()
    first: int = 0
    signed: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """An answer: its question in a word or two, the sentence, and its figures."""

    name: str
    sentence: str
    figures: JsonObject = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the name for machines."""
        return self.name.replace(" ", "_")


def blocks(lines: Sequence[Line], warnings: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the lines for people, warnings last."""
    rows: list[tuple[str, Cell]] = [(line.name, line.sentence) for line in lines]
    rows += [("warning", Badge(line, Tone.FAIR)) for line in warnings]
    return (Figures(rows),) if rows else ()


def data(lines: Sequence[Line], warnings: Sequence[str] = ()) -> JsonObject:
    """Return the lines for machines, by their names."""
    said = {line.key: {"sentence": line.sentence, **line.figures} for line in lines}
    return {**said, "warnings": list(warnings)}


def answer(document: Document, released: Released) -> list[Line]:
    """Return what a run did and what it protects, for the owner of the text."""
    promise, words, private = document.guarantee, document.words, document.private
    lines = []
    if private is not None:
        lines.append(_done(document, private, released))
    lines.append(_copied(document, released))
    if words is not None:
        lines += [_one(document, "one word"), _person(document)]
        lines.append(_readers(document, words))
    else:
        assert document.vectors is not None
        of = "one word" if promise.level is Level.WORD else "one text"
        lines += [_one(document, of), _person(document)]
        lines.append(_ruler(document.vectors.measures))
    if private is not None and private.words is not None:
        lines += [*_third_party(private.words), _kept(private)]
    elif document.vectors is not None and document.vectors.measures is not None:
        lines.append(_distances(document.vectors.measures))
    lines.append(_report(released))
    return lines


def _some(number: int, one: str) -> str:
    return f"{count(number)} {one}" + "s" * (number != 1)


def _done(document: Document, private: Private, released: Released) -> Line:
    """Say how much became private, and where it is."""
    layout, words, vectors = document.run.layout, private.words, private.vectors
    unit = "line" if layout.format == "text" else "record"
    figures: JsonObject = {"records": private.records, "left_out": private.faults}
    said = [_some(private.records, unit)]
    if private.faults:
        said.append(f"{_some(private.faults, unit)} left out as unreadable")
    if words is not None:
        treated: dict[str, int] = {}
        for name, tokens in words.tokens.items():
            if name not in ("punctuation", "space"):
                treatment = words.treatment.get(name, "not stated")
                treated[treatment] = treated.get(treatment, 0) + tokens
        replaced = treated.pop("replaced", 0)
        said.append(f"{_some(replaced, 'word')} replaced")
        others = {"random digits": "made random digits"}
        others["random of its form"] = "made random of its form"
        said += [
            f"{count(each)} {others.get(name, name)}"
            for name, each in treated.items()
            if each
        ]
        figures |= {"words_replaced": replaced, "other_words": treated}
    elif vectors is not None:
        said.append(_some(vectors.vectors, "vector"))
        figures |= {"vectors": vectors.vectors, "words": vectors.words}
    where = ""
    if layout.fields:
        named = " and ".join(f'"{_name(each)}"' for each in layout.fields)
        where = f" {'of' if words is None else 'in'} {named}"
    figures |= {
        "fields": layout.fields,
        "outputs": [each or "-" for each in released.outputs],
    }
    return Line("private", f"{', '.join(said)}{where}: {_where(released)}", figures)


def _where(released: Released) -> str:
    """Name the outputs."""
    paths = released.outputs
    if len(paths) == 1:
        path = paths[0] or "standard output"
        return path if len(path) <= _LONG_PATH else f".../{Path(path).name}"
    files = f"{count(len(paths))} files"
    if released.folder is not None:
        return f"{files} in {released.folder}"
    return f"{files}, in the place of the originals"


def _name(name: str) -> str:
    """Return a name that stays on its line, shortened where it is long."""
    plain = name if name.isprintable() else ascii(name)[1:-1]
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."


def _listed(names: Sequence[str]) -> str:
    """Name fields, as many as two lines hold."""
    shown: list[str] = []
    for name in map(_name, names):
        if shown and len(", ".join([*shown, name])) > _NAMES:
            return f"{', '.join(shown)} and {count(len(names) - len(shown))} more"
        shown.append(name)
    return ", ".join(shown)


def _copied(document: Document, released: Released) -> Line:
    """Name what is copied as it is: fields, and parts of the texts."""
    names, private = list(released.copied), document.private
    said = [_listed(names)] if names else []
    if not names and document.run.layout.fields is not None:
        said = ["no other field"]
    if names and released.first:
        each = " of each file" * (len(released.outputs) > 1)
        said[0] += f" (in the first {count(released.first)} records{each})"
    inside = []
    if private is not None and private.words is not None:
        counts = private.words
        inside = [
            {"kept": "words of keep lists"}.get(name, name.replace("_", " "))
            + ("s" if name in ("stop_word", "number", "identifier") else "")
            + (" words" if name == "unknown" else "")
            for name, treatment in counts.treatment.items()
            if treatment == "copied"
            and name != "space"
            and (counts.tokens.get(name) or name == "punctuation")
        ]
    if inside:
        said.append(f"in the texts: {', '.join(inside)}")
    return Line(
        "copied",
        "; ".join(said) or "nothing",
        {"fields": names, "of_first_records": released.first or None, "inside": inside},
    )


def _one(document: Document, of: str) -> Line:
    """Say what is guaranteed for one word, or for what one vector is of."""
    promise = document.guarantee
    figures: JsonObject = {
        "notion": str(promise.notion),
        "level": str(promise.level),
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "loss": _finite(promise.loss.farthest),
    }
    if promise.notion is Notion.NONE:
        figures |= {"epsilon": None, "loss": None}
        return Line(of, _no_guarantee(document), figures)
    return Line(of, _guaranteed(promise, of.removeprefix("one ")), figures)


def _finite(nats: float) -> float | None:
    return nats if math.isfinite(nats) else None


def _no_guarantee(document: Document) -> str:
    """Say why there is no guarantee."""
    if document.run.key == "seed":
        return (
            "no guarantee: anyone who knows or guesses the seed can repeat every draw"
        )
    said = document.guarantee.sentence
    return _cut(said[:1].lower() + said[1:], _REASON)


def _cut(said: str, most: int) -> str:
    """Cut a long sentence where a part of it ends; the report has the whole."""
    if len(said) <= most:
        return said
    ends = [said.rfind(end, 0, most) for end in (". ", "; ", ": ", ", ")]
    end = max(ends) if max(ends) > most // 3 else said.rfind(" ", 0, most)
    return f"{said[:end]} ..."


def _guaranteed(promise: Statement, of: str) -> str:
    """Say how far the output can tell two originals apart that differ in one word."""
    loss = promise.loss
    epsilon = f"epsilon {number(promise.epsilon)}"
    if promise.level is Level.TEXT and of == "word":
        epsilon += " for a whole text"
    if promise.notion is Notion.METRIC:
        if loss.nearest == loss.farthest:
            weak = "no meaningful protection: " * (loss.nearest > MAX_MEANINGFUL_LOSS)
            return (
                f"{weak}no output is more than {_times(loss.farthest)} as likely for "
                f"one {of} as for another (metric DP, {epsilon} per unit of distance)"
            )
        near, far = map(_metric_times, (loss.nearest, loss.farthest))
        return (
            f"for half of all {of}s, no output is more than {near} as likely as for "
            f"the nearest other {of}; for the farthest two, {far} (metric DP, "
            f"{epsilon} per unit of distance)"
        )
    if promise.level is Level.WORDS:
        return (
            "the longer the text, the less: in a text of n replaced words no output is "
            f"more than e^(n x {number(promise.epsilon)}) times as likely for one word "
            f"as for another ({_short(promise.notion)}, {epsilon} for each word)"
        )
    weak = "no meaningful protection: " * (loss.farthest > MAX_MEANINGFUL_LOSS)
    rare, terms = "", f"{promise.notion}, {epsilon}"
    if promise.notion is Notion.APPROXIMATE:
        rare = ", except as delta allows"
        terms = f"{epsilon}, delta {number(promise.delta)}"
        terms += " for each replaced word" * promise.equal_parts
    return (
        f"{weak}no output is more than {_times(loss.farthest)} as likely for one {of} "
        f"as for another{rare} ({terms})"
    )


def _short(notion: Notion) -> str:
    return "(epsilon, delta)-DP" if notion is Notion.APPROXIMATE else str(notion)


def _times(nats: float) -> str:
    """Write a bound of nats as a factor."""
    return "any number of times" if math.isinf(nats) else f"{factor(nats)} times"


def _metric_times(nats: float) -> str:
    weak = " (no meaningful protection)" * (nats > MAX_MEANINGFUL_LOSS)
    return _times(nats) + weak


def _person(document: Document) -> Line:
    """Say what is guaranteed for all words of a person."""
    promise, recorded = document.guarantee, document.run.recorded
    total = promise.text_loss.total
    figures: JsonObject = {
        "protected_as_a_whole": False,
        "loss_of_a_text": None if total is None else _finite(total),
        "limit": None,
    }
    if promise.notion is Notion.NONE:
        return Line("a person", "no guarantee", figures)
    if recorded is not None:
        limit = recorded.limits
        protected = limit.nats <= MAX_MEANINGFUL_TEXT_LOSS and not limit.delta
        figures |= {"limit": limit.nats, "protected_as_a_whole": protected}
        above = "" if protected else "; not protected as a whole"
        said = (
            f'losses add up to at most {bound(limit.nats)} nats for each "'
            f'{_name(limit.field)}" in all releases that the ledger records{above}'
        )
        return Line("a person", said, figures)
    said = f"not protected as a whole: {_ADD_UP}"
    if total is not None and total <= MAX_MEANINGFUL_TEXT_LOSS:
        rare = ", except as delta allows" * bool(promise.delta)
        said = (
            f"one text loses at most {bound(total)} nats{rare}; losses of all texts "
            "and records add up"
        )
    vectors = None if document.private is None else document.private.vectors
    if vectors is not None and vectors.epsilon_of_one is not None:
        rare = ", except as delta allows" * bool(promise.delta)
        figures |= {"most_of_one": vectors.most_of_one}
        figures |= {"loss_of_one": _finite(vectors.epsilon_of_one)}
        said += (
            f"; here at most {bound(vectors.epsilon_of_one)} nats for each person"
            f"{rare} ({_OWN})"
        )
    return Line("a person", said, figures)


def _readers(document: Document, words: WordSection) -> Line:
    """Say what the strongest measured reader finds, then what a single guess finds."""
    figures, said = _in_context(words.in_context)
    if document.run.key == "seed":
        return Line("a reader", _SEEDED, figures | {"one_word": None})
    risk = words.risk
    if risk is None:
        alone = f"one word alone: {_cut(words.risk_note, 90)}"
    elif said:
        alone = f"the best guess from one word alone {_success(risk)}"
    else:
        alone = (
            f"the best guess from one word alone finds {_success(risk)} of words in "
            f"public text ({share(risk.baseline)} without it)"
        )
    figures["one_word"] = None if risk is None else risk.success
    figures["without_output"] = None if risk is None else risk.baseline
    if not said:
        said = "whole texts: not measured"
    return Line("a reader", f"{said}; {alone}", figures)


def _success(risk: Risk) -> str:
    if risk.low is None or risk.confidence is None:
        return share(risk.success)
    return f"at most {share(risk.success)} ({share(risk.confidence)} confidence)"


def _in_context(measured: Sequence[InContext]) -> tuple[JsonObject, str]:
    """Return what the reader that finds most finds, over all public corpora."""
    readings = [
        (each.corpus, reading)
        for each in measured
        for reading in each.readings
        if reading.reader != "alone"
    ]
    if not readings:
        return {"reader": None, "found": None, "found_of_rare_words": None}, ""
    best = max(readings, key=lambda pair: pair[1].success)[1].reader
    mine = [reading for _, reading in readings if reading.reader == best]
    every, rare = _range(mine, ALL), _range(mine, RARE)
    said = f"finds {_between(every)} or more of the words of public texts"
    if rare:
        said += f" (rare ones: {_between(rare)})"
    return {"reader": best, "found": every, "found_of_rare_words": rare or None}, said


def _range(readings: Sequence[Reading], name: str) -> list[float]:
    """Return the least and the largest success for a class of words."""
    shares = list(_shares(readings, name))
    return [min(shares), max(shares)] if shares else []


def _shares(readings: Sequence[Reading], name: str) -> Iterator[float]:
    for reading in readings:
        yield from (one.success for one in reading.classes if one.name == name)


def _between(limits: Sequence[float]) -> str:
    low, high = map(share, limits)
    return low if low == high else f"{low} to {high}"


def _ruler(measures: Measures | None) -> Line:
    """Say how often the original of a vector is found."""
    if measures is None:
        return Line("a reader", _SEEDED, {"found": None})
    ruler = measures.ruler
    best = max(ruler.nearest, ruler.best or 0.0)
    return Line(
        "a reader",
        f"finds {share(best)} or more of originals among {count(ruler.choices)} "
        f"{ruler.of} (without the vector {share(ruler.baseline)}; the nearest one "
        f"{share(ruler.nearest)})",
        {
            "found": best,
            "nearest": ruler.nearest,
            "without_output": ruler.baseline,
            "choices": ruler.choices,
        },
    )


def _kept(private: Private) -> Line:
    """Say how much changed and how much of the meaning is left."""
    assert private.words is not None
    values = {
        name: next(iter(metric.values()), None)
        for name, metric in private.words.metrics.items()
    }
    changed, near = values.get("PP"), values.get("CS")
    said = []
    if private.words.describes == "rewritten texts":
        said.append("not measured: no word of a rewritten text stands for another")
    if isinstance(changed, float):
        said.append(f"{share(changed)} of replaced words differ")
    if isinstance(near, float):
        said.append(f"{score(near)} similar in meaning")
    return Line(
        "kept",
        f"{'; '.join(said)} (private)" if said else "there was no word to replace",
        {"changed": changed, "similarity": near, "private": True},
    )


def _third_party(words: WordCounts) -> Iterator[Line]:
    """Say to whom draws were sent, and what came of it."""
    used = words.used
    if used is None:
        return
    said = (
        f"{of_third_party(used)}; {_some(used.requests, 'request')}, "
        f"{_some(used.tokens_sent, 'token')} sent, {count(used.tokens_received)} "
        "received"
    )
    yield Line("third party", said, msgspec.to_builtins(used))


def _distances(measures: Measures) -> Line:
    """Say what is left of distances between vectors."""
    errors = measures.distortion
    return Line(
        "kept",
        f"distances between public vectors: mean {short(errors.distance)}, mean error "
        f"{short(errors.distance_error)}",
        {
            "distance": errors.distance,
            "distance_error": errors.distance_error,
            "corrected_error": errors.corrected_error,
        },
    )


def _report(released: Released) -> Line:
    """Say where the full report is, or how to get one."""
    public = released.public
    figures: JsonObject = {
        "public": public,
        "internal": released.internal,
        "page": released.page,
        "signed": released.signed,
    }
    said = []
    if released.internal is not None:
        said.append(f"{_shown(released.internal)} ({_OWN})")
    if released.page is not None:
        said.append(f"page {_file(released.page)} ({_OWN})")
    if public is not None:
        several = len(released.outputs) > 1
        also = f", one beside each of {count(len(released.outputs))} files" * several
        by = f", signed {released.signed}" * bool(released.signed)
        said.append(f"{_shown(public)} (public{also}{by})")
    if not said:
        return Line(
            "report",
            "not written: --report FILE writes it, --verbose prints it",
            figures,
        )
    return Line("report", "; ".join(said), figures)


def _file(path: str) -> str:
    return "standard output" if path == "-" else path


def _shown(path: str) -> str:
    """Return the command that shows a report."""
    if path == "-":
        return "standard output"
    return f"dptext report {shlex.quote(str(Path(path)))}"
