"""Each vector is stretched so that its coordinates cover the vocabulary's range.

[v_min, v_max] are the smallest and largest coordinate of all words of the public
vocabulary (never of a text). This is the space interval scaled by (v_max - v_min) / 2
and shifted: the same mechanism at another epsilon. A constant vector becomes the middle
of the range in every coordinate.

Lipschitz constant: (v_max - v_min) / 2 times that of interval; computed exactly over
the vocabulary.
Source: the sensitivity thesis, h_norm (printed constant: 125.8031, for coordinates of
its training data; a loose bound); docs/guarantees.md, Spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import spaces
from dptext.spaces import interval


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """No parameters."""

    METRIC = (
        "Euclidean distance of the vectors stretched to the vocabulary's range each"
    )
    PUBLISHED_CONSTANT = 125.8031

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Stretch coordinates to [v_min, v_max]: (V + 1, d)."""
        words = vectors[:-1]
        low, high = float(words.min()), float(words.max())
        share = (interval.stretched(vectors) + 1.0) / 2.0
        return (low + share * (high - low)).astype(np.float32)
