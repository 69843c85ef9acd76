"""Exponential distributions over distances: lists of nearest words, and exact draws.

P(y|x) ~ exp(-rate(x, epsilon) min(t(x, y), truncation(epsilon))) for all words y, where
t is the distance or its square and rate = scale(epsilon) / (2 spread(x)).

Distances to listed words are computed when they are needed, once for each row.

Draws are exact and need no row over the whole vocabulary: the nearest k words of x are
listed, and every other word is at least far[x] away. With c the weight at far[x] the
weights divide into

    w(y) = max(w(y) - c, 0)   on the listed words,  plus
           min(w(y), c)       on all of V, drawn by proposing a uniform word and
                              accepting it with probability min(w(y), c) / c.

A rejected proposal restarts the draw, so that words follow w / sum(w) exactly, with
relative accuracy also for rare words, for any epsilon per word, without a row over V
per word. Distances and weights are float64.

A table holds (row, epsilon) pairs. If a batch has one epsilon, the usual case,
its table has all rows and is reused by later batches; a row is filled in when its
word first occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import geometry
from dptext.arrays import count_at_most, evaluate_each
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Ids, Ints, blocks

ROWS, COLUMNS = 256, 1024  # of a tile of distances
# Squared distances below this share of the largest square are computed directly, in
# double and in single precision.
_TINY, _TINY_SINGLE = 1e-6, 1e-3
# The precision of distances, which a function keeps.
Float = TypeVar("Float", bound=np.floating)
# A function of epsilon.
Curve = Callable[[float], float]
_ROWS = 2048  # of a table, filled in together
# Attempts made together, and at most so many of one word.
_CHUNK = 1024
_TRIES = 64


class Lists:
    """The nearest words of a space's first m rows, and their distances."""

    def __init__(
        self,
        space: Space,
        listed: NDArray[np.integer],
        far: NDArray[np.floating],
    ) -> None:
        self._space = space
        #: The words: (m, k).
        self.listed = listed
        #: No word that is not listed is nearer than this: (m,).
        self.far = np.asarray(far, np.float64)
        # np.empty takes no memory before it is written to.
        self._distances, self._known = np.empty(listed.shape), np.zeros(len(far), bool)

    @classmethod
    def from_space(cls, space: Space) -> Lists:
        """Build the lists for all inputs of a space."""
        return cls(space, *space.neighbours)

    def __len__(self) -> int:
        """Return m."""
        return len(self._known)

    def rows(self, rows: Ints) -> Floats:
        """Return distances to the listed words of rows: (j,) -> (j, k)."""
        new = np.unique(rows[~self._known[rows]])
        listed = self.listed[new]
        pairs = new.repeat(listed.shape[1]), listed.ravel()
        distances = geometry.distances_by_row(self._space, *pairs)
        self._distances[new] = distances.reshape(listed.shape)
        self._known[new] = True
        return self._distances[rows]


class DistanceProduct:
    """Distances from words to outputs (n,), or to all words, by matrix product."""

    def __init__(
        self, space: Space, outputs: Ints | None = None, kind: type = np.float64
    ) -> None:
        vectors, squares = space.precise
        size, width = space.size, vectors.shape[1]
        self._space = space
        self._outputs = outputs = np.arange(size) if outputs is None else outputs
        # (V, d + 2), (d + 2, n): their product is the squared distances.
        self._left = np.empty((size, width + 2), kind)
        self._left[:, :-2] = -2.0 * vectors[:size]
        self._left[:, -2], self._left[:, -1] = squares[:size], 1.0
        self._right = np.empty((width + 2, len(outputs)), kind)
        self._right[:-2] = vectors[outputs].T
        self._right[-2], self._right[-1] = 1.0, squares[outputs]
        tiny = _TINY if kind is np.float64 else _TINY_SINGLE
        self._tiny = tiny * float(squares.max())

    def distances(self, inputs: Ints, part: slice) -> NDArray[np.floating]:
        """Return distances from inputs to a slice of the outputs: (n, m)."""
        tile: NDArray[np.floating] = self._left[inputs] @ self._right[:, part]
        if tile.min(initial=np.inf) >= self._tiny:
            np.sqrt(tile, out=tile)
            return tile
        # Small distances cancel out in the product: those by direct differences.
        rows, words = np.nonzero(tile < self._tiny)
        np.maximum(tile, 0.0, out=tile)
        np.sqrt(tile, out=tile)
        outputs = self._outputs[part][words]
        tile[rows, words] = geometry.distances_by_row(
            self._space, inputs[rows], outputs
        )
        return tile


