"""Each vector is stretched so that its coordinates range from -1 to 1 (min-max).

x becomes 2 (x - min x) / (max x - min x) - 1. A constant vector has no extent and
becomes zero, the middle.

Lipschitz constant: none on all of R^d; over a vocabulary the exact one is computed, at
most 2 (1 + 3 sqrt(d)) / max(r, r') for two vectors of extents r, r' (max - min).
Source: the sensitivity thesis, eq. 4.6 (printed constant: 43.9050 = 2 sqrt(d) over the
smallest distance of its training data, a loose bound); docs/guarantees.md, Spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import spaces
from dptext.types import Floats


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """No parameters."""

    METRIC = "Euclidean distance of the vectors stretched to [-1, 1] each"
    PUBLISHED_CONSTANT = 43.9050

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Stretch each vector's coordinates to [-1, 1]: (V + 1, d) float32."""
        return stretched(vectors).astype(np.float32)


def stretched(vectors: NDArray[np.float32]) -> Floats:
    """Return 2 (x - min x) / (max x - min x) - 1 per row, 0 for constant rows."""
    wide = vectors.astype(np.float64)
    low = wide.min(axis=1, keepdims=True)
    extent = wide.max(axis=1, keepdims=True) - low
    share = np.divide(wide - low, extent, out=np.full_like(wide, 0.5), where=extent > 0)
    return np.asarray(2.0 * share - 1.0)
