"""What a statement follows from: plain data, no sentences."""

from __future__ import annotations

from dataclasses import dataclass

from dptext.tokens.policy import Policy
from dptext.types import BudgetDescription, BudgetKind, Strategy

# Beyond this many nats a bound does not protect a word (docs/guarantees.md, 8).
MAX_MEANINGFUL_LOSS = 30.0
# Beyond this many nats a bound does not protect a text as a whole.
MAX_MEANINGFUL_TEXT_LOSS = 10.0


@dataclass(frozen=True, slots=True)
class SubjectLimit:
    """What a ledger lets each value of a field lose, by all releases it records."""

    field: str
    nats: float
    delta: float


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a statement depends on, besides the mechanism's own guarantee.

    key is "system", "key-file" or "seed"; lexicon_is_custom, whether the user brought
    the lexicon; identified, whether records are named by an id field; nearest, median
    and diameter, distances over V in the guarantee's metric; numerical_slack, nats that
    finite random bits may add (None: not bounded, noise in floating point);
    decoder writes the words, by a model of the user's own where brings_model;
    translation, what epsilon counts in the lexicon's own distance, "" where that is the
    metric; finder, what chose the spans of texts that are private, "" where texts are;
    detected, whether the field was taken because it alone holds text; subjects, what a
    ledger counts, if one does.
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
    finder: str = ""
    detected: bool = False
    subjects: SubjectLimit | None = None

    @property
    def kind(self) -> BudgetKind:
        """Return from what the epsilon of a word follows."""
        return self.budget.kind

    @property
    def epsilon(self) -> float:
        """Return the largest epsilon, of a word or of a whole text."""
        return self.budget.high
