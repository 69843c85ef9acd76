"""Words that may be the nearest ones of points: matrix products in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.types import Points

# Words that are scored at once. With 2,048 points their scores take 3 MiB, which stay
# in the processor's cache.
_WORDS = 384


class Candidates(NamedTuple):
    """Pairs of a point and a word, (m,) each: by point, then by id."""

    rows: NDArray[np.int64]
    ids: NDArray[np.int64]


class Search(Protocol):
    """A search for candidates."""

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Candidates:
        """Return all words that may be among the `count` nearest of each point.

        The score of a word v at a point z is <v, z> - |v|^2 / 2, the larger the
        nearer. slack (n,) bounds how much two scores may stand in wrong order.
        """


def table_of(vectors: NDArray[np.float32], begin: int, end: int) -> NDArray[np.float32]:
    """Return columns whose product with (z, 1) is the score of words: (d + 1, m)."""
    part = vectors[begin:end]
    table = np.empty((part.shape[1] + 1, len(part)), np.float32)
    table[:-1], table[-1] = part.T, squares(part) / -2.0
    return table


def squares(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the squared lengths of rows: (n,) float64."""
    return np.asarray(np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64))


class Tiles:
    """Candidates by products of numpy, tile by tile."""

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        # Each tile on its own: products read what lies together faster.
        self._tiles = [
            table_of(vectors, begin, min(begin + _WORDS, size))
            for begin in range(0, size, _WORDS)
        ]

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Candidates:
        """Return all words that may be among the `count` nearest of each point."""
        left = np.ones((len(points), len(self._tiles[0])), np.float32)
        left[:, :-1] = points
        largest, others = self._largest(left, count)
        best = np.vstack((largest, *others))
        last = (
            best.max(axis=0)
            if count == 1
            else np.partition(best, -count, axis=0)[-count]
        )
        # No more than the score of the last of the nearest, as far as one can tell. It
        # holds for scores that are made again, too, in whatever order they are added.
        least = last - slack
        rows, ids, scores = [], [], []
        for number, table in enumerate(self._tiles):
            close = np.flatnonzero(largest[number] >= least)
            tile = left[close] @ table
            hits = np.flatnonzero(tile >= least[close, None])
            row, column = np.divmod(hits, tile.shape[1])
            rows.append(close[row])
            ids.append(number * _WORDS + column)
            scores.append(tile.ravel()[hits])
        return by_point(rows, ids, scores, least)

    def _largest(
        self, left: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return the largest score of each tile, (tiles, n), and others, (m, n) each.

        Others are of the first tiles, as many as make it `count` scores in all.
        """
        every = np.arange(len(left))
        largest = np.empty((len(self._tiles), len(left)), np.float32)
        others: list[NDArray[np.float32]] = []
        missing = count - len(self._tiles)
        memory = np.empty(len(left) * _WORDS, np.float32)
        for number, table in enumerate(self._tiles):
            width = table.shape[1]
            tile = memory[: len(left) * width].reshape(-1, width)
            np.dot(left, table, out=tile)
            largest[number] = tile[every, tile.argmax(axis=1)]
            if missing > 0:
                others.append(np.sort(tile, axis=1)[:, -missing - 1 : -1].T)
                missing -= width - 1
        return largest, others


def by_point(
    rows: Sequence[NDArray[np.int64]],
    ids: Sequence[NDArray[np.int64]],
    scores: Sequence[NDArray[np.float32]],
    least: NDArray[np.float32],
) -> Candidates:
    """Order candidates; left out is what scores less than least, (n,), of its point."""
    row = np.concatenate(rows)
    kept = np.flatnonzero(np.concatenate(scores) >= least[row])
    kept = kept[np.argsort(row[kept], kind="stable")]
    return Candidates(row[kept], np.concatenate(ids)[kept])
