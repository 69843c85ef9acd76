"""Budgets: how epsilon is spread over the words of a text, one file each.

A file holds `Params`, a frozen dataclass and subclass of `budgets.Params`: the settings
in a profile. Their `prepare` does the public work once and returns a `Budget`, or a
`SequentialBudget` if an epsilon depends on words drawn before.

A budget numbers the lanes of its random bits from 0; no other step uses these bits.
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
    """The common part of all budgets."""

    __slots__ = ()

    @property
    @abstractmethod
    def description(self) -> BudgetDescription:
        """Return how epsilon is spent, as statements need it."""


class Budget(DescribedBudget):
    """A budget with epsilons that do not depend on drawn words."""

    __slots__ = ()

    @abstractmethod
    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of each word, (n,) float64 > 0."""

    def columns(self, words: Words) -> Mapping[str, NDArray[np.generic]]:
        """Return the values that epsilons are computed from, for people: by name (m,).

        One value for each token; "position", int64, is its place in the pieces.
        """
        return {}


class SequentialBudget(DescribedBudget):
    """A budget with epsilons that depend on the words drawn before."""

    __slots__ = ()

    @abstractmethod
    def release(
        self, words: Words, bits: randomness.RandomBits, draw: Draw
    ) -> tuple[Ids, Eps]:
        """Draw all words; return them and their epsilons, (n,) each."""


AnyBudget = Budget | SequentialBudget


def positions_in_text(words: Words) -> Ints:
    """Return the position of each word among the replaced words of its text, from 0."""
    first = np.searchsorted(words.texts, words.texts, side="left")
    return np.arange(len(words.texts)) - first
