"""What a statement follows from, and what it claims: plain data, no sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dptext.tokens.policy import Policy
from dptext.types import (
    BudgetDescription,
    BudgetKind,
    Level,
    Metric,
    Notion,
    Strategy,
)

# Beyond this many nats a bound does not protect a word (docs/guarantees.md, 8).
MAX_MEANINGFUL_LOSS = 30.0
# Beyond this many nats a bound does not protect a text as a whole.
MAX_MEANINGFUL_TEXT_LOSS = 10.0
Nats = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a statement depends on, besides the mechanism's own guarantee.

    key is "system", "key-file" or "seed"; lexicon_is_custom, whether the user brought
    the lexicon; identified, whether records are named by an id field; nearest, median
    and diameter, distances over V in the guarantee's metric; numerical_slack, nats that
    finite random bits may add (None: not bounded, noise in floating point);
    decoder writes the words, by a model of the user's own where brings_model;
    translation, what epsilon counts in the lexicon's own distance, "" where that is the
    metric.
    """

    budget: BudgetDescription
    strategy: Strategy
    policy: Policy
    key: str
    lexicon_is_custom: bool
    identified: bool
    fields: tuple[str, ...] | None
    nearest: float
    median: float
    diameter: float
    numerical_slack: float | None
    translation: str = ""
    decoder: str = "none"
    brings_model: bool = False

    @property
    def kind(self) -> BudgetKind:
        """Return from what the epsilon of a word follows."""
        return self.budget.kind

    @property
    def epsilon(self) -> float:
        """Return the largest epsilon, of a word or of a whole text."""
        return self.budget.high


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
