"""Greedy one-dimensional chains of the vocabulary.

A chain starts at a word drawn by a public seed and goes on to the nearest word that it
has not visited; where all listed neighbours are visited, all words that are left are
searched. So each step is the nearest one left, but a chain must jump where it has used
up a region: positions on it are no measure of meaning. An unknown word stands where the
word nearest to its row does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.geometry import neighbours
from dptext.spaces import Space

_LISTED = 64
_AROUND = 8
_PAIRS = 200_000


@dataclass(frozen=True, slots=True)
class Chains:
    """words (c, V), that at each position; positions (c, V + 1), that of each row."""

    words: NDArray[np.int32]
    positions: NDArray[np.int32]

    @classmethod
    def of(cls, space: Space, count: int, seed: int) -> Chains:
        """Build each chain once for a lexicon, space and seed; then from the cache."""
        words = np.stack([_chain(space, seed, one) for one in range(count)])
        positions = np.empty((count, space.size + 1), np.int32)
        rows = np.arange(count)[:, None]
        positions[rows, words] = np.arange(space.size, dtype=np.int32)
        nearest, _ = neighbours.nearest_of_all(space, space.size)
        positions[:, -1] = positions[:, nearest]
        return cls(words, positions)

    @property
    def size(self) -> int:
        """Return V."""
        return int(self.words.shape[1])

    def distances(
        self, a: NDArray[np.integer], b: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Return the largest distance over the chains, in positions, of pairs: (n,)."""
        gap = self.positions[:, a].astype(np.int64) - self.positions[:, b]
        return np.asarray(np.abs(gap).max(axis=0))

    def nearest(self) -> NDArray[np.int64]:
        """Bound the distance of each word to its nearest other word: (V,).

        Exact for one chain; for several the neighbours on each are looked at.
        """
        nearest = np.full(self.size, self.size, np.int64)
        steps = (*range(-_AROUND, 0), *range(1, _AROUND + 1))
        for chain in self.words:
            for step in steps if len(self.words) > 1 else (-1, 1):
                inside = np.arange(max(0, -step), self.size - max(0, step))
                words, others = chain[inside], chain[inside + step]
                distances = self.distances(words, others)
                nearest[words] = np.minimum(nearest[words], distances)
        return nearest

    def median(self) -> float:
        """Return the median distance of pairs of words, drawn with a fixed seed."""
        if self.size < 2:
            return 0.0
        pairs = np.random.default_rng(1).integers(0, self.size, (2, _PAIRS))
        pairs = pairs[:, pairs[0] != pairs[1]]
        return float(np.median(self.distances(*pairs)))


def _chain(space: Space, seed: int, number: int) -> NDArray[np.int32]:
    key = cache.key_of("chain", 1, space.lexicon.digest, space.identity, seed, number)

    def holds(kept: cache.Arrays) -> bool:
        # Any order of the words is a chain; one that lacks a word is none.
        return np.array_equal(np.sort(kept["chain"]), np.arange(space.size))

    def compute() -> cache.Arrays:
        return {"chain": _build(space, seed, number)}

    arrays = cache.arrays(key, compute, holds, "laying chains through the words")
    return arrays["chain"].astype(np.int32, copy=False)


def _build(space: Space, seed: int, number: int) -> NDArray[np.int32]:
    digest = hashlib.blake2b(b"chain %d of seed %d" % (number, seed)).digest()
    word = int.from_bytes(digest[:8], "big") % space.size
    near = neighbours.nearest_words(space, _LISTED)
    left = neighbours.Remaining(space.vectors, space.size)
    chain = np.empty(space.size, np.int32)
    for step in range(space.size):
        chain[step] = word
        left.take(np.array([word]))
        free = near[word][left.alive[near[word]]]
        if not len(free):
            free = left.nearest(word, 1)
        word = int(free[0]) if len(free) else -1
    return chain
