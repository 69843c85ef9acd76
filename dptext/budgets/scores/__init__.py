"""Scores: how much a word tells in its text, one file each; more is more to protect.

A file holds `Params`, a frozen dataclass and subclass of `scores.Params`: the settings
in a profile. Their `prepare` returns a `Score`. Another package adds one by the entry
point group `dptext.scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dptext.settings import Prepared
from dptext.types import Lexicon, Words

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a score."""

    @abstractmethod
    def prepare(self, lexicon: Lexicon) -> Score:
        """Do the public work; quick: it finds models and data, but loads no model.

        Raises UsageError with the command that fetches what is missing.
        """


class Score(Prepared, ABC):
    """A score made ready; multiplies: a factor on the mean of the others, 1 neutral."""

    __slots__ = ()
    multiplies: ClassVar[bool] = False

    @property
    @abstractmethod
    def description(self) -> str:
        """Say what the score rests on, for reports."""

    @abstractmethod
    def values(self, words: Words) -> Values:
        """Return the score of each of words.positions, (n,) float64 >= 0.

        A score follows from the word's own text and public data alone: no other text of
        the batch and no batch size has a part in it.
        """


@dataclass(frozen=True, slots=True)
class ByRow(Score):
    """A score that follows from the word alone, and what it rests on.

    by_row (V + 1,) float64, the last that of an unknown word, the greatest of all.
    """

    by_row: Values
    source: str

    @classmethod
    def of(cls, words: Values, source: str) -> ByRow:
        """Take the scores of the V words."""
        return cls(np.append(words, words.max()), source)

    @property
    def description(self) -> str:
        """Say what the score rests on."""
        return self.source

    def values(self, words: Words) -> Values:
        """Return the score of each word."""
        return np.asarray(self.by_row[words.ids])
