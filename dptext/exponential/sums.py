"""Z(x), the sum of the weights of all outputs, by one look at all pairs of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.exponential import tiles
from dptext.exponential.distribution import Weights


def of_all_words(weights: Weights, kind: type = np.float64) -> NDArray[np.float64]:
    """Return Z of all words: (V,), the last result kept.

    kind is the precision of distances and weights.
    """
    kept = weights.distribution.kept
    key = (weights.epsilon, kind)
    if key not in kept:
        kept.clear()
        kept[key] = _sums(weights, kind)
    return kept[key]


def _sums(weights: Weights, kind: type) -> NDArray[np.float64]:
    rate: NDArray[np.floating] = weights.rate.astype(kind)
    sums = np.zeros(weights.size)
    for rows, columns, tile in tiles.of_pairs(weights.space, kind):
        tile = weights.measure(tile)
        both = columns.start != rows.start
        # Seen from the columns, whose rates may be others.
        back = None
        if both and not weights.symmetric:
            back = np.exp(tile * -rate[columns])
        tile *= -rate[rows][:, None]
        np.exp(tile, out=tile)
        sums[rows] += tile.sum(axis=1)
        if both:
            sums[columns] += np.ones(len(tile), kind) @ (tile if back is None else back)
    return sums
