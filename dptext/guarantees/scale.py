"""What a bound is worth: words and whole texts are judged on scales of their own.

A word is one of some ten thousand, 11 nats; its bound is weak up to 30 nats, and no
meaningful protection above. Which of two texts was there is one bit, and a text is
often one of a handful: above 10 nats its bound is no meaningful protection of the text
as a whole, whatever it still says of single words (docs/guarantees.md, 8).
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Protocol

from dptext.guarantees.terms import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    Loss,
    TextLoss,
)

# Steps of a bound, in nats: factors of 2.72 and of 22,027. They are the tiers of
# Ponomareva et al. 2023, "How to DP-fy ML" (arXiv:2303.00654), which means them for all
# data of a person.
STRONG, MODERATE = 1.0, 10.0


class Strength(Enum):
    """What a bound is worth."""

    NONE = "no guarantee"
    NOT_MEANINGFUL = "no meaningful protection"
    VARIES = "meaningful for near words, not for the farthest"
    GROWS = "weaker the longer the text"
    WEAK = "weak"
    MODERATE = "moderate"
    STRONG = "strong"


class Promise(Protocol):
    """What a strength follows from: the figures of a claim."""

    @property
    def notion(self) -> str:
        """Return the notion."""

    @property
    def level(self) -> str:
        """Return what epsilon is of."""

    @property
    def loss(self) -> Loss:
        """Return the bounds for one changed word."""

    @property
    def text_loss(self) -> TextLoss:
        """Return the bounds for whole texts."""


def of_word(promise: Promise) -> Strength:
    """Judge the bound on a change of one word; in equal parts, of a text of one."""
    if promise.notion == "none":
        return Strength.NONE
    if promise.loss.nearest > MAX_MEANINGFUL_LOSS:
        return Strength.NOT_MEANINGFUL
    if promise.level == "words":
        return Strength.GROWS
    if promise.loss.farthest > MAX_MEANINGFUL_LOSS:
        return Strength.VARIES
    return _step(promise.loss.farthest, Strength.WEAK)


def of_text(promise: Promise) -> Strength:
    """Judge the bound on a change of all words of a text."""
    if promise.notion == "none":
        return Strength.NONE
    if promise.text_loss.total is None:
        return Strength.GROWS
    if promise.text_loss.total > MAX_MEANINGFUL_TEXT_LOSS:
        return Strength.NOT_MEANINGFUL
    return _step(promise.text_loss.total, Strength.NOT_MEANINGFUL)


def _step(nats: float, otherwise: Strength) -> Strength:
    if nats <= STRONG:
        return Strength.STRONG
    return Strength.MODERATE if nats <= MODERATE else otherwise


def first_beyond(each: float, limit: float) -> int:
    """Return the least n for which n times each is above the limit."""
    return max(math.floor(limit / each) + 1, 1)
