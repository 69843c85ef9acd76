"""Surprisal of a word under the public unigram prior: rare words tell more.

-ln of the word's share of the lexicon's counts, in nats. An unknown word counts as
rare as the rarest of the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.budgets import scores
from dptext.budgets.scores import Values
from dptext.types import Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """Nothing to set."""

    def prepare(self, lexicon: Lexicon) -> Frequency:
        """Turn counts into nats."""
        surprisal = -np.log(lexicon.prior)
        return Frequency(np.append(surprisal, surprisal.max()), lexicon.name)


@dataclass(frozen=True, slots=True)
class Frequency(scores.Score):
    """surprisal of each row, (V + 1,) float64, the last that of an unknown word."""

    surprisal: Values
    lexicon: str

    @property
    def description(self) -> str:
        """Name the counts."""
        return f"surprisal under the word counts of the lexicon {self.lexicon}"

    def values(self, words: Words) -> Values:
        """Return the surprisal of each word."""
        return np.asarray(self.surprisal[words.ids])
