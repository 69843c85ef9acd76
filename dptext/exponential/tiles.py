"""The distances of all pairs of words, tile by tile that stay in a cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.geometry import pairs
from dptext.spaces import Space

ROWS, COLUMNS = 256, 1024
# Squared distances below this share of the largest square are computed directly.
_TINY, _TINY_SINGLE = 1e-6, 1e-3


@dataclass(frozen=True, slots=True)
class Product:
    """Distances of words to some outputs, the squares of which are one product.

    left (V, d + 2), right (d + 2, n): their product is the squared distances.
    """

    space: Space
    outputs: NDArray[np.int64]
    left: NDArray[np.floating]
    right: NDArray[np.floating]
    tiny: float

    @classmethod
    def of(
        cls, space: Space, outputs: NDArray[np.int64], kind: type = np.float64
    ) -> Product:
        """Take the vectors of the outputs, in a precision."""
        vectors, squares = space.precise
        size = space.size
        left = np.empty((size, vectors.shape[1] + 2), kind)
        left[:, :-2] = -2.0 * vectors[:size]
        left[:, -2], left[:, -1] = squares[:size], 1.0
        right = np.empty((vectors.shape[1] + 2, len(outputs)), kind)
        right[:-2] = vectors[outputs].T
        right[-2], right[-1] = 1.0, squares[outputs]
        tiny = (_TINY if kind is np.float64 else _TINY_SINGLE) * float(squares.max())
        return cls(space, outputs, left, right, tiny)

    @classmethod
    def of_all(cls, space: Space, kind: type = np.float64) -> Product:
        """Take all words as outputs."""
        return cls.of(space, np.arange(space.size), kind)

    def distances(self, inputs: NDArray[np.int64], part: slice) -> NDArray[np.floating]:
        """Return the distances of inputs to the outputs of a slice: (n, m)."""
        tile: NDArray[np.floating] = self.left[inputs] @ self.right[:, part]
        if tile.min(initial=np.inf) >= self.tiny:
            np.sqrt(tile, out=tile)
            return tile
        # Small distances are lost in the sums of squares: those by direct differences.
        rows, words = np.nonzero(tile < self.tiny)
        np.maximum(tile, 0.0, out=tile)
        np.sqrt(tile, out=tile)
        outputs = self.outputs[part][words]
        tile[rows, words] = pairs.of_rows(self.space, inputs[rows], outputs)
        return tile


def of_pairs(
    space: Space, kind: type = np.float64
) -> Iterator[tuple[slice, slice, NDArray[np.floating]]]:
    """Yield rows, columns and the distances between: every pair of words once.

    Square tiles, where rows and columns are the same, hold their pairs twice.
    """
    size = space.size
    product = Product.of_all(space, kind)
    for begin in range(0, size, ROWS):
        end = min(begin + ROWS, size)
        rows, inputs = slice(begin, end), np.arange(begin, end)
        yield rows, rows, product.distances(inputs, rows)
        for left in range(end, size, COLUMNS):
            columns = slice(left, min(left + COLUMNS, size))
            yield rows, columns, product.distances(inputs, columns)
