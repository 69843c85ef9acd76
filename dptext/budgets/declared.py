"""A public epsilon for each class of word, agreed before any text is read.

The class follows from the word by a public table, so that a text has no say in the
epsilon of its other words. Two words of different classes are drawn under different
epsilons: what they lose is in docs/guarantees.md, 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dptext import budgets
from dptext.budgets import _classes
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Params(_classes.Params):
    """epsilons by class, and what the classes go by."""

    EXAMPLE: ClassVar = {"epsilons": {"top-100": 10.0, "top-1000": 9.0, "other": 7.0}}

    def prepare(self, lexicon: Lexicon) -> Declared:
        """Look the epsilon of each word of the vocabulary up."""
        classes = self.classes(lexicon)
        epsilons = classes.epsilons(self.epsilons)[classes.of]
        return Declared(classes, epsilons, self.used())


@dataclass(frozen=True, slots=True)
class Declared(_classes.ByClass, budgets.Budget):
    """epsilons of the rows, (V + 1,) float64; used, where they come from."""

    epsilons: NDArray[np.float64]
    used: str

    @property
    def description(self) -> BudgetDescription:
        """Say that epsilon follows from the word, by a public table."""
        low, high = float(self.epsilons.min()), float(self.epsilons.max())
        return BudgetDescription(BudgetKind.TYPE, low, high, used=(self.used,))

    def spread(self, words: Words, bits: RandomBits) -> Eps:
        """Return the epsilon of each word's class, (n,) float64."""
        return self.epsilons[words.ids]
