"""Sections of pages that say what a statement promises, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterable

from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import InContext
from dptext.report import _badges, _meaning, _page, _plain
from dptext.report._page import Html, Section


def promised(title: str, promise: Statement, *parts: Html) -> Section:
    """Return the promise in a box, under its badges."""
    (tone, label), other = _badges.badges(promise)
    return Section(title, parts, tone=tone, label=label, more=(other,))


def not_covered(promise: Statement) -> Section:
    """Return what the promise leaves out."""
    lines = _page.bullets(promise.not_covered)
    return Section("Not covered", (lines,), boxed=True, label="Limits")


def meaning(
    promise: Statement, risk: Risk | None, measured: Iterable[InContext]
) -> Section:
    """Return the promise in plain words, and the scale of its badges."""
    lines = _page.paragraphs(_meaning.meaning(promise, risk, measured))
    scales = map(_page.note, (_plain.scale(promise), _badges.SCALE))
    return Section("What this means", (lines, *scales))
