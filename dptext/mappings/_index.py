"""Exact nearest neighbours of noisy vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.types import Points

# Matrix products are only ever made of whole blocks of this many rows, so that a
# word's scores do not depend on the batch it came in.
BLOCK = 256
# Words that are scored at once, so that the scores stay in the processor's cache.
_WORDS = 1024


class Index:
    """Exact nearest neighbours among the V words of a space, by matrix products."""

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        width = vectors.shape[1]
        self._vectors = vectors
        self._table = np.empty((width + 1, size), np.float32)
        self._table[:width] = vectors[:size].T
        self._table[width] = (vectors[:size].astype(np.float64) ** 2).sum(axis=1) / -2.0

    def nearest(self, points: Points, count: int) -> NDArray[np.int64]:
        """Return the `count` nearest words of each point, nearest first: (n, count).

        argmin |v - z| = argmax <v, z> - |v|^2 / 2; of equals the smaller id comes
        first. All of V where there are no more words than count.
        """
        count = min(count, self._table.shape[1])
        nearest = np.empty((len(points), count), np.int64)
        block = np.zeros((BLOCK, len(self._table)), np.float32)
        block[:, -1] = 1.0
        for begin in range(0, len(points), BLOCK):
            part = points[begin : begin + BLOCK]
            block[: len(part), :-1] = part
            nearest[begin : begin + len(part)] = self._best(block, count)[: len(part)]
        return nearest

    def _best(self, block: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the columns of the largest scores of a block: (BLOCK, count)."""
        size, rows = self._table.shape[1], np.arange(BLOCK)
        scores, ids = [], []
        for begin in range(0, size, _WORDS):
            tile = block @ self._table[:, begin : begin + _WORDS]
            for _ in range(min(count, tile.shape[1])):
                top = tile.argmax(axis=1)
                scores.append(tile[rows, top])
                ids.append(begin + top)
                tile[rows, top] = -np.inf
        best = np.argsort(-np.stack(scores), axis=0, kind="stable")[:count]
        return np.asarray(np.take_along_axis(np.stack(ids), best, axis=0).T)

    def distances(self, points: Points, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each point to one word each: (n,) float64."""
        gap = points.astype(np.float64) - self._vectors[ids]
        return np.asarray(np.sqrt(np.einsum("nd,nd->n", gap, gap)))

    def chance_of_first(
        self, points: Points, two: NDArray[np.int64], t: float
    ) -> NDArray[np.float64]:
        """Return Vickrey's probability of the first of two words a point: (n,).

        (1 - t) d2 / (t d1 + (1 - t) d2), their distances to the point d1 and d2.
        """
        near = t * self.distances(points, two[:, 0])
        far = (1.0 - t) * self.distances(points, two[:, -1])
        return np.divide(far, near + far, out=np.ones_like(far), where=near + far > 0)
