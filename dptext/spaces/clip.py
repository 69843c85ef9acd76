"""Each coordinate clipped to [low, high].

By default low and high are the 1st and the 99th percentile of all coordinates of the
words of the public vocabulary (never of a text): a public rule.

Lipschitz constant: at most 1, coordinate by coordinate; computed exactly over the
vocabulary.
Source: the sensitivity thesis, eq. 4.8 (printed constant: 1, right though its proof is
not; it clips to the range of its training data); docs/guarantees.md, Spaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import spaces
from dptext.errors import UsageError

_TAIL = 0.01  # share of coordinates below low, and above high, by the rule


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """Settings of the space; None: determined from the vocabulary."""

    METRIC = "Euclidean distance of the vectors with clipped coordinates"
    PUBLISHED_CONSTANT = 1.0

    low: Annotated[float, Meta(ge=-1e9, le=1e9)] | None = None
    high: Annotated[float, Meta(ge=-1e9, le=1e9)] | None = None

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Clip coordinates to low and high: (V + 1, d) float32.

        Raises UsageError if low is above high.
        """
        low, high = self.borders(vectors)
        if low > high:
            raise UsageError(f"space.low: {low:g} is above space.high: {high:g}")
        return np.clip(vectors, np.float32(low), np.float32(high))

    def borders(self, vectors: NDArray[np.float32]) -> tuple[float, float]:
        """Return low and high, as set or as computed from the vocabulary."""
        low, high = self.low, self.high
        words = vectors[:-1]
        if low is None:
            low = float(np.quantile(words, _TAIL, method="lower"))
        if high is None:
            high = float(np.quantile(words, 1.0 - _TAIL, method="higher"))
        return low, high
