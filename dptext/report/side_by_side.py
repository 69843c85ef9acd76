"""Compares two exports: their different settings, and which protects more.

An aspect is compared only if both figures are of the same kind; otherwise
the reason is given instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

from dptext.guarantees.claims import MAX_MEANINGFUL_TEXT_LOSS, Strength, Unprotected
from dptext.guarantees.templates import series
from dptext.report import answer, attackers, figures, layout, units
from dptext.report.blocks import (
    Badge,
    Block,
    Code,
    Column,
    Figures,
    Page,
    Paragraph,
    Rows,
    Table,
    Tone,
    Verdict,
)
from dptext.report.document import Document
from dptext.report.lines import AnswerLine
from dptext.types import JsonObject, Notion

_Better = Literal["A", "B", "equal"]
_MISSING = "not stated"
# Classes of token that decide which words are replaced.
_WORDS = {
    Unprotected.COMMON_WORDS,
    Unprotected.STOP_WORD,
    Unprotected.NUMBER,
    Unprotected.UNKNOWN,
    Unprotected.KEEP_LIST,
    Unprotected.CORPUS_WORDS,
    Unprotected.MASK_LIST,
    Unprotected.CLASSES,
}
# Lines of the answers that a comparison shows, by their titles.
_ANSWERS = {"fit for": "verdict", "before you send": "sending", "again": "again"}
# Settings without an effect on protection.
_NO_EFFECT = ("name", "source", "about")


@dataclass(frozen=True)
class Side:
    """One of two exports."""

    name: str
    document: Document
    released: layout.RunOutputs | None = None

    @cached_property
    def lines(self) -> dict[str, AnswerLine]:
        """Return the export's summary lines by name."""
        return {each.name: each for each in answer.answer(self.document, self.released)}

    @property
    def known(self) -> attackers.Attackers | None:
        """Return the attacker figures in its report, None for vectors."""
        words = self.document.words
        return None if words is None else units.attackers_on(self.document, words)

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings that affect protection, formatted for display."""
        run = self.document.run
        flat = {k: v for k, v in figures.flat(run.settings) if k not in _NO_EFFECT}
        return {**flat, "lexicon": run.lexicon, "key": run.key}

    def sentence(self, *names: str) -> str:
        """Return the first of these sentences that its summary has."""
        known = (self.lines[name].sentence for name in names if name in self.lines)
        return next(known, _MISSING)


_Judge = Callable[[Side, Side], tuple[_Better | None, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A summary line of both exports, without a judgement."""

    name: str
    a: str
    b: str

    @property
    def key(self) -> str:
        """Return the name in JSON data."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True, kw_only=True, slots=True)
class Aspect(Line):
    """A question with both exports' sentences, and which export protects more."""

    #: None where it cannot be said.
    better: _Better | None
    #: Why it cannot be said.
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two exports, in sentences and figures."""

    names: tuple[str, str]
    #: Settings that differ: name and both values, as people read them.
    settings: list[tuple[str, str, str]]
    #: Verdict and advice on each export.
    answers: list[Line]
    #: Both are one file, byte by byte.
    is_one_file: bool = False
    aspects: list[Aspect] = field(default_factory=list)

    @property
    def advice(self) -> str:
        """Return which of the two to share, if both were made from the same texts.

        It is conditional, as no report identifies the texts of an export.
        """
        if self.is_one_file:
            return "Both are the same file: sharing it twice reveals nothing more."
        return (
            "If both are of the same texts, share only one: two versions reveal more "
            "than one."
        )

    @property
    def verdict(self) -> str:
        """Return which export protects more, or that they cannot be compared."""
        better = {
            side: [each.name for each in self.aspects if each.better == side]
            for side in ("A", "B", None)
        }
        unknown = ""
        if better[None]:
            unknown = f" Not comparable: {series(tuple(better[None]))}."
        if better["A"] and better["B"]:
            first, second = (series(tuple(better[side])) for side in ("A", "B"))
            return (
                f"They cannot be compared as a whole: A is stronger in {first}, B in "
                f"{second}.{unknown}"
            )
        for side, other in (("A", "B"), ("B", "A")):
            named = series(tuple(better[side]))
            if named and better[None]:
                return f"{side} protects more where comparable: in {named}.{unknown}"
            if named:
                return (
                    f"{side} protects more: in {named}. {other} protects more in "
                    "nothing."
                )
        if better[None]:
            return f"Neither protects more where comparable.{unknown}"
        return "Both protect the same."

    def data(self) -> JsonObject:
        """Return the comparison as JSON data."""
        return {
            "a": self.names[0],
            "b": self.names[1],
            "verdict": self.verdict,
            "advice": self.advice,
            "answers": {each.key: {"a": each.a, "b": each.b} for each in self.answers},
            "settings": {name: {"a": a, "b": b} for name, a, b in self.settings},
            "aspects": {
                each.key: {
                    "a": each.a,
                    "b": each.b,
                    "stronger": each.better,
                    "reason": each.reason or None,
                }
                for each in self.aspects
            },
        }


def compare(first: Side, second: Side) -> Comparison:
    """Compare two exports."""
    a, b = first.settings, second.settings
    outputs = first.document.output, second.document.output
    return Comparison(
        names=(first.name, second.name),
        settings=[
            (name, a.get(name, _MISSING), b.get(name, _MISSING))
            for name in sorted({*a, *b})
            if a.get(name) != b.get(name)
        ],
        answers=[
            Line(name=title, a=first.sentence(name), b=second.sentence(name))
            for title, name in _ANSWERS.items()
        ],
        is_one_file=None not in outputs
        and len({each.sha256 for each in outputs if each is not None}) == 1,
        aspects=[_aspect(first, second, *each) for each in _ASPECTS],
    )


def _aspect(
    first: Side, second: Side, name: str, lines: Sequence[str], judge: _Judge
) -> Aspect:
    """Compare an aspect, using the first of these lines that a summary has."""
    better, reason = judge(first, second)
    a, b = first.sentence(*lines), second.sentence(*lines)
    return Aspect(name=name, a=a, b=b, better=better, reason=reason)


def _smaller(a: float, b: float) -> _Better:
    if a == b:
        return "equal"
    return "A" if a < b else "B"


def _of_guarantees(first: Side, second: Side) -> tuple[_Better | None, str]:
    """Compare the bounds for one word, or one text."""
    one, other = first.document.guarantee, second.document.guarantee
    a, b = one.bound, other.bound
    none = [each.strength.word is Strength.NONE for each in (one, other)]
    if all(none):
        return "equal", ""
    if any(none):
        return ("B" if none[0] else "A"), ""
    if units.unit_of(first.document).noun != units.unit_of(second.document).noun:
        return None, "one is a guarantee of words, the other of whole texts"
    if {*one.scope.unprotected} & _WORDS != {*other.scope.unprotected} & _WORDS:
        return None, "they replace different words"
    if a.level is not b.level:
        return None, "one epsilon is of a word, the other of a text"
    same = (a.notion, a.metric, a.delta) == (b.notion, b.metric, b.delta)
    if same or {a.notion, b.notion} == {Notion.LDP}:
        return _smaller(a.epsilon, b.epsilon), ""
    return None, "no epsilon of one compares with an epsilon of the other"


def _of_people(first: Side, second: Side) -> tuple[_Better | None, str]:
    """Compare the bounds for a person's texts in a ledger, or for one text."""
    documents = first.document, second.document
    bounds = [_bound_of_person(each) for each in documents]
    deltas = {each.guarantee.bound.delta for each in documents}
    if len(deltas) > 1 and max(bounds) < math.inf:
        return None, "they have different deltas"
    limited = [each.run.recorded is not None for each in documents]
    if limited[0] != limited[1] and max(bounds) < math.inf:
        return None, "one limits all texts of a person, the other one text"
    return _smaller(bounds[0], bounds[1]), ""


