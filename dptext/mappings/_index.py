"""Exact nearest neighbours of noisy vectors.

Single precision only proposes candidates; float64 decides, and of equals the smaller id
comes first. So a word depends neither on the batch that it came in nor on the order in
which a library for matrix products, or a device, adds up.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.mappings import _candidates
from dptext.mappings._candidates import Candidates, Search
from dptext.types import Points

# Points that are scored at once: more make no faster products.
BLOCK = 2048
# Candidates that are looked at again at once, which bounds the memory.
_AGAIN = 4096


class Index:
    """Exact nearest neighbours among the V words of a space, by matrix products."""

    def __init__(
        self, vectors: NDArray[np.float32], size: int, device: str = "cpu"
    ) -> None:
        self._vectors = vectors
        self._size = size
        self._device = device
        self._halves = _candidates.squares(vectors[:size]) / 2.0
        self._longest = float(np.sqrt(2.0 * self._halves.max()))

    def on(self, device: str) -> Index:
        """Return the same words sought on a device, by torch's name of it.

        Raises UsageError where it is not there.
        """
        if device == self._device:
            return self
        index = Index(self._vectors, self._size, device)
        _ = index._search  # now, and not at the first text
        return index

    @cached_property
    def _search(self) -> Search:
        if self._device == "cpu":
            return _candidates.Tiles(self._vectors, self._size)
        from dptext.mappings._device import OnDevice

        return OnDevice(self._vectors, self._size, self._device)

    def nearest(self, points: Points, count: int) -> NDArray[np.int64]:
        """Return the `count` nearest words of each point, nearest first: (n, count).

        argmin |v - z| = argmax <v, z> - |v|^2 / 2; of equals the smaller id comes
        first. All of V where there are no more words than count.
        """
        count = min(count, self._size)
        nearest = np.empty((len(points), count), np.int64)
        for begin in range(0, len(points), BLOCK):
            part = points[begin : begin + BLOCK]
            candidates = self._search.candidates(part, count, self._slack(part))
            nearest[begin : begin + len(part)] = self._best(part, candidates, count)
        return nearest

    def _slack(self, points: Points) -> NDArray[np.float32]:
        """Bound by how much two scores in single precision stand in wrong order: (n,).

        A sum of n products is off by at most n 2^-24 times the sum of their sizes, in
        whatever order it is made (Higham 2002, section 3.1).
        """
        lengths = np.sqrt(_candidates.squares(points))
        sizes = lengths * self._longest + self._longest**2 / 2.0
        terms = points.shape[1] + 8.0
        slack = terms * (2.0**-23 * sizes + np.finfo(np.float32).tiny)
        return np.asarray(slack, np.float32)

    def _best(
        self, points: Points, candidates: Candidates, count: int
    ) -> NDArray[np.int64]:
        """Return the nearest of the candidates of each point: (n, count)."""
        rows, ids = candidates
        counts = np.bincount(rows, minlength=len(points))
        scores = np.zeros(len(ids))
        several = np.flatnonzero(counts[rows] > 1)
        for begin in range(0, len(several), _AGAIN):
            part = several[begin : begin + _AGAIN]
            scores[part] = self._scores(points[rows[part]], ids[part])
        ranked = ids[np.lexsort((ids, -scores, rows))]
        firsts = np.cumsum(counts) - counts
        return np.asarray(ranked[firsts[:, None] + np.arange(count)])

    def _scores(self, points: Points, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return <v, z> - |v|^2 / 2 of each point and one word each: (n,) float64."""
        vectors = self._vectors[ids].astype(np.float64)
        products = np.einsum("nd,nd->n", vectors, points.astype(np.float64))
        return np.asarray(products - self._halves[ids])

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
