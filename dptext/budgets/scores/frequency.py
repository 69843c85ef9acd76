"""Surprisal of a word under the public unigram prior: rare words score higher.

-ln of the word's share of the lexicon's counts, in nats. An unknown word scores as
high as the rarest word of the lexicon.
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
        """Convert counts to surprisal in nats."""
        source = f"surprisal under the word counts of the lexicon {lexicon.name}"
        return scores.ByRow.from_words(-np.log(lexicon.prior), source)
