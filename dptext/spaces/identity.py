"""The lexicon's unchanged vectors.

Lipschitz constant: 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import spaces


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """No parameters."""

    METRIC = spaces.ORIGINAL

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors unchanged: (V + 1, d) float32."""
        return vectors
