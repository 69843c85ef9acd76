"""The strength of a bound: words and whole texts are judged on scales of their own.

A word is one of some ten thousand, 11 nats; its bound is weak up to 30 nats, and no
meaningful protection above. Which of two texts was there is one bit, and a text is
often one of a handful: above 10 nats its bound is no meaningful protection of the text
as a whole, whatever it still says of single words (docs/guarantees.md, 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dptext.guarantees.claims import Loss, TextLoss
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS
from dptext.types import Level, Notion

# Steps of a bound, in nats: factors of 2.72 and of 22,027. They are the tiers of
# Ponomareva et al. 2023, "How to DP-fy ML" (arXiv:2303.00654), which means them for all
# data of a person.
STRONG, MODERATE = 1.0, 10.0


class Strength(StrEnum):
    """What a bound is worth."""

    NONE = "no guarantee"
    NOT_MEANINGFUL = "no meaningful protection"
    VARIES = "meaningful for near words, not for the farthest"
    GROWS = "weaker the longer the text"
    WEAK = "weak"
    MODERATE = "moderate"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Strengths:
    """What a statement is worth for one changed word, and for a whole text."""

    word: Strength
    text: Strength


def judge(notion: Notion, level: Level, loss: Loss, text_loss: TextLoss) -> Strengths:
    """Judge the figures of a claim."""
    if notion is Notion.NONE:
        return Strengths(Strength.NONE, Strength.NONE)
    return Strengths(_of_word(level, loss), _of_text(text_loss))


def _of_word(level: Level, loss: Loss) -> Strength:
    """Judge the bound on a change of one word; in equal parts, of a text of one."""
    if loss.nearest > MAX_MEANINGFUL_LOSS:
        return Strength.NOT_MEANINGFUL
    if level is Level.WORDS:
        return Strength.GROWS
    if loss.farthest > MAX_MEANINGFUL_LOSS:
        return Strength.VARIES
    return _step(loss.farthest, Strength.WEAK)


def _of_text(text_loss: TextLoss) -> Strength:
    """Judge the bound on a change of all words of a text."""
    if text_loss.total is None:
        return Strength.GROWS
    if text_loss.total > MAX_MEANINGFUL_TEXT_LOSS:
        return Strength.NOT_MEANINGFUL
    return _step(text_loss.total, Strength.NOT_MEANINGFUL)


def _step(nats: float, otherwise: Strength) -> Strength:
    if nats <= STRONG:
        return Strength.STRONG
    return Strength.MODERATE if nats <= MODERATE else otherwise
