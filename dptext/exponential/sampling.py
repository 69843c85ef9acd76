"""Exact draws from an exponential distribution over distances.

No row over the whole vocabulary is needed: the nearest k words of x are listed, and
every other word is at least far[x] away. With c the weight at far[x] the weights divide
into

    w(y) = max(w(y) - c, 0)   on the listed words,  plus
           min(w(y), c)       on all of V, drawn by proposing a uniform word and
                              accepting it with probability min(w(y), c) / c.

A refused proposal starts the draw anew, so that words follow w / sum(w) exactly, with
relative accuracy also for rare words, for any epsilon per word, without a row over V
per word. Distances and weights are float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.tables import Table, Tables
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids

_CHUNK = 1024
_TRIES = 64


class Sampler:
    """Draws from a distribution, with the tables of what was drawn before."""

    def __init__(self, distribution: DistanceDistribution) -> None:
        self._inputs = distribution.space.size + 1
        self._frequent = len(distribution.frequent)
        self._tables = (
            Tables(distribution, distribution.frequent),
            Tables(distribution, distribution.lists, self._frequent),
        )
        self._words = 0

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: ids (n,), eps (n,) -> (n,) ids.

        Which list serves a word depends on the lexicon alone, so that draws do not
        depend on the batch.
        """
        rows = ids.astype(np.int64) % self._inputs
        drawn = np.empty(len(ids), np.int32)
        frequent = rows < self._frequent
        self._words += len(ids)
        for tables, are_served in zip(self._tables, (frequent, ~frequent), strict=True):
            tables.learn(self._words)
            positions = np.flatnonzero(are_served)
            if len(positions):
                table, kind = tables.of(rows[positions], eps[positions])
                drawn[positions] = _draw(table, kind, bits.take(positions))
        return drawn


def _draw(table: Table, kind: NDArray[np.int64], bits: RandomBits) -> NDArray[np.int64]:
    """Attempt until every word is drawn: (n,); kind (n,) its pair in the table."""
    drawn = np.full(len(bits), -1)
    left = np.arange(len(bits))
    lane = 0
    while len(left):
        # Few words left: several attempts of each at once; the first accepted counts,
        # so the draw does not depend on how many are made together.
        tries = int(np.clip(_CHUNK // len(left), 1, _TRIES))
        integers = bits.integers(lane, 2 * tries).reshape(-1, 4)
        if tries == 1:
            words = table.attempt(kind, integers)
        else:
            words = table.attempt(np.repeat(kind, tries), integers)
            words = words.reshape(len(left), tries)
            first = (words >= 0).argmax(axis=1)
            words = words[np.arange(len(left)), first]
        drawn[left] = words
        refused = np.flatnonzero(words < 0)
        left, kind, bits = left[refused], kind[refused], bits.take(refused)
        lane += 2 * tries
    return drawn
