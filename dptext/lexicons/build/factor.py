"""From counts to dense rows: positive pointwise mutual information, then an SVD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Contexts are counted to this power, so that rare ones do not rule (Levy et al. 2015).
SMOOTHING = 0.75
OVERSAMPLING = 30
ITERATIONS = 4


def ppmi(counts: csr_matrix) -> csr_matrix:
    """Return the positive pointwise mutual information of (row, context) weights."""
    counts = counts.astype(np.float64)
    rows = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    share = contexts / contexts.sum()
    out = counts.tocoo()
    ratio = out.data / (rows[out.row] * share[out.col])
    out.data = np.log(np.maximum(ratio, 1.0))
    result = out.tocsr()
    result.eliminate_zeros()
    result.sort_indices()
    return result


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Return the sparse matrix with rows of length one; empty rows stay empty."""
    from scipy import sparse

    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return (sparse.diags(scale) @ matrix).tocsr()


def reduce(
    matrix: csr_matrix, dimensions: int, power: float, seed: int
) -> NDArray[np.float64]:
    """Return U * S**power of a randomized truncated SVD: (rows, dimensions).

    Halko, Martinsson, Tropp 2011, with a fixed seed; in each column the entry of
    largest size is positive.
    """
    rng = np.random.default_rng(seed)
    width = min(dimensions + OVERSAMPLING, *matrix.shape)
    basis = np.asarray(matrix @ rng.standard_normal((matrix.shape[1], width)))
    for _ in range(ITERATIONS):
        basis, _ = np.linalg.qr(basis)
        basis = np.asarray(matrix @ (matrix.T @ basis))
    basis, _ = np.linalg.qr(basis)
    small, sizes, _ = np.linalg.svd(np.asarray(matrix.T @ basis).T, full_matrices=False)
    left = (basis @ small)[:, :dimensions]
    tops = np.abs(left).argmax(axis=0)
    left *= np.where(left[tops, np.arange(left.shape[1])] < 0, -1.0, 1.0)
    return np.asarray(left * sizes[:dimensions] ** power)
