"""What a statement follows from, and what it claims: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext.tokens.policy import Policy
from dptext.types import BudgetDescription

# Beyond this many nats a bound does not protect a word (docs/guarantees.md, 8).
MAX_MEANINGFUL_LOSS = 30.0
# Beyond this many nats a bound does not protect a text as a whole.
MAX_MEANINGFUL_TEXT_LOSS = 10.0
# A loss that finite uniforms may exceed by more than this is not claimed at all.
RESOLVED = 0.01
Nats = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a statement depends on, besides the mechanism's own guarantee.

    strategy says how often a word is drawn; key is "system",
    "key-file" or "seed"; lexicon_given, whether the user brought the lexicon;
    identified, whether records are named by an id field; resolution, nats that finite
    uniforms may add (None: not bounded, noise in floating point); translation, what
    epsilon counts in the lexicon's own distance, "" where that is the metric.
    """

    budget_description: BudgetDescription
    strategy: str
    policy: Policy
    key: str
    lexicon_given: bool
    identified: bool
    fields: tuple[str, ...] | None
    nearest: float
    median: float
    diameter: float
    resolution: float | None
    translation: str = ""

    @property
    def level(self) -> str:
        """Return "text" where the words of a text share epsilon, else "word"."""
        return "text" if self.budget_description.kind == "text" else "word"

    @property
    def epsilon(self) -> float:
        """Return the epsilon of each word or of a whole text, by the level."""
        return self.budget_description.high

    @property
    def used(self) -> str:
        """Say on what the epsilons rest, to be put behind a sentence."""
        return "".join(f" {line}" for line in self.budget_description.used)


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


@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised, in figures and in words.

    worst bounds the loss of what the level names: a word, or a whole text of any length
    (inf: no bound). loss bounds that of one word that is changed; equal_parts says that
    this is for a text of one word, and an n-th part of it or less for one of n words.
    """

    notion: str
    metric: str
    epsilon: float
    level: str
    worst: float
    loss: Loss
    sentence: str
    text_level: str
    text_loss: TextLoss = TextLoss()
    equal_parts: bool = False


def unresolved(terms: Terms, worst: float) -> bool:
    """Tell whether finite uniforms leave the claimed loss of a word without meaning."""
    if terms.resolution is None:
        return False
    return terms.resolution > RESOLVED and worst > MAX_MEANINGFUL_LOSS
