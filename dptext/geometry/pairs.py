"""Distances of pairs of words in a space, exact in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.spaces import Space

_CHUNK = 1024
# Squared distances below this share of the largest square are computed directly.
_TINY = 1e-6


def to_words(
    space: Space, rows: NDArray[np.int64], begin: int, end: int
) -> NDArray[np.float64]:
    """Return the distances of some rows to the words begin to end: (n, end - begin)."""
    vectors, squares = space.precise
    distances: NDArray[np.float64] = (-2.0 * vectors[rows]) @ vectors[begin:end].T
    distances += squares[None, begin:end]
    distances += squares[rows][:, None]
    # Tiny distances are lost in the sums of squares: those by direct differences.
    inputs, words = np.nonzero(distances < _TINY * float(squares.max()))
    np.maximum(distances, 0.0, out=distances)
    np.sqrt(distances, out=distances)
    distances[inputs, words] = of_rows(space, rows[inputs], begin + words)
    return distances


def of_ids(
    space: Space, a: NDArray[np.integer], b: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the distances of pairs of inputs, -1 the unknown word: (n,) float64."""
    rows = space.size + 1
    return of_rows(space, a.astype(np.int64) % rows, b.astype(np.int64) % rows)


def of_rows(
    space: Space, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the distances of pairs of rows, (m,) float64."""
    out = np.empty(len(a))
    for begin in range(0, len(a), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        gap = space.vectors[a[part]].astype(np.float64)
        gap -= space.vectors[b[part]]
        out[part] = np.sqrt(np.einsum("md,md->m", gap, gap))
    return out


def squared_single(
    space: Space, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the squared distances of pairs of rows, in single precision: (m,)."""
    width = space.vectors.shape[1]
    out = np.empty(len(a))
    left, right = np.empty((2, min(_CHUNK, len(a)), width), np.float32)
    for begin in range(0, len(a), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        count = len(a[part])
        np.take(space.vectors, a[part], axis=0, out=left[:count], mode="clip")
        np.take(space.vectors, b[part], axis=0, out=right[:count], mode="clip")
        left[:count] -= right[:count]
        out[part] = np.einsum("md,md->m", left[:count], left[:count])
    return out
