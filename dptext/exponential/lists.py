"""Lists of nearest words, with distances that are computed as they are needed.

Rows lie in blocks, the most frequent words first. Where many rows of a block occur, all
its distances are computed at once, and kept in the cache folder for later runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.spaces import Space

# Numbers that are held at once, so that they stay in a cache of the processor.
_HELD = 2**18
# Distances of a block; how many are worth a file; and the part of its rows from which
# on all are computed.
_BLOCK = 2**20
_WORTH = 2**16
_MANY = 0.1
# Rows by which what was kept is looked at before it is used.
_LOOKED = 24
# Sums may be rounded otherwise on another machine.
_ROUNDED = 1e-12


@dataclass(frozen=True, slots=True)
class Lists:
    """The nearest words of the first m rows of a space.

    listed (m, k) words; far (m,) no other word is nearer; distances (m, k), filled in
    where known (m,); identity says of which vectors, "" where none are kept for later.
    """

    vectors: NDArray[np.float32] = field(repr=False)
    listed: NDArray[np.integer]
    far: NDArray[np.float64]
    distances: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    identity: str = ""

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        listed: NDArray[np.integer],
        far: NDArray[np.floating],
        identity: str = "",
    ) -> Lists:
        """Take lists; no distance is computed yet."""
        # np.empty takes no memory before it is written to.
        distances = np.empty(listed.shape)
        known = np.zeros(len(far), bool)
        return cls(
            vectors, listed, np.asarray(far, np.float64), distances, known, identity
        )

    @classmethod
    def of_all(cls, space: Space) -> Lists:
        """Take the nearest words of every input of a space."""
        return cls.of(space.vectors, *space.neighbours, _identity(space))

    @classmethod
    def of_frequent(cls, space: Space) -> Lists:
        """Take the longer lists of the most frequent words of a space."""
        return cls.of(space.vectors, *space.wide_neighbours, _identity(space))

    def __len__(self) -> int:
        """Return m."""
        return len(self.known)

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances to the listed words of some rows: (j,) -> (j, k)."""
        new = np.unique(rows[~self.known[rows]])
        if self.identity:
            self._learn_blocks(new)
            new = new[~self.known[new]]
        self.distances[new] = self._computed(new)
        self.known[new] = True
        return self.distances[rows]

    def _learn_blocks(self, new: NDArray[np.int64]) -> None:
        """Take all distances of the blocks many rows of which have occurred."""
        size = max(1, _BLOCK // self.listed.shape[1])
        numbers, counts = np.unique(new // size, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            block = slice(number * size, min((number + 1) * size, len(self)))
            rows = block.stop - block.start
            known = int(self.known[block].sum()) + count
            if known >= _MANY * rows and rows * self.listed.shape[1] >= _WORTH:
                self.distances[block] = self._kept(block)
                self.known[block] = True

    def _kept(self, block: slice) -> NDArray[np.float64]:
        """Return the distances of a block, computed once, then from the cache."""
        rows = np.arange(block.start, block.stop)
        listed = self.listed[block]
        key = cache.key_of("distances", self.identity, cache.digest(listed), len(self))

        def holds(kept: cache.Arrays) -> bool:
            looked = min(len(rows), _LOOKED)
            some = np.random.default_rng().choice(len(rows), looked, replace=False)
            distances = self._computed(rows[some])
            return kept["distances"].shape == listed.shape and np.allclose(
                kept["distances"][some], distances, rtol=_ROUNDED, atol=0.0
            )

        return cache.arrays(
            key,
            lambda: {"distances": self._computed(rows)},
            holds,
            "measuring distances of nearest words",
        )["distances"]

    def _computed(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        listed, width = self.listed.shape[1], self.vectors.shape[1]
        distances = np.empty((len(rows), listed))
        count = max(1, _HELD // (listed * width))
        gaps = np.empty((min(count, len(rows)), listed, width))
        for begin in range(0, len(rows), count):
            part = rows[begin : begin + count]
            gap = gaps[: len(part)]
            others = self.vectors[self.listed[part]]
            np.subtract(others, self.vectors[part][:, None], out=gap, dtype=np.float64)
            np.einsum("mkd,mkd->mk", gap, gap, out=distances[begin : begin + count])
        return np.sqrt(distances, out=distances)


def _identity(space: Space) -> str:
    return f"{space.lexicon.digest} {space.identity}"
