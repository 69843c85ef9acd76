"""The Bayes risk for P(y|x) = exp(-rate(x) t(x, y)) / Z(x), t a distance, in seconds.

Z of all words is one pass over the pairs of V in tiles, each pair once. Then, with
c(x) = prior(x) / Z(x), the words x are tried by falling c: a word outside the list of y
is at least far(y) away, so that y is done once c of the next word times
exp(-rate far(y)) is no more than what was found. That and the words listed for y give
the maximum itself: nothing is left out, and all that counts is float64.
Source: docs/guarantees.md, 6; the bound on the words not listed is that of
dptext.mechanisms._by_distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms._by_distance import Near, of_pairs
from dptext.spaces import Space

_ROWS, _COLUMNS = 256, 1024
# Words tried together, and outputs whose lists are looked at together.
_BLOCK, _LISTED = 128, 4096
_TINY, _TINY_SINGLE = 1e-6, 1e-3
# Bounds on distances are single precision: this much less is surely below.
_BELOW = 1.0 - 1e-6


@dataclass(frozen=True, slots=True)
class Law:
    """P(y|x) ~ exp(-rate(x) min(t, gamma)), t the distance or its square.

    rate (V,) >= 0, one value for all where it is even.
    """

    near: Near
    rate: NDArray[np.float64]
    gamma: float = float("inf")
    squared: bool = False

    @property
    def size(self) -> int:
        """Return V."""
        return self.near.space.size

    @property
    def even(self) -> bool:
        """Tell whether all words have one rate."""
        return bool((self.rate == self.rate[0]).all())

    @property
    def key(self) -> tuple[object, ...]:
        """Return what tells the law from others of the same words."""
        return (hash(self.rate.tobytes()), self.gamma, self.squared)

    def max_distance(self, apart: NDArray[Any]) -> NDArray[Any]:
        """Return min(t, gamma) from distances, in place."""
        if self.squared:
            np.multiply(apart, apart, out=apart)
        if self.gamma != np.inf:
            np.minimum(apart, self.gamma, out=apart)
        return apart

    def of_pairs(
        self, inputs: NDArray[np.int64], outputs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return exp(-rate min(t, gamma)) of pairs: (n,)."""
        found = self.max_distance(of_pairs(self.near.space, inputs, outputs))
        found *= -self.rate[inputs]
        weights: NDArray[np.float64] = np.exp(found, out=found)
        return weights


