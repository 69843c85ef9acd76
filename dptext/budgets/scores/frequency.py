"""Surprisal of a word under the public unigram prior: rare words tell more.

-ln of the word's share of the lexicon's counts, in nats. An unknown word counts as
rare as the rarest of the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.budgets import scores
from dptext.types import Lexicon


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """Nothing to set."""

    def prepare(self, lexicon: Lexicon) -> scores.ByRow:
        """Turn counts into nats."""
        source = f"surprisal under the word counts of the lexicon {lexicon.name}"
        return scores.ByRow.from_words(-np.log(lexicon.prior), source)
