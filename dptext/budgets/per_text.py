"""A public total per text, in equal parts for the words that are replaced in it.

The parts depend on nothing but the number of those words, which the output shows anyway
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
        """Build the budget from its total."""
        return PerText(self.epsilon)


@dataclass(frozen=True, slots=True)
class PerText(budgets.Budget):
    """The budget made ready."""

    #: Of a text, shared in equal parts.
    total: float

    @property
    def description(self) -> BudgetDescription:
        """Return that the words of a text share a total in equal parts."""
        # No lower limit of a part: the longer the text, the smaller.
        return BudgetDescription(BudgetKind.TEXT, 0.0, self.total, total=self.total)

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return each word's part of its text's total, (n,) float64."""
        counts = np.bincount(words.texts, minlength=len(words.ends))
        return np.asarray(self.total / counts[words.texts])
