"""Draw the class of each word by randomised response, then the word itself.

The drawn class, not the true one, chooses the epsilon. The draw depends on the text,
and costs `first` for each word (docs/guarantees.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from dptext import budgets, randomness
from dptext.budgets import declared
from dptext.types import BudgetDescription, BudgetKind, Eps, Ints, Lexicon, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Params(declared.ClassParams):
    """Settings of the budget; class settings are the same as for `declared`."""

    EXAMPLE: ClassVar = {"first": 0.5, "epsilons": {"top-100": 10.0, "other": 7.0}}

    #: The epsilon of the draw of a class.
    first: Annotated[float, Meta(ge=1e-6, le=30)]

    def prepare(self, lexicon: Lexicon) -> ClassFirst:
        """Look up the class of each word of the vocabulary."""
        classes = declared.classes(lexicon, self.by, self.table)
        epsilons = classes.epsilons(self.epsilons)
        return ClassFirst(classes, epsilons, self.first, self.used())


@dataclass(frozen=True, slots=True)
class ClassFirst(declared.ByClass, budgets.Budget):
    """Budget that draws the class of each word first."""

    #: Of the classes: (c,).
    epsilons: Eps
    #: Of the draw of a class.
    first: float
    #: The source of the epsilons, for reports.
    used: str

    @property
    def description(self) -> BudgetDescription:
        """Describe a budget that draws the class first."""
        low, high = float(self.epsilons.min()), float(self.epsilons.max())
        return BudgetDescription(
            BudgetKind.CLASS, low, high, first=self.first, used=(self.used,)
        )

    def released(self, words: Words, bits: randomness.RandomBits) -> Ints:
        """Draw the class of each word by randomised response over c classes: (n,).

        The true class has e^first times the weight of any other.
        """
        true = self.classes.rows[words.ids]
        count = len(self.classes.names)
        integers = bits.integers(0)
        # With probability c / (e^first + c - 1) a uniform class, else the true one. The
        # true class then has weight e^first, all others 1.
        spared = np.expm1(self.first) / (np.expm1(self.first) + count)
        stays = bits.unit(integers[:, 0]) < spared
        return np.where(stays, true, bits.below(integers[:, 1], count))

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of the class drawn for each word: (n,) float64."""
        return self.epsilons[self.released(words, bits)]