def distances_of_pairs(
    space: Space, kind: type = np.float64
) -> Iterator[tuple[slice, slice, NDArray[np.floating]]]:
    """Yield tiles covering all word pairs: rows, columns and their distances.

    Each pair is in one tile; tiles on the diagonal (rows == columns) contain it twice.
    """
    size = space.size
    product = DistanceProduct(space, kind=kind)
    for rows in blocks(size, ROWS):
        inputs = np.arange(rows.start, rows.stop)
        yield rows, rows, product.distances(inputs, rows)
        for columns in blocks(size, COLUMNS, rows.stop):
            yield rows, columns, product.distances(inputs, columns)


@dataclass(frozen=True, eq=False)
class DistanceDistribution:
    """The output distributions of all inputs at any epsilon."""

    space: Space
    #: Of all inputs.
    lists: Lists
    scale: Curve = field(default=lambda epsilon: epsilon)
    truncation: Curve = field(default=lambda epsilon: math.inf)
    #: Divides the rate of each row, (V + 1,): 0 gives a uniform distribution. None: 1.
    spread: Floats | None = None
    #: Whether t is the square of the distance.
    squared: bool = False
    #: The last sums of weights and their best guesses, by epsilon.
    kept: dict[tuple[object, ...], Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def frequent(self) -> Lists:
        """Return longer lists for the most frequent words."""
        return Lists(self.space, *self.space.wide_neighbours)

    @cached_property
    def squares(self) -> Floats:
        """Return the squared length of each row: (V + 1,)."""
        vectors = self.space.vectors
        return np.asarray(
            np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64, casting="safe")
        )

    def rates(self, rows: NDArray[np.integer], eps: Eps) -> Floats:
        """Return each row's rate at its epsilon: (n,)."""
        scales = evaluate_each(self.scale, eps)
        if self.spread is not None:
            spread, flat = self.spread[rows], np.zeros(len(rows))
            scales = np.divide(scales, spread, out=flat, where=spread > 0.0)
        return scales / 2.0

    def truncations(self, eps: Eps) -> Floats:
        """Return the truncation at each epsilon: (n,)."""
        return evaluate_each(self.truncation, eps)

    def measure(
        self, distances: NDArray[Float], truncation: Floats | float
    ) -> NDArray[Float]:
        """Return min(t, truncation) of distances, in place."""
        if self.squared:
            np.multiply(distances, distances, out=distances)
        if np.min(truncation, initial=np.inf) < np.inf:
            np.minimum(distances, truncation, out=distances)
        return distances

    def log_weights(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) up to a constant for each word: (n, V)."""
        rows = ids.astype(np.int64)
        logs = geometry.distances_to_words(self.space, rows, 0, self.space.size)
        self.measure(logs, self.truncations(eps)[:, None])
        logs *= -self.rates(rows, eps)[:, None]
        return logs

    def at(self, epsilon: float) -> Weights:
        """Return all weights at one epsilon."""
        words = np.arange(self.space.size)
        rate = self.rates(words, np.full(len(words), epsilon))
        return Weights(self, epsilon, rate, self.truncation(epsilon))

    def numerical_slack(self, loss: float) -> float:
        """Bound the nats that 52-bit uniforms may add to a loss.

        loss: the loss bound at the diameter of the space.
        """
        # The rarest output has probability at least exp(-loss / 2) / V. The borders
        # between outputs are rounded sums, exact to the length of the longest list
        # times 2^-52. A loss is a ratio of two probabilities: twice that.
        rounded = (self.frequent.listed.shape[1] + 8) * 2.0**-51
        return float(rounded * self.space.size * np.exp(min(loss, 600.0) / 2.0))


@dataclass(frozen=True, eq=False)
class Weights:
    """exp(-rate(x) min(t(x, y), truncation)) of all words at an epsilon; rate (V,)."""

    distribution: DistanceDistribution
    epsilon: float
    rate: Floats
    truncation: float

    @property
    def size(self) -> int:
        """Return the vocabulary size V."""
        return len(self.rate)

    @property
    def symmetric(self) -> bool:
        """Return whether all words have the same rate."""
        return self.distribution.spread is None

    def measure(self, distances: NDArray[Float]) -> NDArray[Float]:
        """Return min(t, truncation) of distances, in place."""
        return self.distribution.measure(distances, self.truncation)

    def pairs(self, inputs: Ints, outputs: Ints) -> Floats:
        """Return the weights of pairs of rows: (n,)."""
        logs = self.measure(
            geometry.distances_by_row(self.distribution.space, inputs, outputs)
        )
        logs *= -self.rate[inputs]
        return np.exp(logs, out=logs)


class WeightTable:
    """Weights of the listed words for m (row, epsilon) pairs."""

    def __init__(
        self, distribution: DistanceDistribution, lists: Lists, rows: Ints, eps: Eps
    ) -> None:
        """Create a table for pairs, rows (m,) and eps (m,), to be filled by `fill`."""
        self._distribution, self._lists, self._rows = distribution, lists, rows
        self._rate = distribution.rates(rows, eps)
        self._truncation = distribution.truncations(eps)
        # Sums of max(w - c, 0) over the listed words, as shares of the largest weight.
        # np.empty takes no memory before it is written to.
        self._cumulative = np.empty((len(rows), lists.listed.shape[1]))
        # ln c; the last of these sums; and that with the floor min(w, c) of all words.
        self._ceiling, self._inside, self._total = np.empty((3, len(rows)))

    def fill(self, filled: Ints, distances: Floats) -> None:
        """Compute weights for pairs (j,) from their distances (j, k)."""
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
        """Attempt a draw for each row of random bits (n, 4): a word, or -1 if rejected.

        kind (n,): the table's pair to draw from.
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
        """Return a mask of accepted proposals: uniform < min(w(y), c) / c, exactly.

        Single precision decides where its error bound allows, float64
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
        """Return min(w, c) / c from distances, in place: (n,)."""
        excess = self._distribution.measure(distances, self._truncation[kind])
        excess *= -self._rate[kind]
        excess -= self._ceiling[kind]
        np.minimum(excess, 0.0, out=excess)
        return np.exp(excess, out=excess)


class WeightTables:
    """Creates weight tables, and keeps the one for the last common epsilon."""

    def __init__(self, distribution: DistanceDistribution, lists: Lists) -> None:
        self._distribution, self._lists = distribution, lists
        self._epsilon: float | None = None
        self._table: WeightTable | None = None
        self._filled = np.zeros(0, bool)

    def select(self, rows: Ints, eps: Eps) -> tuple[WeightTable, Ints]:
        """Return a table for rows (n,) at eps (n,), and each word's pair: (n,)."""
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
        for part in (new[each] for each in blocks(len(new), _ROWS)):
            self._table.fill(part, self._lists.rows(part))
            self._filled[part] = True
        return self._table


class Sampler:
    """Draws from a distribution, reusing tables of earlier draws."""

    def __init__(self, distribution: DistanceDistribution) -> None:
        self._inputs = distribution.space.size + 1
        self._frequent = len(distribution.frequent)
        self._tables = (
            WeightTables(distribution, distribution.frequent),
            WeightTables(distribution, distribution.lists),
        )

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) -> (n,) ids.

        Only the lexicon determines which list a word uses, so that draws do not depend
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
    """Retry until all words are drawn: (n,); kind (n,) is each word's pair."""
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
