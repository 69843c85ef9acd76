"""A public epsilon for each of the first words of a text, and one for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dptext import budgets, randomness
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(budgets.Params):
    """Settings of the budget."""

    EXAMPLE: ClassVar = {"epsilons": [2.0, 4.0], "rest": 8.0}

    #: Of the first replaced words of a text, in order.
    epsilons: list[budgets.Epsilon]
    #: Of all other words.
    rest: budgets.Epsilon

    def prepare(self, lexicon: Lexicon) -> ByPosition:
        """Build the budget."""
        return ByPosition((*self.epsilons, self.rest))


@dataclass(frozen=True, slots=True)
class ByPosition(budgets.Budget):
    """Budget with an epsilon per position."""

    #: Of the first words; the last one is that of all others.
    epsilons: tuple[float, ...]

    @property
    def description(self) -> BudgetDescription:
        """Describe epsilons that depend on the position."""
        *first, rest = self.epsilons
        used = f"Epsilon of all words: {rest:g}."
        if first:
            listed = ", ".join(f"{value:g}" for value in first)
            used = f"Epsilon from the first word on: {listed}; all others {rest:g}."
        low, high = min(self.epsilons), max(self.epsilons)
        return BudgetDescription(BudgetKind.POSITION, low, high, used=(used,))

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of each word's position: (n,) float64."""
        table = np.array(self.epsilons)
        last = len(table) - 1
        return table[np.minimum(budgets.positions_in_text(words), last)]
