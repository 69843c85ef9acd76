"""Lists of nearest words, with distances that are computed as they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext.spaces import Space

# Numbers that are held at once, so that they stay in a cache of the processor.
_HELD = 2**18


@dataclass(frozen=True, slots=True)
class Lists:
    """The nearest words of the first m rows of a space.

    listed (m, k) words; far (m,) no other word is nearer; distances (m, k), filled in
    where known (m,).
    """

    vectors: NDArray[np.float32] = field(repr=False)
    listed: NDArray[np.integer]
    far: NDArray[np.float64]
    distances: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        listed: NDArray[np.integer],
        far: NDArray[np.floating],
    ) -> Lists:
        """Take lists; no distance is computed yet."""
        # np.empty takes no memory before it is written to.
        distances = np.empty(listed.shape)
        known = np.zeros(len(far), bool)
        return cls(vectors, listed, np.asarray(far, np.float64), distances, known)

    @classmethod
    def of_all(cls, space: Space) -> Lists:
        """Take the nearest words of every input of a space."""
        return cls.of(space.vectors, *space.neighbours)

    @classmethod
    def of_frequent(cls, space: Space) -> Lists:
        """Take the longer lists of the most frequent words of a space."""
        return cls.of(space.vectors, *space.wide_neighbours)

    def __len__(self) -> int:
        """Return m."""
        return len(self.known)

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances to the listed words of some rows, kept: (j, k)."""
        new = np.unique(rows[~self.known[rows]])
        self.distances[new] = self.computed(new)
        self.known[new] = True
        return self.distances[rows]

    def computed(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances to the listed words of some rows: (j, k)."""
        listed, width = self.listed.shape[1], self.vectors.shape[1]
        distances = np.empty((len(rows), listed))
        count = max(1, _HELD // (listed * width))
        gaps = np.empty((count, listed, width))
        for begin in range(0, len(rows), count):
            part = rows[begin : begin + count]
            gap = gaps[: len(part)]
            others = self.vectors[self.listed[part]]
            np.subtract(others, self.vectors[part][:, None], out=gap, dtype=np.float64)
            np.einsum("mkd,mkd->mk", gap, gap, out=distances[begin : begin + count])
        return np.sqrt(distances, out=distances)
