"""Tables that discrete noise is drawn by, computed with whole numbers alone."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

# Steps of the grid for a standard deviation (normal) or for a factor of 2 (laplace).
WIDTH = 4096
_FIXED = 320  # bits after the point of fixed-point numbers
_END = 2.0**-140  # probabilities below this share of the largest are left out
_LOW = (1 << 63) - 1


@cache
def normal_table() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return P(|k| <= j) of 2^127 for j = 0, 1, ...: its first 64 bits, and the rest.

    Weights by w_(j+1) = w_j r_j, r_(j+1) = r_j e^(-1 / s^2), in fixed point.
    """
    weight = 1 << _FIXED
    ratio = _exp_of_minus_one_over(2 * WIDTH**2)
    factor, end = ratio * ratio >> _FIXED, int(_END * 2.0**200) << (_FIXED - 200)
    total = 0
    sums: list[int] = []
    while weight > end:
        total += weight if not sums else 2 * weight
        sums.append(total)
        weight = weight * ratio >> _FIXED
        ratio = ratio * factor >> _FIXED
    shares = [(each << 127) // total for each in sums[:-1]]
    high = np.array([each >> 63 for each in shares], np.uint64)
    return high, np.array([each & _LOW for each in shares], np.uint64)


@cache
def geometric_table() -> NDArray[np.uint64]:
    """Return P(L <= j) of 2^64 for j = 0 ... 4094, P(L = j) ~ 2^(-j / 4096)."""
    root = 1 << (_FIXED - 1)
    for _ in range(WIDTH.bit_length() - 1):
        root = math.isqrt(root << _FIXED)
    power, shares = 1 << _FIXED, []
    for _ in range(WIDTH - 1):
        power = power * root >> _FIXED
        shares.append(((1 << _FIXED) - power) * 2 >> (_FIXED - 64))
    return np.array(shares, np.uint64)


def _exp_of_minus_one_over(number: int) -> int:
    """Return e^(-1 / number) in fixed point, by its series."""
    term = total = 1 << _FIXED
    for step in range(1, 60):
        term = -term // (number * step)
        total += term
    return total
