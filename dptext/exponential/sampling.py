"""Exact draws from an exponential distribution over distances, and their tables.

No row over the whole vocabulary is needed: the nearest k words of x are listed, and
every other word is at least far[x] away. With c the weight at far[x] the weights divide
into

    w(y) = max(w(y) - c, 0)   on the listed words,  plus
           min(w(y), c)       on all of V, drawn by proposing a uniform word and
                              accepting it with probability min(w(y), c) / c.

A refused proposal starts the draw anew, so that words follow w / sum(w) exactly, with
relative accuracy also for rare words, for any epsilon per word, without a row over V
per word. Distances and weights are float64.

A table holds pairs of a row and an epsilon. If a batch has one epsilon, the usual case,
its table has all rows, and the next batches use it, too; a row is filled in when its
word occurs for the first time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext import geometry
from dptext.exponential.distribution import DistanceDistribution, Lists
from dptext.mechanisms import count_at_most
from dptext.randomness import RandomBits
from dptext.types import Eps, Floats, Ids, Ints

_ROWS = 2048  # filled in together
# Attempts made together, and at most so many of one word.
_CHUNK = 1024
_TRIES = 64


class WeightTable:
    """Weights of the listed words for m pairs of a row and an epsilon."""

    def __init__(
        self, distribution: DistanceDistribution, lists: Lists, rows: Ints, eps: Eps
    ) -> None:
        """Take the pairs, rows (m,) and eps (m,); `fill` computes their weights."""
        self._distribution, self._lists, self._rows = distribution, lists, rows
        self._rate = distribution.rates(rows, eps)
        self._truncation = distribution.truncations(eps)
        # Sums of max(w - c, 0) over the listed words, as shares of the largest weight.
        # np.empty takes no memory before it is written to.
        self._cumulative = np.empty((len(rows), lists.listed.shape[1]))
        # ln c; the last of these sums; and that with the floor min(w, c) of all words.
        self._ceiling, self._inside, self._total = np.empty((3, len(rows)))

    def fill(self, filled: Ints, distances: Floats) -> None:
        """Compute the weights of some pairs, (j,), from their distances (j, k)."""
        size, measure = self._distribution.space.size, self._distribution.measure
        rate, truncation = self._rate[filled], self._truncation[filled]
        # If all of V is listed, far is infinite, and any c will do.
        far = np.minimum(self._lists.far[self._rows[filled]], distances.max(axis=1))
        ceiling = measure(far, truncation)
        ceiling *= -rate
        weights = measure(distances, truncation[:, None])
        weights *= -rate[:, None]
        # Divided by the largest, so that no weight overflows.
        top = np.maximum(weights.max(axis=1), ceiling)
        floor = np.exp(ceiling - top)
        weights -= top[:, None]
        np.exp(weights, out=weights)
        weights -= floor[:, None]
        np.maximum(weights, 0.0, out=weights)
        np.cumsum(weights, axis=1, out=weights)
        self._ceiling[filled] = ceiling
        self._cumulative[filled] = weights
        self._inside[filled] = weights[:, -1]
        self._total[filled] = weights[:, -1] + size * floor

    def attempt(self, kind: Ints, integers: NDArray[np.uint64]) -> Ints:
        """Make one attempt for each row of bits (n, 4): a word, or -1 if refused.

        kind (n,) is the pair of each.
        """
        target = RandomBits.unit(integers[:, 0])
        target *= self._total[kind]
        words = np.full(len(kind), -1)
        inside = target < self._inside[kind]
        beyond = np.flatnonzero(~inside)
        if len(beyond):
            size = self._distribution.space.size
            proposed = RandomBits.below(integers[beyond, 1], size)
            uniform = RandomBits.unit(integers[beyond, 2])
            accepted = self._accepts(kind[beyond], proposed, uniform)
            words[beyond[accepted]] = proposed[accepted]
        listed = np.flatnonzero(inside)
        ranks = count_at_most(self._cumulative, kind[listed], target[listed])
        words[listed] = self._lists.listed[self._rows[kind[listed]], ranks]
        return words

    def _accepts(self, kind: Ints, words: Ints, uniform: Floats) -> NDArray[np.bool_]:
        """Tell which proposals are accepted: uniform < min(w(y), c) / c, exactly.

        Single precision decides where its error bound leaves no doubt, float64
        elsewhere.
        """
        space, squares = self._distribution.space, self._distribution.squares
        rows = self._rows[kind]
        # A nearer word is likelier to be accepted: the least possible distance refuses
        # for certain, the largest accepts for certain.
        squared = geometry.squared_single(space, rows, words)
        error = space.vectors.shape[1] * 2.0**-21 * (squares[rows] + squares[words])
        error += 1e-12
        nearest = np.sqrt(np.maximum(squared - error, 0.0))
        accepted = uniform < self._chance(kind, nearest)
        perhaps = np.flatnonzero(accepted)
        farthest = np.sqrt(squared[perhaps] + error[perhaps])
        surely = uniform[perhaps] < self._chance(kind[perhaps], farthest)
        doubt = perhaps[~surely]
        exact = geometry.distances_by_row(space, rows[doubt], words[doubt])
        accepted[doubt] = uniform[doubt] < self._chance(kind[doubt], exact)
        return accepted

    def _chance(self, kind: Ints, distances: Floats) -> Floats:
        """Return min(w, c) / c at distances, in place: (n,)."""
        excess = self._distribution.measure(distances, self._truncation[kind])
        excess *= -self._rate[kind]
        excess -= self._ceiling[kind]
        np.minimum(excess, 0.0, out=excess)
        return np.exp(excess, out=excess)


class WeightTables:
    """Makes the tables of lists, and keeps the one of the last common epsilon."""

    def __init__(self, distribution: DistanceDistribution, lists: Lists) -> None:
        self._distribution, self._lists = distribution, lists
        self._epsilon: float | None = None
        self._table: WeightTable | None = None
        self._filled = np.zeros(0, bool)

    def select(self, rows: Ints, eps: Eps) -> tuple[WeightTable, Ints]:
        """Return a table for rows (n,) at eps (n,), and the pair of each: (n,)."""
        if (eps == eps[:1]).all():
            return self._fill_common(rows, float(eps[0])), rows
        # The distinct pairs of a row and an epsilon, and the pair of each word.
        inputs = self._distribution.space.size + 1
        values, code = np.unique(eps, return_inverse=True)
        keys = code.astype(np.int64) * inputs + rows
        pairs, kind = np.unique(keys, return_inverse=True)
        distinct, eps = pairs % inputs, values[pairs // inputs]
        table = WeightTable(self._distribution, self._lists, distinct, eps)
        table.fill(np.arange(len(distinct)), self._lists.rows(distinct))
        return table, kind

    def _fill_common(self, rows: Ints, epsilon: float) -> WeightTable:
        if self._table is None or self._epsilon != epsilon:
            every = np.arange(len(self._lists))
            eps = np.full(len(every), epsilon)
            self._table = WeightTable(self._distribution, self._lists, every, eps)
            self._epsilon = epsilon
            self._filled = np.zeros(len(every), bool)
        new = np.unique(rows[~self._filled[rows]])
        for begin in range(0, len(new), _ROWS):
            part = new[begin : begin + _ROWS]
            self._table.fill(part, self._lists.rows(part))
            self._filled[part] = True
        return self._table


class Sampler:
    """Draws from a distribution; tables of earlier draws are used again."""

    def __init__(self, distribution: DistanceDistribution) -> None:
        self._inputs = distribution.space.size + 1
        self._frequent = len(distribution.frequent)
        self._tables = (
            WeightTables(distribution, distribution.frequent),
            WeightTables(distribution, distribution.lists),
        )

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: ids (n,), eps (n,) -> (n,) ids.

        The lexicon alone determines which list a word uses, so that draws do not depend
        on the batch.
        """
        rows = ids.astype(np.int64) % self._inputs
        drawn = np.empty(len(ids), np.int32)
        frequent = rows < self._frequent
        for tables, are_served in zip(self._tables, (frequent, ~frequent), strict=True):
            positions = np.flatnonzero(are_served)
            if len(positions):
                table, kind = tables.select(rows[positions], eps[positions])
                drawn[positions] = _draw(table, kind, bits.take(positions))
        return drawn


def _draw(table: WeightTable, kind: Ints, bits: RandomBits) -> Ints:
    """Attempt until all words are drawn: (n,); kind (n,) is the pair of each."""
    drawn = np.full(len(bits), -1)
    waiting = np.arange(len(bits))
    lane = 0
    while len(waiting):
        # Several attempts at once when few words are waiting. The first accepted one
        # counts, so that the draw does not depend on how many are made together.
        tries = int(np.clip(_CHUNK // len(waiting), 1, _TRIES))
        integers = bits.integers(lane, 2 * tries).reshape(-1, 4)
        if tries == 1:
            words = table.attempt(kind, integers)
        else:
            words = table.attempt(np.repeat(kind, tries), integers)
            words = words.reshape(len(waiting), tries)
            first = (words >= 0).argmax(axis=1)
            words = words[np.arange(len(waiting)), first]
        drawn[waiting] = words
        refused = np.flatnonzero(words < 0)
        waiting, kind, bits = waiting[refused], kind[refused], bits.take(refused)
        lane += 2 * tries
    return drawn
