"""Public distances between the words of a space: of pairs, nearest and farthest.

What several mechanisms share. All of it depends on the lexicon and the space alone and
is kept in the cache folder. Single precision only proposes candidates; float64 decides,
and of equals the smaller id comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.lexicons.search import distances_of_pairs, lengths_from
from dptext.spaces import Space, some
from dptext.types import Floats, Ints, Rows, blocks

_CHUNK = 1024
# Squared distances below this share of the largest square are computed directly.
_TINY = 1e-6


def to_words(space: Space, rows: Ints, begin: int, end: int) -> Floats:
    """Return the distances of some rows to the words begin to end: (n, end - begin)."""
    vectors, squares = space.precise
    distances: Floats = (-2.0 * vectors[rows]) @ vectors[begin:end].T
    distances += squares[None, begin:end]
    distances += squares[rows][:, None]
    # Tiny distances are lost in the sums of squares: those by direct differences.
    inputs, words = np.nonzero(distances < _TINY * float(squares.max()))
    np.maximum(distances, 0.0, out=distances)
    np.sqrt(distances, out=distances)
    distances[inputs, words] = of_rows(space, rows[inputs], begin + words)
    return distances


def of_ids(space: Space, a: Rows, b: Rows) -> Floats:
    """Return the distances of pairs of inputs, -1 the unknown word: (n,) float64."""
    rows = space.size + 1
    return of_rows(space, a.astype(np.int64) % rows, b.astype(np.int64) % rows)


def of_rows(space: Space, a: Rows, b: Rows) -> Floats:
    """Return the distances of pairs of rows, (m,) float64."""
    return distances_of_pairs(space.vectors, a, b)


def squared_single(space: Space, a: Ints, b: Ints) -> Floats:
    """Return the squared distances of pairs of rows, in single precision: (m,)."""
    width = space.vectors.shape[1]
    out = np.empty(len(a))
    left, right = np.empty((2, min(_CHUNK, len(a)), width), np.float32)
    for part in blocks(len(a), _CHUNK):
        count = len(a[part])
        np.take(space.vectors, a[part], axis=0, out=left[:count], mode="clip")
        np.take(space.vectors, b[part], axis=0, out=right[:count], mode="clip")
        left[:count] -= right[:count]
        out[part] = np.einsum("md,md->m", left[:count], left[:count])
    return out


# Built once for all who ask for fewer.
_STORED = 64


def nearest_words(space: Space, listed: int) -> NDArray[np.integer]:
    """Return the nearest words of each row, nearest first: (V + 1, min(listed, V)).

    A word is first in its own row. Distances alone decide, no synonyms.
    """
    from dptext.lexicons.orders import build_orders

    # Lists by distance that are there anyway serve as well.
    if space.by_distance and space.neighbours[0].shape[1] >= min(listed, space.size):
        return space.neighbours[0][:, :listed]
    stored = min(max(listed, _STORED), space.size)

    def compute() -> cache.Arrays:
        return {"orders": build_orders(space.vectors, stored)[0]}

    def holds(kept: cache.Arrays) -> bool:
        orders = kept["orders"]
        return orders.shape == (space.size + 1, stored) and all(
            _nearest(space, row, orders[row]) for row in some(space.size + 1)
        )

    key = cache.key_of("nearest words", 1, space.lexicon.digest, space.identity, stored)
    kept = cache.arrays(key, compute, holds, "listing nearest words")
    return kept["orders"][:, :listed]


def _nearest(space: Space, row: int, listed: NDArray[np.integer]) -> bool:
    """Tell whether words are as near to a row as the nearest ones are."""
    lengths = lengths_from(space.vectors, row)[: space.size]
    least = np.partition(lengths, len(listed) - 1)[: len(listed)]
    return bool(np.allclose(np.sort(lengths[listed]), np.sort(least), rtol=1e-9))


def nearest_of_all(space: Space, row: int) -> tuple[int, float]:
    """Return the word nearest to a row, and how far it is."""
    lengths = lengths_from(space.vectors, row, slice(space.size))
    nearest = int(lengths.argmin())
    return nearest, float(lengths[nearest])


def farthest(space: Space) -> Floats:
    """Return the distance of each row to the farthest word: (V + 1,) float64."""
    from dptext.lexicons import search

    def compute() -> cache.Arrays:
        return {"farthest": search.farthest(space.vectors, space.size)}

    def holds(kept: cache.Arrays) -> bool:
        far = kept["farthest"]
        if far.shape != (space.size + 1,):
            return False
        rows = some(space.size + 1)
        seen = [lengths_from(space.vectors, row)[: space.size].max() for row in rows]
        return np.allclose(far[rows], seen, rtol=1e-9)

    key = cache.key_of("farthest word", 1, space.lexicon.digest, space.identity)
    return cache.arrays(key, compute, holds, "seeking farthest words")["farthest"]


def closest_pair(space: Space) -> float:
    """Return the smallest distance between two words of V; inf where V is 1."""
    if space.size < 2:
        return float("inf")
    near = nearest_words(space, 2)[: space.size, 1].astype(np.int64)
    return float(of_rows(space, np.arange(space.size), near).min())


class Remaining:
    """The words that are left of V, and the exact nearest among them."""

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        self._vectors = vectors
        self.alive = np.ones(size, bool)
        self._count = size
        self._ids = np.arange(size)
        lengths = np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64)
        self._longest = float(np.sqrt(lengths.max()))
        self._halves = (lengths[:size] / 2.0).astype(np.float32)
        self._table = vectors[:size]

    def __len__(self) -> int:
        """Return how many words are left."""
        return self._count

    def take(self, ids: Ints) -> None:
        """Take words away that are still there."""
        self.alive[ids] = False
        self._halves[np.searchsorted(self._ids, ids)] = np.inf
        self._count -= len(ids)
        if 4 * self._count < 3 * len(self._ids):
            kept = self.alive[self._ids]
            self._ids, self._halves = self._ids[kept], self._halves[kept]
            self._table = self._table[kept]

    def nearest(self, row: int, count: int) -> Ints:
        """Return the count nearest words that are left, fewer where fewer are."""
        count = min(count, self._count)
        if not count:
            return np.empty(0, np.int64)
        point = self._vectors[row]
        scores = self._halves - self._table @ point
        length = float(np.sqrt(np.einsum("d,d->", point, point, dtype=np.float64)))
        # By how much two scores, half a squared distance and a constant each, may
        # stand in wrong order in single precision.
        slack = (len(point) + 8.0) * 2.0**-22 * (length + self._longest) ** 2
        cut = float(np.partition(scores, count - 1)[count - 1]) + slack
        known = self._ids[np.flatnonzero(scores <= cut)]
        lengths = lengths_from(self._vectors, row, known)
        return known[np.argsort(lengths, kind="stable")[:count]]
