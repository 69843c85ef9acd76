"""Logarithms of probabilities and published bounds on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.types import Ids


def of_known_words(
    bound: NDArray[np.float64] | float, a: Ids, b: Ids
) -> NDArray[np.float64]:
    """Return a published bound; inf for the unknown word: papers say nothing of it."""
    return np.where((a < 0) | (b < 0), np.inf, bound)


def log_normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of weights with rows that sum to 1, in place: (n, V)."""
    log_weights -= log_weights.max(axis=1, keepdims=True)
    log_weights -= np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
    return log_weights