def best(
    law: Law, prior: NDArray[np.float64], bands: list[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V)."""
    kept: dict[object, NDArray[np.float64]] = law.near.kept
    key = (*law.key, hash(prior.tobytes()), tuple(bands))
    if key not in kept:
        worth = prior / sums(law)
        kept[key] = _best(law, worth, bands)
    found: NDArray[np.float64] = kept[key].copy()
    return found


def _best(
    law: Law, worth: NDArray[np.float64], bands: list[tuple[int, int]]
) -> NDArray[np.float64]:
    found = np.zeros((len(bands), law.size))
    for number, (begin, end) in enumerate(bands):
        # A word is at distance 0 of itself.
        found[number, begin:end] = worth[begin:end]
        _listed(law, worth, begin, end, found[number])
        _others(law, worth, begin, end, found[number])
    return found


def _listed(
    law: Law,
    worth: NDArray[np.float64],
    begin: int,
    end: int,
    found: NDArray[np.float64],
) -> None:
    """Try the words listed for each y."""
    listed = law.near.every.listed
    for start in range(0, law.size, _LISTED):
        block = listed[start : min(start + _LISTED, law.size)]
        hopeful = worth[block] > found[start : start + len(block), None]
        hopeful &= (block >= begin) & (block < end)
        outputs, positions = np.nonzero(hopeful)
        inputs = block[outputs, positions].astype(np.int64)
        outputs += start
        value = worth[inputs] * law.of_pairs(inputs, outputs)
        np.maximum.at(found, outputs, value)


def _others(
    law: Law,
    worth: NDArray[np.float64],
    begin: int,
    end: int,
    found: NDArray[np.float64],
) -> None:
    """Try the words of a band by falling worth, until no y can gain by one."""
    order = begin + np.argsort(-worth[begin:end], kind="stable")
    # With all of V listed nothing is far; infinity is no number to reckon with.
    far = law.max_distance(np.minimum(law.near.every.far[: law.size] * _BELOW, 1e150))
    most = np.exp(-float(law.rate[begin:end].min()) * far)
    outputs = np.arange(law.size)
    table = _Table.of(law.near.space, outputs)
    for start in range(0, len(order), _BLOCK):
        left = worth[order[start]] * most[outputs] > found[outputs]
        if not left.all():
            if not left.any():
                return
            if left.mean() < 0.75:
                outputs = outputs[left]
                table = _Table.of(law.near.space, outputs)
        inputs = order[start : start + _BLOCK]
        for first in range(0, len(outputs), _COLUMNS):
            part = slice(first, first + _COLUMNS)
            weights = law.max_distance(table.distances(inputs, part))
            weights *= -law.rate[inputs][:, None]
            np.exp(weights, out=weights)
            weights *= worth[inputs][:, None]
            words = outputs[part]
            found[words] = np.maximum(found[words], weights.max(axis=0))


@dataclass(frozen=True, slots=True)
class _Table:
    """Some outputs y, for the distances of words to them.

    left (V, d + 2) and right (d + 2, n) so that their product is the squared distance.
    """

    space: Space
    outputs: NDArray[np.int64]
    left: NDArray[Any]
    right: NDArray[Any]
    tiny: float

    @classmethod
    def of(
        cls, space: Space, outputs: NDArray[np.int64], kind: type = np.float64
    ) -> _Table:
        """Take the vectors of the outputs."""
        vectors, squares = space.precise
        size = space.size
        left = np.empty((size, vectors.shape[1] + 2), kind)
        left[:, :-2] = -2.0 * vectors[:size]
        left[:, -2], left[:, -1] = squares[:size], 1.0
        right = np.empty((vectors.shape[1] + 2, len(outputs)), kind)
        right[:-2] = vectors[outputs].T
        right[-2], right[-1] = 1.0, squares[outputs]
        tiny = (_TINY if kind is np.float64 else _TINY_SINGLE) * float(squares.max())
        return cls(space, outputs, left, right, tiny)

    def distances(self, inputs: NDArray[np.int64], part: slice) -> NDArray[Any]:
        """Return the distances of inputs to the outputs of a slice: (n, m)."""
        tile: NDArray[Any] = self.left[inputs] @ self.right[:, part]
        if tile.min(initial=np.inf) >= self.tiny:
            np.sqrt(tile, out=tile)
            return tile
        # Small distances are lost in the sums of squares: those by direct differences.
        rows, words = np.nonzero(tile < self.tiny)
        np.maximum(tile, 0.0, out=tile)
        np.sqrt(tile, out=tile)
        outputs = self.outputs[part][words]
        tile[rows, words] = of_pairs(self.space, inputs[rows], outputs)
        return tile


def sums(law: Law, kind: type = np.float64) -> NDArray[np.float64]:
    """Return Z of all words: (V,). kind is the precision of distances and weights."""
    kept: dict[object, NDArray[np.float64]] = law.near.kept
    key = (*law.key, kind)
    if key not in kept:
        kept.clear()
        kept[key] = _sums(law, kind)
    return kept[key]


def _sums(law: Law, kind: type) -> NDArray[np.float64]:
    size, even = law.size, law.even
    table = _Table.of(law.near.space, np.arange(size), kind)
    rate: NDArray[Any] = law.rate.astype(kind)
    found = np.zeros(size)
    for rows, columns in _pairs(size):
        tile = law.max_distance(
            table.distances(np.arange(rows.start, rows.stop), columns)
        )
        other = None
        if columns.start != rows.start:
            # Seen from the columns, whose rates may be others.
            other = None if even else np.exp(tile * -rate[columns])
        tile *= -rate[rows][:, None]
        np.exp(tile, out=tile)
        found[rows] += tile.sum(axis=1)
        if columns.start != rows.start:
            other = tile if other is None else other
            found[columns] += np.ones(len(tile), kind) @ other
    return found


def _pairs(size: int) -> Iterator[tuple[slice, slice]]:
    """Yield tiles (rows, columns) with every pair once; square ones hold it twice."""
    for begin in range(0, size, _ROWS):
        end = min(begin + _ROWS, size)
        yield slice(begin, end), slice(begin, end)
        for left in range(end, size, _COLUMNS):
            yield slice(begin, end), slice(left, min(left + _COLUMNS, size))
