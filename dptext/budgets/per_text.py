"""A public total per text, divided equally among its replaced words.

The parts depend only on the number of replaced words, which the output shows anyway
(docs/guarantees.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dptext import budgets, randomness
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """Settings of the budget."""

    EXAMPLE: ClassVar = {"epsilon": 40.0}

    #: Of a whole text.
    epsilon: budgets.Epsilon

    def prepare(self, lexicon: Lexicon) -> PerText:
        """Build the budget."""
        return PerText(self.epsilon)


@dataclass(frozen=True, slots=True)
class PerText(budgets.Budget):
    """Budget with an equal share of a total per text."""

    #: Of a text, shared in equal parts.
    total: float

    @property
    def description(self) -> BudgetDescription:
        """Describe a budget with equal shares of a total per text."""
        # No lower limit of a part: the longer the text, the smaller.
        return BudgetDescription(BudgetKind.TEXT, 0.0, self.total, total=self.total)

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return each word's share of its text's total: (n,) float64."""
        counts = np.bincount(words.texts, minlength=len(words.ends))
        return np.asarray(self.total / counts[words.texts])