def _bound_of_person(document: Document) -> float:
    """Return a person's bound in nats, inf without protection."""
    recorded = document.run.recorded
    if recorded is None:
        return _bound_of_text(document)
    nats = recorded.limits.nats
    return nats if nats <= MAX_MEANINGFUL_TEXT_LOSS else math.inf


def _bound_of_text(document: Document) -> float:
    """Return a text's bound in nats, inf if it is meaningless."""
    bound = document.guarantee.bound
    total = bound.text_loss.total
    if bound.notion is Notion.NONE or total is None:
        return math.inf
    return total if total <= MAX_MEANINGFUL_TEXT_LOSS else math.inf


def _of_originals(first: Side, second: Side) -> tuple[_Better | None, str]:
    """Compare what an attacker with original texts finds, by the bounds of texts."""
    return _smaller(*(_bound_of_text(each.document) for each in (first, second))), ""


def _of_attackers(
    first: Side, second: Side, *, written: bool = False
) -> tuple[_Better | None, str]:
    """Compare attacker figures on public texts of the same kinds."""
    a, b = first.known, second.known
    if a is None or b is None:
        return None, "not measured for both"
    rows = [each.written if written else each.attackers for each in (a, b)]
    if not rows[0] or not rows[1] or a.seeded or b.seeded:
        return None, "not measured for both"
    if not written and (a.attackers_risk is not None or b.attackers_risk is not None):
        return None, "measured at other settings, which protect more"
    if a.words != b.words:
        return None, "the figures are of different words"
    one, two = ({row.kind or row.corpus: row.success for row in each} for each in rows)
    if one.keys() != two.keys():
        return None, "measured on different texts"
    sides = {_smaller(one[kind], two[kind]) for kind in one} - {"equal"}
    if len(sides) > 1:
        return None, "it depends on the kind of text"
    return (sides.pop() if sides else "equal"), ""


