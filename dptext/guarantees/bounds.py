"""What is claimed, in figures: plain data, no sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dptext.types import Level, Metric, Notion

Nats = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Loss:
    """The bound on the loss of one word, in nats.

    Over V at the median nearest word, at the median pair, at the farthest pair; where
    no distance matters all three are the same.
    """

    nearest: Nats
    median: Nats
    farthest: Nats

    @classmethod
    def even(cls, nats: float) -> Loss:
        """Return the bound where no distance matters."""
        return cls(nats, nats, nats)


@dataclass(frozen=True, slots=True)
class TextLoss:
    """What a text of n replaced words loses at most when all may differ, in nats.

    The lesser of total and n times each; None where there is no such bound.
    """

    total: Nats | None = None
    each: Nats | None = None


class NoClaim(StrEnum):
    """Why nothing is claimed.

    SEEDED: whoever knows the seed can repeat every draw; MECHANISM: it promises
    nothing; NOT_DRAWN: a word may lose more than can be drawn exactly; UNPROVEN:
    nothing is proven where epsilon differs from word to word; DISTINGUISHABLE: a
    difference of epsilon alone shows which word it was.
    """

    SEEDED = "seeded"
    MECHANISM = "mechanism"
    NOT_DRAWN = "not drawn"
    UNPROVEN = "unproven"
    DISTINGUISHABLE = "distinguishable"


@dataclass(frozen=True, slots=True)
class OneChange:
    """What a text loses at most where one word differs and epsilons move with it.

    The word itself loses changed, each other word moved (nats; inf: not bounded). From
    first to last, numbers of replaced words, that is less than any other bound; 0 and 0
    where it never is.
    """

    changed: float
    moved: float
    first: int = 0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised, in figures.

    worst bounds the loss of what the level names: a word, or a whole text of any length
    (inf: no bound; where nothing is claimed, the loss that is allowed for a word). loss
    bounds that of one word that is changed; equal_parts says that this is for a text of
    one word, and an n-th part of it or less for one of n words. one_change, where a
    change of one word may count for all words.
    """

    notion: Notion
    metric: Metric
    epsilon: float
    level: Level
    worst: float
    loss: Loss
    text_loss: TextLoss = TextLoss()
    equal_parts: bool = False
    one_change: OneChange | None = None
    no_claim: NoClaim | None = None
