"""Every vector is scaled to length 1, so that distances are at most 2.

Zero vectors have no direction and stay unchanged.

Lipschitz constant: computed exactly over the vocabulary, at most 1 / sqrt(r r') for the
two least lengths r, r'.
Source: the sensitivity thesis, eq. 4.2 (printed constant: 2.5349 = 2 over the smallest
distance of its training data, a loose bound); docs/guarantees.md, Spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import spaces
from dptext.noise import unit


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """No parameters."""

    METRIC = "Euclidean distance of the vectors scaled to length 1"
    PUBLISHED_CONSTANT = 2.5349

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scale the vectors to length 1: (V + 1, d) float32."""
        return unit(vectors.astype(np.float64)).astype(np.float32)
