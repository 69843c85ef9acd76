"""The same epsilon for every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from dptext import budgets
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """epsilon per word; or a risk, from which it is computed before the run.

    reader_risk: the risk is the largest measured one at which no measured reader of
    whole texts finds more than this share (dptext.measures.context_risk).
    """

    EXAMPLE: ClassVar = {"epsilon": 8.0}

    epsilon: budgets.Epsilon | None = None
    risk: Annotated[float, Meta(gt=0, lt=1)] | None = None
    reader_risk: Annotated[float, Meta(gt=0, lt=1)] | None = None

    def prepare(self, lexicon: Lexicon) -> Uniform:
        """Take the epsilon; a risk has been turned into one by now."""
        assert self.epsilon is not None
        return Uniform(self.epsilon)


@dataclass(frozen=True, slots=True)
class Uniform(budgets.Budget):
    """epsilon of every replaced word."""

    epsilon: float

    @property
    def description(self) -> BudgetDescription:
        """Say that every replaced word gets the same epsilon."""
        return BudgetDescription(BudgetKind.WORD, self.epsilon, self.epsilon)

    def spread(self, words: Words, bits: RandomBits) -> Eps:
        """Return the epsilon of each word, (n,) float64."""
        return np.full(len(words.ids), self.epsilon)
