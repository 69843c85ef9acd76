"""Exponential distributions over distances, and the lists of nearest words they use.

P(y|x) ~ exp(-rate(x, epsilon) min(t(x, y), truncation(epsilon))) for all words y, where
t is the distance or its square and rate = scale(epsilon) / (2 spread(x)).

Distances to listed words are computed when they are needed, once for each row.
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
from dptext.mechanisms import evaluate_each
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


class Lists:
    """The nearest words of the first m rows of a space, and their distances."""

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
        """Take the nearest words of all inputs of a space."""
        return cls(space, *space.neighbours)

    def __len__(self) -> int:
        """Return m."""
        return len(self._known)

    def rows(self, rows: Ints) -> Floats:
        """Return the distances to the listed words of some rows: (j,) -> (j, k)."""
        new = np.unique(rows[~self._known[rows]])
        listed = self.listed[new]
        pairs = new.repeat(listed.shape[1]), listed.ravel()
        distances = geometry.distances_by_row(self._space, *pairs)
        self._distances[new] = distances.reshape(listed.shape)
        self._known[new] = True
        return self._distances[rows]


class DistanceProduct:
    """Distances of words to outputs (n,), or to all words, by one matrix product."""

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
        """Return the distances of inputs to the outputs of a slice: (n, m)."""
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
    """Yield rows, columns and the distances between them: tiles of all pairs of words.

    A pair is in one tile, and twice in a square one, of the same rows and columns.
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
    """The distributions of all inputs at any epsilon."""

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
        """Return the rate of each row at its epsilon: (n,)."""
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
        """Return the weights of all words at one epsilon."""
        words = np.arange(self.space.size)
        rate = self.rates(words, np.full(len(words), epsilon))
        return Weights(self, epsilon, rate, self.truncation(epsilon))

    def numerical_slack(self, loss: float) -> float:
        """Bound by how much 52-bit uniforms may raise a loss above its bound, in nats.

        loss is the bound at the diameter.
        """
        # The rarest output has probability at least exp(-loss / 2) / V. The borders
        # between outputs are rounded sums, exact to the length of the longest list
        # times 2^-52. A loss is a ratio of two probabilities: twice that.
        rounded = (self.frequent.listed.shape[1] + 8) * 2.0**-51
        return float(rounded * self.space.size * np.exp(min(loss, 600.0) / 2.0))


@dataclass(frozen=True, eq=False)
class Weights:
    """exp(-rate(x) min(t(x, y), truncation)) of all words at one epsilon; rate (V,)."""

    distribution: DistanceDistribution
    epsilon: float
    rate: Floats
    truncation: float

    @property
    def size(self) -> int:
        """Return V."""
        return len(self.rate)

    @property
    def symmetric(self) -> bool:
        """Tell whether all words have the same rate."""
        return self.distribution.spread is None

    def measure(self, distances: NDArray[Float]) -> NDArray[Float]:
        """Return min(t, truncation) of distances, in place."""
        return self.distribution.measure(distances, self.truncation)

    def pairs(self, inputs: Ints, outputs: Ints) -> Floats:
        """Return the weights of pairs: (n,)."""
        logs = self.measure(
            geometry.distances_by_row(self.distribution.space, inputs, outputs)
        )
        logs *= -self.rate[inputs]
        return np.exp(logs, out=logs)
