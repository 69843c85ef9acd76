"""Which words are nearer to some rows than a bound: by one matrix product, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.search import squared_error
from dptext.spaces import lengths_from


def nearer(
    vectors: NDArray[np.float32],
    size: int,
    rows: Sequence[int],
    bounds: NDArray[np.floating],
) -> Iterator[NDArray[np.int64]]:
    """Yield the words nearer to each row than its bound.

    vectors (V + 1, d), of which the first size are words; rows of n inputs; bounds (n,)
    distances, of which NaN has all words. Single precision proposes words, float64
    decides.
    """
    squares = np.einsum("vd,vd->v", vectors, vectors)
    lengths = np.sqrt(squares)
    products = vectors[rows] @ vectors[:size].T
    for row, bound, product in zip(rows, bounds.tolist(), products, strict=True):
        squared = squares[:size] + squares[row] - 2.0 * product
        squared -= squared_error(vectors.shape[1], lengths[:size] + lengths[row])
        proposed = np.flatnonzero(~(squared >= bound * bound))
        distances = lengths_from(vectors, row, proposed)
        yield proposed[~(distances >= bound)]
