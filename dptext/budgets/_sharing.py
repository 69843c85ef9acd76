"""Shares of a total, in proportion to weights, within bounds for each word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
# What is never given away, so that rounded sums stay below the total.
_HELD_BACK = 2.0**-40


def normalized(values: Column, texts: NDArray[np.int64], count: int) -> Column:
    """Return values that sum to 1 over each of count texts; equal ones where all are 0.

    values (n,) >= 0; texts (n,) the text of each.
    """
    sums = np.bincount(texts, values, minlength=count)
    sizes = np.bincount(texts, minlength=count)
    even = 1.0 / np.maximum(sizes, 1)
    shares = np.divide(values, sums[texts], out=even[texts], where=(sums > 0)[texts])
    return np.asarray(shares)


def fill(
    weights: Column, texts: NDArray[np.int64], totals: Column, low: Column, high: Column
) -> Column:
    """Return clip(factor * weight, low, high), one factor a text, that sum to totals.

    weights (n,) > 0; totals, low, high (r,), low <= high. Where low is too much for
    all, each word gets an equal part; where high is too little, the rest of the total
    is not spent. Exact: what passes a bound is held there and the rest shared anew;
    whichever side passes by more is certain to be at its bound in the end, so nothing
    that is held is ever let go again.
    """
    count = len(totals)
    sizes = np.bincount(texts, minlength=count)
    totals = totals * (1.0 - _HELD_BACK)
    floor = np.minimum(low, totals / np.maximum(sizes, 1))[texts]
    ceiling = np.maximum(high[texts], floor)
    # Where the total is but the floors, or all the caps, there is nothing to share.
    full = (high * sizes <= totals)[texts]
    free = (low * sizes < totals)[texts] & ~full
    eps = np.where(full, ceiling, floor)
    while free.any():
        fixed = np.bincount(texts, np.where(free, 0.0, eps), minlength=count)
        sums = np.bincount(texts, np.where(free, weights, 0.0), minlength=count)
        factor = (totals - fixed) / np.where(sums > 0, sums, 1.0)
        wanted = np.where(free, factor[texts] * weights, eps)
        over = np.bincount(texts, np.maximum(wanted - ceiling, 0), minlength=count)
        under = np.bincount(texts, np.maximum(floor - wanted, 0), minlength=count)
        above = free & (wanted > ceiling) & (over >= under)[texts]
        below = free & (wanted < floor) & (over < under)[texts]
        eps = np.where(above, ceiling, np.where(below, floor, wanted))
        held = above | below
        # A text without anything held is done.
        again = np.bincount(texts, held, minlength=count) > 0
        free &= again[texts] & ~held
    return np.asarray(np.clip(eps, floor, ceiling))
