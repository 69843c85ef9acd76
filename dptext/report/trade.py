"""Chart of words found versus topics preserved, by the chosen risk.

It uses shipped figures (python -m tools.attackers) on public news: how much the
strongest measured attacker finds, and how often a classifier that learned topics from
private texts classifies others correctly.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dptext import cache
from dptext.measures.calibrate import Rung, shipped_attackers
from dptext.measures.context_risk import AttackerFigures, InContext
from dptext.report.blocks import Axis, Block, Chart, More, Paragraph, Point
from dptext.report.document import Document
from dptext.report.figures import percent, share, whole
from dptext.report.lines import say

_KIND, _CLASSIFIER = "news", "tfidf"
_Rows = tuple[AttackerFigures, ...]


def blocks(document: Document) -> list[Block]:
    """Return the chart with a run's setting marked, and a note on its source.

    Empty unless its report's attackers were measured at several risks.
    """
    risk = _risk(document)
    points: dict[float, Point] = {}
    originals = 0.0
    for rung, corpora in _ladder(document.attackers, risk):
        for corpus in corpora:
            learned = {each.classifier: each for each in corpus.learned}
            if corpus.kind == _KIND and _CLASSIFIER in learned:
                best = max(each.success for each in corpus.readings)
                topics = learned[_CLASSIFIER]
                points.setdefault(rung, Point(best, topics.private, whole(rung)))
                originals = originals or topics.original
    if len(points) < 2 or risk not in points:
        return []
    chosen = points[risk]
    lines = [
        ("risk setting", [*points.values()]),
        (f"this run, {chosen.note}", [chosen]),
    ]
    across = Axis("words that the strongest measured attacker finds", percent)
    up = Axis("topics kept", percent)
    note = (
        "Public news. Topics kept: the share of texts that a classifier trained on "
        f"such texts sorts right; {share(originals)} for originals."
    )
    chart = Chart("What each risk setting trades", across, up, lines, labelled=True)
    return [chart, More((Paragraph(note, "note"),))]


def smaller_risk(document: Document, *, first: bool) -> str:
    """Describe a measured risk of half or less, with attackers' findings at it.

    first: whether this begins a sentence.
    """
    risk = _risk(document)
    for rung, corpora in reversed(_ladder(document.attackers, risk)):
        if isinstance(risk, float) and rung <= risk / 2.0:
            rows = AttackerFigures.from_measured(corpora)
            shares = [each.success for each in rows]
            return say("stronger.measured", risk=rung, shares=shares)
    name = "epsilon" if risk is None else "risk"
    return say("stronger.smaller", first=first, name=name)


def _risk(document: Document) -> object:
    """Return the risk in the settings, or None."""
    budget = document.run.settings.get("budget")
    return budget.get("risk") if isinstance(budget, dict) else None


def _ladder(
    attackers: _Rows, risk: object
) -> list[tuple[float, tuple[InContext, ...]]]:
    """Return the results at each risk of a ladder of the report's attackers."""
    if not attackers or not isinstance(risk, float):
        return []
    file = shipped_attackers()
    measured: Mapping[str, object] = cache.shipped_entry(file, "attackers") or {}
    ladders = msgspec.convert(
        cache.shipped_entry(file, "ladders") or {}, dict[str, dict[str, Rung]]
    )

    def corpora(rung: Rung) -> tuple[InContext, ...]:
        readings = measured.get(rung.attackers, ())
        return msgspec.convert(readings, tuple[InContext, ...])

    for ladder in ladders.values():
        chosen = ladder.get(f"{risk:g}")
        if chosen is None:
            continue
        # Of several ladders only the one measured for this report's settings; a public
        # report has its rows in short.
        rows = AttackerFigures.from_measured(corpora(chosen))
        if attackers in (rows, tuple(each.in_short() for each in rows)):
            return sorted((float(at), corpora(rung)) for at, rung in ladder.items())
    return []
