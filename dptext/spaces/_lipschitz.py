"""The exact Lipschitz constant of a public transform over a public vocabulary.

L = max |f(x) - f(x')| / |x - x'| over all pairs of rows. With a lower bound l of L, the
pairs beyond it are those with |f(x) - f(x')|^2 > l^2 |x - x'|^2: one matrix product per
tile of pairs shows them, up to a proven rounding error. They are then looked at again
by direct differences, which raises l. So no pair is missed, however near it is.
docs/guarantees.md, Spaces.

Which words are nearer to some rows than a bound: by one matrix product, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.search import squared_error
from dptext.spaces import lengths_from

# The result is rounded up by this share, and pairs that are beyond by less are equal.
_MARGIN = 1e-9
_ROWS = 512
_COLUMNS = 2048
_CHUNK = 8192

Wide = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Table:
    """Vectors (n, d) and their squared lengths (n,)."""

    vectors: NDArray[np.floating]
    squares: Wide

    @classmethod
    def of(cls, vectors: NDArray[np.floating]) -> _Table:
        parts = [
            np.einsum("ij,ij->i", part, part)
            for begin in range(0, len(vectors), _COLUMNS)
            for part in (vectors[begin : begin + _COLUMNS].astype(np.float64),)
        ]
        return cls(vectors, np.concatenate(parts))

    def rows(self, part: slice) -> Wide:
        """Return rows whose products with columns are squared distances."""
        squares = self.squares[part, None]
        return np.hstack((-2.0 * self.vectors[part], squares, np.ones_like(squares)))

    def columns(self, part: slice) -> Wide:
        """Return the other side of the products."""
        squares = self.squares[part, None]
        return np.hstack((self.vectors[part], np.ones_like(squares), squares))

    def largest(self, *parts: slice) -> float:
        """Return the largest squared length among some rows."""
        return float(max(self.squares[part].max() for part in parts))

    def distances(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Wide:
        """Return distances by direct differences: (m,)."""
        gap = self.vectors[rows].astype(np.float64) - self.vectors[others]
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", gap, gap)))


def constant(before: NDArray[np.floating], after: NDArray[np.floating]) -> float:
    """Return the constant over all pairs of rows, rounded up: (n, d), (n, d') -> L.

    At most 1e-9 (relative) above the largest ratio, and never below it. Rows that are
    identical before are skipped; 0 where no two rows differ.
    """
    tables = _Table.of(before), _Table.of(after)
    best = _start(*tables)
    for begin in range(0, len(before), _ROWS):
        for column in range(begin, len(before), _COLUMNS):
            best = max(best, _largest(*tables, *_beyond(*tables, begin, column, best)))
    return best * (1.0 + _MARGIN)


def _start(before: _Table, after: _Table) -> float:
    """Return the largest ratio of a few pairs."""
    rows = np.arange(len(before.squares))
    steps = {1, 2, 3, 5, 8, len(rows) // 3, len(rows) // 2}
    return max(_largest(before, after, rows, np.roll(rows, step)) for step in steps)


def _beyond(
    before: _Table, after: _Table, begin: int, column: int, best: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of a tile that may be beyond the best: two (m,) arrays."""
    # Pairs beyond by less than half the margin are as good as the best.
    scale = (best * (1.0 + _MARGIN / 2.0)) ** 2
    one, other = slice(begin, begin + _ROWS), slice(column, column + _COLUMNS)
    left = np.hstack((after.rows(one), -scale * before.rows(one)))
    right = np.hstack((after.columns(other), before.columns(other)))
    excess = left @ right.T
    if column == begin:
        excess[np.tri(*excess.shape) > 0] = -np.inf  # each pair once
    # A product of k terms errs by at most k u sum |a| |b|, u = 2^-53; the squared
    # lengths among the terms err by as much again. Here twice that.
    max_distance = 4.0 * (
        after.largest(one, other) + scale * before.largest(one, other)
    )
    slack = 4.0 * left.shape[1] * 2.0**-53 * max_distance
    if excess.max() <= -slack:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows, columns = np.nonzero(excess > -slack)
    return rows + begin, columns + column


def _largest(
    before: _Table, after: _Table, rows: NDArray[np.int64], others: NDArray[np.int64]
) -> float:
    """Return the largest ratio of some pairs."""
    largest = 0.0
    for begin in range(0, len(rows), _CHUNK):
        one, other = rows[begin : begin + _CHUNK], others[begin : begin + _CHUNK]
        old, new = before.distances(one, other), after.distances(one, other)
        ratios = np.divide(new, old, out=np.zeros_like(old), where=old > 0)
        largest = max(largest, float(ratios.max()))
    return largest


def nearer(
    vectors: NDArray[np.float32],
    size: int,
    rows: Sequence[int],
    bounds: NDArray[np.floating],
) -> Iterator[NDArray[np.int64]]:
    """Yield the words nearer to each row than its bound.

    vectors (V + 1, d), of which the first size are words; rows of n inputs; bounds (n,)
    distances, of which NaN has all words. Single precision proposes words, float64
    decides.
    """
    squares = np.einsum("vd,vd->v", vectors, vectors)
    lengths = np.sqrt(squares)
    products = vectors[rows] @ vectors[:size].T
    for row, bound, product in zip(rows, bounds.tolist(), products, strict=True):
        squared = squares[:size] + squares[row] - 2.0 * product
        squared -= squared_error(vectors.shape[1], lengths[:size] + lengths[row])
        proposed = np.flatnonzero(~(squared >= bound * bound))
        distances = lengths_from(vectors, row, proposed)
        yield proposed[~(distances >= bound)]
