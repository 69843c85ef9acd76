"""Budgets: how epsilon is spread over the words of a text, one file each.

A file holds `Params`, a frozen dataclass and subclass of `budgets.Params`: the settings
in a profile. Their `prepare` does the public work once and returns a `Budget`, or a
`SequentialBudget` where an epsilon looks at what was drawn before.

A budget numbers the lanes of its random bits from 0; they are no other step's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.settings import Prepared
from dptext.types import BudgetDescription, Eps, Ids, Ints, Lexicon, Words

# Draws the words at these positions of a batch, (m,) int64, with an epsilon each.
Draw = Callable[[Ints, Eps], Ids]
# Words of a text that is longer than any.
LONGEST_TEXT = 1e9
Epsilon = Annotated[float, Meta(gt=0, le=1e6)]


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a budget; EXAMPLE, some as a profile gives them, for tests."""

    EXAMPLE: ClassVar[Mapping[str, object]]

    @abstractmethod
    def prepare(self, lexicon: Lexicon) -> AnyBudget:
        """Do the public work. Raises UsageError for settings that do not fit."""


class DescribedBudget(Prepared, ABC):
    """What every budget says of itself."""

    __slots__ = ()

    @property
    @abstractmethod
    def description(self) -> BudgetDescription:
        """Return how epsilon is spent: all that a statement must know."""


class Budget(DescribedBudget):
    """A budget whose epsilons are known before any word is drawn."""

    __slots__ = ()

    @abstractmethod
    def spread(self, words: Words, bits: RandomBits) -> Eps:
        """Return the epsilon of each word, (n,) float64 > 0."""

    def columns(self, words: Words) -> Mapping[str, NDArray[np.generic]]:
        """Return for people what the epsilons rest on, by name one value per token.

        With "position", (m,) int64, where each token stands in the pieces.
        """
        return {}


class SequentialBudget(DescribedBudget):
    """A budget whose epsilons look at the words drawn before."""

    __slots__ = ()

    @abstractmethod
    def release(self, words: Words, bits: RandomBits, draw: Draw) -> tuple[Ids, Eps]:
        """Draw all words; return them and their epsilons, (n,) each."""


AnyBudget = Budget | SequentialBudget


def positions_in_text(words: Words) -> Ints:
    """Return the position of each word among the replaced words of its text, from 0."""
    first = np.searchsorted(words.texts, words.texts, side="left")
    return np.arange(len(words.texts)) - first