def _unchanged(side: Side) -> set[tuple[str, str]] | None:
    """Return the unchanged parts of texts and columns, None if unknown."""
    names, document = side.lines["unchanged"].figures["fields"], side.document
    columns = names if isinstance(names, list | tuple) else None
    if columns is None and document.run.layout.format != "text":
        return None
    parts = {("part", str(each)) for each in document.guarantee.scope.unprotected}
    return parts | {("column", str(each)) for each in columns or ()}


def _of_unchanged(first: Side, second: Side) -> tuple[_Better | None, str]:
    """Compare the unchanged parts of texts and columns, as sets."""
    a, b = _unchanged(first), _unchanged(second)
    if a is None or b is None:
        return None, "the unchanged columns are not known"
    if a == b:
        return "equal", ""
    if a < b or b < a:
        return ("A" if a < b else "B"), ""
    return None, "each leaves something unchanged that the other replaces"


# Name of each aspect, lines of the answers that tell it, and how it is judged.
_ASPECTS: tuple[tuple[str, tuple[str, ...], _Judge], ...] = (
    ("guarantee", ("words", "texts"), _of_guarantees),
    ("people", ("people",), _of_people),
    ("attackers", ("attacker", "topic"), _of_attackers),
    ("same words", ("same word", "topic"), partial(_of_attackers, written=True)),
    ("original texts", ("original",), _of_originals),
    ("unchanged parts", ("unchanged",), _of_unchanged),
)
_SETTINGS = (
    Column("setting", path=lambda row: Code(row[0])),
    Column("A", path="1"),
    Column("B", path="2"),
)


def view(compared: Comparison) -> Page:
    """Return a comparison as a page."""
    parts: list[Block] = [
        Verdict(Badge(compared.verdict, Tone.FAIR)),
        Paragraph(compared.advice, "lead"),
    ]
    for pair in compared.answers:
        shown: Rows = [("A", pair.a), ("B", pair.b)]
        parts.append(Figures(shown, pair.name.capitalize()))
    for each in compared.aspects:
        stronger = each.better or f"cannot be said: {each.reason}"
        rows: Rows = [("A", each.a), ("B", each.b), ("stronger", stronger)]
        parts.append(Figures(rows, each.name.capitalize()))
    settings: Block = Paragraph("The settings are the same.")
    if compared.settings:
        title = "Settings that differ"
        settings = Table.from_items(_SETTINGS, compared.settings, title)
    parts.append(settings)
    a, b = map(figures.plain_name, compared.names)
    return Page(
        "Two exports side by side",
        [],
        lead=(f"A: {a}", f"B: {b}"),
        footer="Written by dptext report. This page has no scripts and loads nothing.",
        first=tuple(parts),
    )
