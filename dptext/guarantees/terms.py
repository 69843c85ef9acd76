"""What a statement follows from, and what it claims: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext.tokens.policy import Policy
from dptext.types import Spending

# Beyond this many nats a factor protects nobody (docs/guarantees.md, 7).
MEANINGFUL = 30.0
# A loss that finite uniforms may exceed by more than this is not claimed at all.
RESOLVED = 0.01
Nats = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a statement depends on, besides the mechanism's own guarantee.

    spending is the budget's; strategy how often a word is drawn; key "system",
    "key-file" or "seed"; lexicon_given, whether the user brought the lexicon;
    identified, whether records are named by an id field; resolution, nats that finite
    uniforms may add (None: not bounded, noise in floating point); translation, what
    epsilon counts in the lexicon's own distance, "" where that is the metric.
    """

    spending: Spending
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
        return "text" if self.spending.kind == "text" else "word"

    @property
    def epsilon(self) -> float:
        """Return the epsilon of each word or of a whole text, by the level."""
        return self.spending.high


@dataclass(frozen=True, slots=True)
class Loss:
    """Epsilon times distance, in nats, for one word.

    Over V at the median nearest word, at the median pair, at the farthest pair; for LDP
    all three are epsilon.
    """

    nearest: Nats
    median: Nats
    farthest: Nats


@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised, in figures and in words.

    worst is the largest loss that the loss field speaks of, inf where there is no
    bound.
    """

    notion: str
    metric: str
    epsilon: float
    level: str
    worst: float
    loss: Loss
    sentence: str
    text_level: str


def unresolved(terms: Terms, worst: float) -> bool:
    """Tell whether finite uniforms leave the claimed loss without meaning."""
    if terms.resolution is None:
        return False
    return terms.resolution > RESOLVED and worst > MEANINGFUL
