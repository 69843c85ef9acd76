"""What the noise mechanisms share: multivariate Laplace noise, products of noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.types import Eps, Points

# Matrix products are only ever made of whole blocks of this many rows, so that a
# word's noise does not depend on the batch it came in.
_BLOCK = 256
# No coordinate needs to be larger; its products with vectors still fit a float32.
_FAR = 1e15
# Noise that is longer is beyond any limit in every direction; infinity is no number.
_LONGEST = 1e100
# A density that falls more steeply is no different to a float32.
_STEEP = 1e30


def radial(bits: RandomBits, width: int, eps: Eps) -> NDArray[np.float64]:
    """Return noise with density proportional to exp(-eps |z|): eps (n,) -> (n, d).

    A uniform direction and a Gamma(d, 1 / eps) length, drawn as sqrt(2 G) / eps times
    a standard normal vector, G ~ Gamma((d + 1) / 2, 1).
    """
    half = (width + 1) // 2
    # One more normal than coordinates: Gamma(1/2) is half a squared normal.
    normal = bits.normal(0, width + 1)
    lanes = (half + 1) // 2
    exponential = -np.log(bits.uniform(width, lanes)[:, :half])
    if width % 2:
        gamma = exponential.sum(axis=1)
    else:
        gamma = exponential[:, : width // 2].sum(axis=1) + normal[:, -1] ** 2 / 2.0
    with np.errstate(over="ignore"):
        scale = np.minimum(np.sqrt(2.0 * gamma) / eps, _LONGEST)
    return np.asarray(normal[:, :width] * scale[:, None])


def directed(
    noise: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split noise (n, d) into unit directions (n, d), 0 for none, and lengths (n,)."""
    lengths = np.linalg.norm(noise, axis=1)
    return noise / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths


def product(
    rows: NDArray[np.floating], matrix: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply rows by a matrix, the same in any batch: (n, d), (d, j) -> (n, j)."""
    out = np.empty((len(rows), matrix.shape[1]))
    block = np.zeros((_BLOCK, rows.shape[1]))
    for begin in range(0, len(rows), _BLOCK):
        part = rows[begin : begin + _BLOCK]
        block[: len(part)] = part
        out[begin : begin + len(part)] = (block @ matrix)[: len(part)]
    return out


def squared_distances(
    points: NDArray[np.floating], positions: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return |z - v|^2: (n, d), (m, d) -> (n, m), in the precision of the points."""
    positions = positions.astype(points.dtype, copy=False)
    width = points.shape[1]
    # One product with the lengths in it, in place of three passes over its result.
    left = np.empty((len(points), width + 2), points.dtype)
    np.multiply(points, -2, out=left[:, :width])
    left[:, width], left[:, -1] = 1, np.einsum("nd,nd->n", points, points)
    right = np.empty((len(positions), width + 2), points.dtype)
    right[:, :width], right[:, -1] = positions, 1
    right[:, width] = np.einsum("md,md->m", positions, positions)
    squared: NDArray[np.floating] = left @ right.T
    np.maximum(squared, 0, out=squared)
    return squared


def fallen(values: NDArray[np.floating], rates: Eps) -> NDArray[np.floating]:
    """Return -rate times each row, (n, m) in place; rates (n,), capped to be finite."""
    values *= -np.minimum(rates, _STEEP).astype(values.dtype)[:, None]
    return values


def on_grid(steps: NDArray[np.float64], step: float) -> NDArray[np.float32]:
    """Round points (n, d), given in steps, to whole ones, kept within `moved`'s limits.

    Not in single precision, which the result has: it holds 24 bits of each coordinate.
    """
    np.rint(steps, out=steps)
    steps *= step
    return np.clip(steps, -_FAR, _FAR, out=steps).astype(np.float32)


def moved(vectors: NDArray[np.floating], noise: NDArray[np.float64]) -> Points:
    """Add noise to vectors, both (n, d), kept within what a mapping can compare.

    The limit is post-processing, so that an absurdly small epsilon still finds a word.
    """
    return np.clip(vectors + noise, -_FAR, _FAR).astype(np.float32)
