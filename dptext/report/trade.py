"""What risk settings trade: how much a reader finds against what is kept of texts.

Figures ship (python -m tools.trade): of public news under the default profile at some
risks, what the strongest measured reader finds, and how often a program that learned
topics from such texts sorts other ones right.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dptext import cache
from dptext.measures import context_risk
from dptext.measures.context_risk import InContext
from dptext.report.blocks import Axis, Block, Chart, Paragraph, Point
from dptext.report.document import Document
from dptext.report.figures import percent, share, whole

_CORPUS = "AG News (test rows)"
_REPLACED = ("unknown", "number", "stop_word")  # classes whose treatment decides


class Setting(msgspec.Struct, frozen=True):
    """A risk with its epsilon: the key of its readers, and topics sorted right."""

    risk: float
    epsilon: float
    readers: str
    topics: float


class Trade(msgspec.Struct, frozen=True):
    """Settings of a mechanism over a lexicon, by its digest, and texts as they were."""

    lexicon: str
    mechanism: str
    tokens: dict[str, str]
    topics_of_originals: float
    points: tuple[Setting, ...]


def picture(document: Document) -> list[Block]:
    """Return the trade with the setting of a run marked; none for other mechanisms."""
    path = context_risk.shipped_file().with_name("trade.json")
    trade = msgspec.json.decode(path.read_bytes(), type=Trade)
    if not _is_of(trade, document):
        return []
    points = [
        Point(found, each.topics, whole(each.risk))
        for each in trade.points
        if (found := _found(each.readers)) is not None
    ]
    risk = document.run.settings["budget"]["risk"]
    mine = [
        point
        for each, point in zip(trade.points, points, strict=False)
        if abs(each.risk - risk) < 5e-4
    ]
    lines = [("risk setting", points)]
    lines += [(f"this run, {whole(risk)}", mine)] if mine else []
    note = (
        "Public news under the default profile. Topics are those that a program sorts "
        "right after learning from such texts: "
        f"{share(trade.topics_of_originals)} of the originals."
    )
    if not mine:
        note += f" This run has the setting {share(risk)}."
    title = "What each risk setting trades"
    across = Axis("words that the strongest measured reader finds", percent)
    chart = Chart(title, across, Axis("topics kept", percent), lines, labelled=True)
    return [chart, Paragraph(note, "note")]


def _is_of(trade: Trade, document: Document) -> bool:
    """Tell whether a run has the mechanism, lexicon and policy of the figures."""
    settings: dict[str, Any] = document.run.settings
    parts = (settings.get(name) for name in ("mechanism", "budget", "tokens"))
    mechanism, budget, tokens = (x if isinstance(x, dict) else {} for x in parts)
    return (
        document.words is not None
        and document.run.lexicon_digest == trade.lexicon
        and mechanism.get("name") == trade.mechanism
        and isinstance(budget.get("risk"), float)
        and all(tokens.get(name) == trade.tokens[name] for name in _REPLACED)
    )


def _found(key: str) -> float | None:
    """Return what the strongest reader finds in the corpus of the figures."""
    known = cache.shipped_entry(context_risk.shipped_file(), key) or []
    measured = msgspec.convert(known, tuple[InContext, ...])
    shares = [r.success for c in measured if c.corpus == _CORPUS for r in c.readings]
    return max(shares, default=None)
