"""Public distances between words of a space: pairs, nearest and farthest words.

Several mechanisms share these functions. Results depend only on lexicon and space;
slow ones are cached on disk. Single precision proposes candidates,
float64 decides; ties go to the smaller id.

Rows are 0 to V - 1 for words and V for the unknown word; ids are the same, with -1 for
the unknown word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.lexicons import search
from dptext.lexicons.orders import build_orders
from dptext.lexicons.search import distances_of_pairs, lengths_from
from dptext.spaces import Space, random_rows
from dptext.types import Floats, Ints, Rows, blocks

_CHUNK = 1024
# Squared distances below this share of the largest square are computed directly.
_TINY = 1e-6
# Lists of nearest words are built at least this long, once for all callers.
_STORED = 64


def distances_to_words(space: Space, rows: Ints, begin: int, end: int) -> Floats:
    """Return distances from rows (n,) to words begin to end: (n, end - begin)."""
    vectors, squares = space.precise
    # |a - b|^2 = |a|^2 - 2 a b + |b|^2
    distances: Floats = (-2.0 * vectors[rows]) @ vectors[begin:end].T
    distances += squares[None, begin:end]
    distances += squares[rows][:, None]
    # Small distances cancel out in that sum: those by direct differences.
    inputs, words = np.nonzero(distances < _TINY * float(squares.max()))
    np.maximum(distances, 0.0, out=distances)
    np.sqrt(distances, out=distances)
    distances[inputs, words] = distances_by_row(space, rows[inputs], begin + words)
    return distances


def distances_by_id(space: Space, a: Rows, b: Rows) -> Floats:
    """Return distances between ids a and b (n,): (n,) float64."""
    rows = space.size + 1
    return distances_by_row(space, a.astype(np.int64) % rows, b.astype(np.int64) % rows)


def distances_by_row(space: Space, a: Rows, b: Rows) -> Floats:
    """Return distances between rows a and b (m,): (m,) float64."""
    return distances_of_pairs(space.vectors, a, b)


def squared_single(space: Space, a: Ints, b: Ints) -> Floats:
    """Return squared distances between rows, in single precision: (m,)."""
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


def nearest_words(space: Space, listed: int) -> NDArray[np.integer]:
    """Return the nearest words of each row, nearest first: (V + 1, min(listed, V)).

    Each word comes first in its own row. Synonyms that may come
    first in a lexicon's lists are ignored: only distances count.
    """
    # Existing lists are good enough if they are ordered by distance alone.
    if space.by_distance and space.neighbours[0].shape[1] >= min(listed, space.size):
        return space.neighbours[0][:, :listed]
    stored = min(max(listed, _STORED), space.size)

    def compute() -> cache.Arrays:
        return {"orders": build_orders(space.vectors, stored)[0]}

    def holds(kept: cache.Arrays) -> bool:
        orders = kept["orders"]
        return orders.shape == (space.size + 1, stored) and all(
            _are_nearest(space, row, orders[row]) for row in random_rows(space.size + 1)
        )

    key = cache.key_of("nearest words", 1, space.lexicon.digest, space.identity, stored)
    kept = cache.arrays(key, compute, holds, "listing nearest words")
    return kept["orders"][:, :listed]


def _are_nearest(space: Space, row: int, listed: NDArray[np.integer]) -> bool:
    """Return whether the listed words are as near to a row as the nearest ones."""
    lengths = lengths_from(space.vectors, row)[: space.size]
    least = np.partition(lengths, len(listed) - 1)[: len(listed)]
    return bool(np.allclose(np.sort(lengths[listed]), np.sort(least), rtol=1e-9))


def nearest_word(space: Space, row: int) -> tuple[int, float]:
    """Return the word nearest to a row and its distance."""
    lengths = lengths_from(space.vectors, row, slice(space.size))
    nearest = int(lengths.argmin())
    return nearest, float(lengths[nearest])


def farthest_distances(space: Space) -> Floats:
    """Return the distance from each row to the farthest word: (V + 1,) float64."""

    def compute() -> cache.Arrays:
        return {"farthest": search.farthest(space.vectors, space.size)}

    def holds(kept: cache.Arrays) -> bool:
        far = kept["farthest"]
        if far.shape != (space.size + 1,):
            return False
        rows = random_rows(space.size + 1)
        seen = [lengths_from(space.vectors, row)[: space.size].max() for row in rows]
        return np.allclose(far[rows], seen, rtol=1e-9)

    key = cache.key_of("farthest word", 1, space.lexicon.digest, space.identity)
    return cache.arrays(key, compute, holds, "seeking farthest words")["farthest"]


def closest_pair(space: Space) -> float:
    """Return the smallest distance between two different words; inf if V is 1."""
    if space.size < 2:
        return float("inf")
    near = nearest_words(space, 2)[: space.size, 1].astype(np.int64)
    return float(distances_by_row(space, np.arange(space.size), near).min())


class RemainingWords:
    """A shrinking set of words, with exact nearest-word search in it."""

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        """Start with all words: vectors (V + 1, d), size V."""
        self._vectors = vectors
        #: Whether each word is in the set: (V,).
        self.alive = np.ones(size, bool)
        self._count = size
        # The searched words: those in the set, and removed ones, with an infinite
        # score, until the next compaction.
        self._ids = np.arange(size)
        lengths = np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64)
        self._longest = float(np.sqrt(lengths.max()))
        # |v|^2 / 2: |v - x|^2 orders words as |v|^2 / 2 - v x does.
        self._halves = (lengths[:size] / 2.0).astype(np.float32)
        self._table = vectors[:size]

    def __len__(self) -> int:
        """Return the number of words in the set."""
        return self._count

    def remove(self, ids: Ints) -> None:
        """Remove words, which must all be in the set."""
        self.alive[ids] = False
        self._halves[np.searchsorted(self._ids, ids)] = np.inf
        self._count -= len(ids)
        # Compact when a quarter is gone: then each search pays little for the rest.
        if 4 * self._count < 3 * len(self._ids):
            kept = self.alive[self._ids]
            self._ids, self._halves = self._ids[kept], self._halves[kept]
            self._table = self._table[kept]

    def nearest(self, row: int, count: int) -> Ints:
        """Return up to `count` words of the set nearest to a row, in order."""
        count = min(count, self._count)
        if not count:
            return np.empty(0, np.int64)
        point = self._vectors[row]
        scores = self._halves - self._table @ point
        length = float(np.sqrt(np.einsum("d,d->", point, point, dtype=np.float64)))
        # Bound on the rounding error of a difference of two scores in single precision:
        # words within it of the cut are candidates, and float64 decides among them.
        slack = (len(point) + 8.0) * 2.0**-22 * (length + self._longest) ** 2
        cut = float(np.partition(scores, count - 1)[count - 1]) + slack
        candidates = self._ids[np.flatnonzero(scores <= cut)]
        lengths = lengths_from(self._vectors, row, candidates)
        return candidates[np.argsort(lengths, kind="stable")[:count]]
