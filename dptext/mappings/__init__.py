"""Mappings: from a noisy vector to a word, one file each.

A mapping module holds `Params` and `find(params, index, points, noise) -> (n,) ids`.
It sees noisy points and public vectors only, never the input word: post-processing.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import Noise
from dptext.types import Ids, Points

# Matrix products are only ever made of whole blocks of this many rows, so that a
# word's scores do not depend on the batch it came in.
BLOCK = 256


class Mapping(Protocol):
    """What every file in this folder defines."""

    Params: type

    def find(self, params: Any, index: Index, points: Points, noise: Noise) -> Ids:
        """Return the word of each point."""


class Index:
    """Exact nearest neighbours among the V words of a space (FAISS, flat)."""

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        import faiss

        # Below this many queries times dimensions FAISS leaves BLAS aside.
        faiss.cvar.distance_compute_blas_threshold = 1
        width = vectors.shape[1]
        half = (vectors[:size].astype(np.float64) ** 2).sum(axis=1) / -2.0
        table = np.empty((size, width + 1), np.float32)
        table[:, :width] = vectors[:size]
        table[:, width] = half
        self._index = faiss.IndexFlatIP(width + 1)
        self._index.add(table)
        self._vectors = vectors
        self._width = width

    def nearest(self, points: Points, count: int) -> NDArray[np.int64]:
        """Return the `count` nearest words of each point, nearest first: (n, count).

        argmin |v - z| = argmax <v, z> - |v|^2 / 2.
        """
        found = np.empty((len(points), count), np.int64)
        block = np.zeros((BLOCK, self._width + 1), np.float32)
        block[:, -1] = 1.0
        for begin in range(0, len(points), BLOCK):
            part = points[begin : begin + BLOCK]
            block[: len(part), :-1] = part
            _, ids = self._index.search(block, count)
            found[begin : begin + len(part)] = ids[: len(part)]
        return found

    def distances(self, points: Points, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each point to one word each: (n,) float64."""
        gap = points.astype(np.float64) - self._vectors[ids]
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("nd,nd->n", gap, gap))
        return lengths
