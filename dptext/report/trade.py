"""What risk settings trade: how much a reader finds against what is kept of texts.

From figures that ship (python -m tools.readers), of public news: what the strongest
measured reader finds, and how often a classifier that learned topics from private
texts sorts others right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from dptext import cache
from dptext.measures.context_risk import InContext
from dptext.measures.ladder import shipped_file
from dptext.report.blocks import Axis, Block, Chart, Paragraph, Point
from dptext.report.document import Document, ReaderFigures
from dptext.report.figures import percent, share, whole

_Ladder = Mapping[str, Any]  # figures, or keys of them, by keys or risks
_KIND, _CLASSIFIER = "news", "tfidf"


class _Setting(NamedTuple):
    """A risk, the success of readers and topics kept at it, and of originals."""

    risk: float
    success: float
    kept: float
    original: float


def picture(document: Document) -> list[Block]:
    """Return the trade with the setting of a run marked.

    None where the readers of its report were not measured at several risks.
    """
    settings = _settings(document)
    if len(settings) < 2:
        return []
    points = [Point(each.success, each.kept, whole(each.risk)) for each in settings]
    risk = document.run.settings["budget"]["risk"]
    mine = [
        point for each, point in zip(settings, points, strict=True) if each.risk == risk
    ]
    title = "What each risk setting trades"
    across = Axis("words that the strongest measured reader finds", percent)
    lines = [("risk setting", points), (f"this run, {whole(risk)}", mine)]
    note = (
        "Public news. Topics kept: the share of texts that a classifier, trained on "
        f"such texts, sorts right; of originals {share(settings[0].original)}."
    )
    chart = Chart(title, across, Axis("topics kept", percent), lines, labelled=True)
    return [chart, Paragraph(note, "note")]


def _settings(document: Document) -> list[_Setting]:
    """Return the measured risks of the ladder that has the readers of a report."""
    budget = document.run.settings.get("budget")
    risk = budget.get("risk") if isinstance(budget, dict) else None
    readers = () if document.words is None else document.words.readers
    if not readers or not isinstance(risk, float):
        return []
    file = shipped_file()
    measured: Mapping[str, object] = cache.shipped_entry(file, "readers") or {}
    ladders: Mapping[str, Mapping[str, str]] = (
        cache.shipped_entry(file, "ladders") or {}
    )

    def corpora(key: str) -> tuple[InContext, ...]:
        return msgspec.convert(measured.get(key, ()), tuple[InContext, ...])

    for ladder in ladders.values():
        if ReaderFigures.of(corpora(ladder.get(f"{risk:g}", ""))) == readers:
            rungs = sorted((float(each), key) for each, key in ladder.items())
            rows = [_setting(each, corpora(key)) for each, key in rungs]
            return [row for row in rows if row is not None]
    return []


def _setting(risk: float, corpora: tuple[InContext, ...]) -> _Setting | None:
    for corpus in corpora:
        kept = [each for each in corpus.learned if each.classifier == _CLASSIFIER]
        if corpus.kind == _KIND and kept:
            success = max(each.success for each in corpus.readings)
            return _Setting(risk, success, kept[0].private, kept[0].original)
    return None
