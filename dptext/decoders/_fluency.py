"""The text that is closest and reads well: closeness and a language model together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.readers.pairs import PairReader, largest
from dptext.types import Ids, Released

# What a nat of the language model counts beside a closeness of 1. Chosen on training
# rows of AG News, SST-2 and IMDb (docs/decoding.md).
FLUENCY = 0.02
# So many of the candidates of a word may be written, the closest ones.
_WRITTEN = 8


def closest_text(
    reader: PairReader,
    released: Released,
    rows: Ids,
    closeness: NDArray[np.floating],
    fluency: float,
) -> Ids:
    """Return the words z of the largest sum of closeness + fluency * ln L(z): (n,).

    rows (k, n) to choose among, closeness (k, n) of each from -1 to 1, -inf where it
    may not be written; L is the model of pairs of a reader, to its weight.
    """
    # Numbers above 0, in whatever order of candidates those of equal closeness stand.
    above = np.where(np.isfinite(closeness), closeness + 2.0, 0.0).astype(np.float32)
    best = largest(above.T, _WRITTEN).T
    rows = np.take_along_axis(rows, best, axis=0)
    worth = np.take_along_axis(above, best, axis=0).astype(np.float64)
    nats = np.where(worth > 0.0, worth / fluency, -np.inf)
    return reader.fluent_path(released, rows, nats)
