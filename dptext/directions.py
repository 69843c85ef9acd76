"""Vectors by their directions alone."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# The precision of rows, kept.
Float = TypeVar("Float", bound=np.floating)


def unit(rows: NDArray[Float]) -> NDArray[Float]:
    """Return rows (n, d) at length 1; those of length 0 stay as they are."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    directions: NDArray[Float] = rows / lengths
    return directions
