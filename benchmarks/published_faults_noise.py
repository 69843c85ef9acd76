"""The noise mechanisms as the authors' code of the comparative analysis runs them.

See published_faults. matrix (V + 1, d): zeros, then the vector of each word, zeros
where it has none; ids (n,) words, whose rows are ids + 1.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Matrix = NDArray[np.float32]
Wide = NDArray[np.float64]


def _points(
    matrix: Matrix,
    ids: Ids,
    epsilon: float,
    rng: np.random.Generator,
    root: Wide | None,
) -> Matrix:
    width = matrix.shape[1]
    noise = rng.standard_normal((len(ids), width))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    if root is not None:
        noise = noise @ root
    noise *= rng.gamma(width, 1.0 / epsilon, (len(ids), 1))
    return matrix[ids + 1] + noise.astype(np.float32)


def _scores(matrix: Matrix, points: Matrix) -> Matrix:
    """Return point . row - |row|^2 / 2: greatest where the row is nearest."""
    half = np.einsum("vd,vd->v", matrix, matrix) / 2.0
    scores: Matrix = points @ matrix.T - half
    return scores


def _nearest(matrix: Matrix, ids: Ids, points: Matrix) -> Ids:
    """Return the nearest row; where that is the row of zeros, the word itself."""
    out = np.empty(len(ids), np.int64)
    for begin in range(0, len(ids), 1024):
        part = slice(begin, begin + 1024)
        out[part] = _scores(matrix, points[part]).argmax(axis=1)
    return np.where(out == 0, ids, out - 1)


def cmp(matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """CMP."""
    return _nearest(matrix, ids, _points(matrix, ids, epsilon, rng, None))


@functools.lru_cache(maxsize=2)
def _root(scale: float, matrix: bytes, width: int) -> Wide:
    vectors = np.frombuffer(matrix, np.float32).reshape(-1, width).astype(np.float64)
    mixed = 0.2 * np.cov(vectors, rowvar=False) / scale + 0.8 * np.eye(width)
    values, axes = np.linalg.eigh(mixed)
    return np.asarray((axes * np.sqrt(values)) @ axes.T)


def mahalanobis(
    matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator
) -> Ids:
    """Divide the covariance by the variance of all entries, not to a trace of d."""
    scale = float(matrix.astype(np.float64).var())
    root = _root(scale, matrix.tobytes(), matrix.shape[1])
    return _nearest(matrix, ids, _points(matrix, ids, epsilon, rng, root))


def vickrey(matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Drop the nearest word whatever it is; softmax of -t d over second and third."""
    points = _points(matrix, ids, epsilon, rng, None)
    out = np.empty(len(ids), np.int64)
    for begin in range(0, len(ids), 1024):
        part = slice(begin, begin + 1024)
        scores = _scores(matrix, points[part])[:, 1:]
        best = np.argpartition(-scores, 3, axis=1)[:, :3]
        best = np.take_along_axis(
            best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1), 1
        )[:, 1:]
        gaps = points[part][:, None, :] - matrix[best + 1]
        distances = np.linalg.norm(gaps, axis=2)
        second = 1.0 / (1.0 + np.exp(-0.5 * (distances[:, 0] - distances[:, 1])))
        later = rng.random(len(best)) < second
        out[part] = best[np.arange(len(best)), later.astype(int)]
    return out
