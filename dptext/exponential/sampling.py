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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.lists import Lists
from dptext.geometry import pairs
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids

_CHUNK = 1024
_TRIES = 64
_STEP = 32


def sample(
    distribution: DistanceDistribution, ids: Ids, eps: Eps, bits: RandomBits
) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) -> (n,) ids.

    Which list serves a word depends on the lexicon alone, so that draws do not depend
    on the batch.
    """
    rows = ids.astype(np.int64) % (distribution.space.size + 1)
    drawn = np.empty(len(ids), np.int32)
    frequent = rows < len(distribution.frequent)
    for lists, positions in (
        (distribution.frequent, np.flatnonzero(frequent)),
        (distribution.lists, np.flatnonzero(~frequent)),
    ):
        if len(positions):
            table = _Table.of(distribution, lists, rows[positions], eps[positions])
            drawn[positions] = _draw(table, bits.take(positions))
    return drawn


def _draw(table: _Table, bits: RandomBits) -> NDArray[np.int64]:
    """Attempt until every word is drawn: (n,)."""
    drawn = np.empty(len(bits), np.int64)
    left = np.arange(len(bits))
    lane = 0
    while len(left):
        # Few words left: several attempts of each at once; the first accepted counts,
        # so the draw does not depend on how many are made together.
        tries = int(np.clip(_CHUNK // len(left), 1, _TRIES))
        integers = bits.take(left).integers(lane, 2 * tries).reshape(-1, 4)
        words = table.attempt(np.repeat(table.kind[left], tries), integers)
        words = words.reshape(len(left), tries)
        accepted = words >= 0
        first = accepted.argmax(axis=1)
        done = accepted[np.arange(len(left)), first]
        drawn[left[done]] = words[done, first[done]]
        left = left[~done]
        lane += 2 * tries
    return drawn


@dataclass(frozen=True, slots=True)
class _Table:
    """What a batch needs for each distinct pair of word and epsilon (m of them).

    kind (n,) the pair of each word; rows (m,); rate, truncation (m,) of min(t,
    truncation); ceiling (m,) ln c; cumulative (m, k) weights of the listed words in
    excess of c, over the largest weight of the pair; total (m,) with the floor.
    """

    distribution: DistanceDistribution
    lists: Lists
    kind: NDArray[np.intp]
    rows: NDArray[np.int64]
    rate: NDArray[np.float64]
    truncation: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    total: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        distribution: DistanceDistribution,
        lists: Lists,
        ids: NDArray[np.int64],
        eps: Eps,
    ) -> _Table:
        """List the distinct pairs and their weights."""
        size = distribution.space.size
        rows, values, kind = _distinct(ids, eps, size + 1)
        rate = distribution.rates(rows, values)
        truncation = distribution.truncations(values)
        distances = lists.rows(rows)
        # With all of V listed any c serves; infinity is no distance.
        far = np.minimum(lists.far[rows], distances.max(axis=1))
        ceiling = distribution.measure(far, truncation)
        ceiling *= -rate
        weights = distribution.measure(distances, truncation[:, None])
        weights *= -rate[:, None]
        # Divided by the largest, so that no weight overflows.
        top = np.maximum(weights.max(axis=1), ceiling)
        floor = np.exp(ceiling - top)
        weights -= top[:, None]
        np.exp(weights, out=weights)
        weights -= floor[:, None]
        np.maximum(weights, 0.0, out=weights)
        cumulative = np.cumsum(weights, axis=1, out=weights)
        total = cumulative[:, -1] + size * floor
        return cls(
            *(distribution, lists, kind, rows, rate, truncation),
            *(ceiling, cumulative, total),
        )

    def attempt(
        self, kind: NDArray[np.intp], integers: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Make one attempt for each row of bits (m, 4): a word, or -1 if refused."""
        target = RandomBits.unit(integers[:, 0]) * self.total[kind]
        inside = target < self.cumulative[kind, -1]
        words = RandomBits.below(integers[:, 1], self.distribution.space.size)
        beyond = np.flatnonzero(~inside)
        accepted = self._accepts(
            kind[beyond], words[beyond], RandomBits.unit(integers[beyond, 2])
        )
        words[beyond[~accepted]] = -1
        listed = np.flatnonzero(inside)
        ranks = _count(self.cumulative, kind[listed], target[listed])
        words[listed] = self.lists.listed[self.rows[kind[listed]], ranks]
        return words

    def _accepts(
        self,
        kind: NDArray[np.intp],
        words: NDArray[np.int64],
        uniform: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Tell which proposals are accepted: uniform < min(w(y), c) / c, exactly.

        Single precision decides where its error bound leaves no doubt, float64
        elsewhere.
        """
        space, squares = self.distribution.space, self.distribution.squares
        rows = self.rows[kind]
        squared = pairs.squared_single(space, rows, words)
        lengths = squares[rows] + squares[words]
        error = space.vectors.shape[1] * 2.0**-21 * lengths + 1e-12
        surely = uniform < self._chance(kind, np.sqrt(squared + error))
        perhaps = uniform < self._chance(kind, np.sqrt(np.maximum(squared - error, 0)))
        doubt = np.flatnonzero(perhaps & ~surely)
        exact = pairs.of_rows(space, rows[doubt], words[doubt])
        surely[doubt] = uniform[doubt] < self._chance(kind[doubt], exact)
        return surely

    def _chance(
        self, kind: NDArray[np.intp], distances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return min(w, c) / c at distances, in place: (n,)."""
        excess = self.distribution.measure(distances, self.truncation[kind])
        excess *= -self.rate[kind]
        excess -= self.ceiling[kind]
        return np.exp(np.minimum(excess, 0.0))


def _count(
    cumulative: NDArray[np.float64],
    which: NDArray[np.intp],
    target: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the entries of each word's row that are at most its target: (n,).

    First in steps of _STEP entries, then within the step. Each target is below its
    row's last entry.
    """
    steps = cumulative[:, _STEP - 1 :: _STEP]
    padded = cumulative.shape[1] - _STEP
    ranks = np.zeros(len(which), np.int64)
    inner = np.arange(_STEP)
    for begin in range(0, len(which), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        rows, limit = which[chunk], target[chunk, None]
        if padded <= 0:
            ranks[chunk] = (cumulative[rows] <= limit).sum(axis=1)
            continue
        start = np.minimum((steps[rows] <= limit).sum(axis=1) * _STEP, padded)
        part = cumulative[rows[:, None], start[:, None] + inner]
        ranks[chunk] = start + (part <= limit).sum(axis=1)
    return ranks


def _distinct(
    ids: NDArray[np.int64], eps: Eps, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct (row, epsilon) pairs and the pair of each word."""
    values, code = np.unique(eps, return_inverse=True)
    keys = code.astype(np.int64) * rows + ids
    if len(values) * rows <= 64 * len(ids) + 2**20:
        used = np.zeros(len(values) * rows, bool)
        used[keys] = True
        pairs_used = np.flatnonzero(used)
        kind = (np.cumsum(used) - 1)[keys]
    else:
        pairs_used, kind = np.unique(keys, return_inverse=True)
    return pairs_used % rows, values[pairs_used // rows], kind
