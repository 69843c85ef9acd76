"""The same epsilon for every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from dptext import budgets, randomness
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """Settings of the budget: an epsilon, or a risk from which it is computed."""

    EXAMPLE: ClassVar = {"epsilon": 8.0}

    #: Of each word.
    epsilon: budgets.Epsilon | None = None
    risk: Annotated[float, Meta(gt=0, lt=1)] | None = None
    #: The risk is the largest measured one at which no measured attacker of whole texts
    #: finds more than this share (dptext.measures.context_risk).
    attacker_risk: Annotated[float, Meta(gt=0, lt=1)] | None = None

    def prepare(self, lexicon: Lexicon) -> Uniform:
        """Build the budget; an epsilon from a risk has already been computed."""
        assert self.epsilon is not None, "dptext.calibration.solve comes first"
        return Uniform(self.epsilon)


@dataclass(frozen=True, slots=True)
class Uniform(budgets.Budget):
    """Budget with the same epsilon for every word."""

    #: Of every replaced word.
    epsilon: float

    @property
    def description(self) -> BudgetDescription:
        """Describe a budget with the same epsilon for every word."""
        return BudgetDescription(BudgetKind.WORD, self.epsilon, self.epsilon)

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of each word: (n,) float64."""
        return np.full(len(words.ids), self.epsilon)
