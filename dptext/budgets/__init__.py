"""Budgets: how epsilon is divided among the words of a text, one file each.

A file holds `Params`, a frozen dataclass and subclass of `budgets.Params`: the settings
in a profile. Their `prepare` does the public work once and returns a `Budget`, or a
`SequentialBudget` if an epsilon depends on words drawn before.

A budget numbers its random streams from 0; no other step uses them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import randomness, settings
from dptext.types import BudgetDescription, Eps, Ids, Ints, Lexicon, Words

# Draws the words at these positions of a batch, (m,) int64, with an epsilon each.
Draw = Callable[[Ints, Eps], Ids]
LONGEST_TEXT = 1e9  # words; no text is longer
Epsilon = Annotated[float, Meta(gt=0, le=1e6)]


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a budget."""

    #: Valid settings as in a profile, for tests.
    EXAMPLE: ClassVar[Mapping[str, object]]

    @abstractmethod
    def prepare(self, lexicon: Lexicon) -> AnyBudget:
        """Do the public work. Raises UsageError if settings and lexicon do not fit."""


class DescribedBudget(settings.Prepared, ABC):
    """What all budgets have in common."""

    __slots__ = ()

    @property
    @abstractmethod
    def description(self) -> BudgetDescription:
        """Return how epsilon is spent, as statements need it."""


class Budget(DescribedBudget):
    """A budget whose epsilons do not depend on drawn words."""

    __slots__ = ()

    @abstractmethod
    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of each word, (n,) float64 > 0."""

    def columns(self, words: Words) -> Mapping[str, NDArray[np.generic]]:
        """Return the inputs of the epsilons for inspection, as named columns (m,).

        One value per token; "position", int64, is its index in the pieces.
        """
        return {}


class SequentialBudget(DescribedBudget):
    """A budget whose epsilons depend on words drawn earlier."""

    __slots__ = ()

    @abstractmethod
    def release(
        self, words: Words, bits: randomness.RandomBits, draw: Draw
    ) -> tuple[Ids, Eps]:
        """Draw all words; return them and their epsilons, (n,) each."""


AnyBudget = Budget | SequentialBudget


def positions_in_text(words: Words) -> Ints:
    """Return each replaced word's index among those of its text, from 0: (n,)."""
    first = np.searchsorted(words.texts, words.texts, side="left")
    return np.arange(len(words.texts)) - first
