"""Vectors longer than 1 are scaled to length 1, others stay unchanged.

This "adapted unit length" is the projection on the unit ball, so no distance grows.

Lipschitz constant: at most 1 (up to the rounding of vectors to float32); over a
vocabulary the exact one may be far below. If every vector is at least 1 long this is
the space unit, so the 2.5349 printed for unit on such data should be at most 1, too.
Source: the sensitivity thesis, eq. 4.4 (printed constant: 1);
docs/guarantees.md, Spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import spaces


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """No parameters."""

    METRIC = "Euclidean distance of the vectors brought into the unit ball"
    PUBLISHED_CONSTANT = 1.0

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project the vectors onto the unit ball: (V + 1, d) float32."""
        wide = vectors.astype(np.float64)
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
        return np.asarray(wide / np.maximum(lengths, 1.0), np.float32)
