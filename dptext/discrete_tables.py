"""Tables that discrete noise is drawn by, computed with whole numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# Steps of the grid for a standard deviation (normal) or for a factor of 2 (laplace).
WIDTH = 4096
_FIXED = 320  # bits after the point of fixed-point numbers
_END = 2.0**-140  # probabilities below this share of the largest are left out
_LOW = (1 << 63) - 1
# First bits that numbers are looked up by, of 64, and those that are left.
_FIRST = 16
_REST = np.uint64(64 - _FIRST)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Whole numbers in order, (m,) uint64, among which others are placed.

    firsts (2^16 + 1,): how many of them are below each multiple of 2^48. Most numbers
    need one comparison more, where a search by halves needs log2 m, one by one.
    """

    ordered: NDArray[np.uint64]
    firsts: NDArray[np.int32]

    @classmethod
    def of(cls, ordered: NDArray[np.uint64]) -> Lookup:
        """Take numbers in order."""
        multiples = np.arange(2**_FIRST, dtype=np.uint64) << _REST
        firsts = np.append(np.searchsorted(ordered, multiples), len(ordered))
        return cls(ordered, firsts.astype(np.int32))

    def searchsorted(
        self, numbers: NDArray[np.uint64], side: Literal["left", "right"]
    ) -> NDArray[np.int64]:
        """Return what np.searchsorted does: (n,) uint64 -> (n,)."""
        first_bits = (numbers >> _REST).view(np.int64)
        places = self.firsts[first_bits].astype(np.int64)
        # Of the table, with the same first bits.
        alike = self.firsts[first_bits + 1] - places
        one = self.ordered[np.minimum(places, len(self.ordered) - 1)]
        places += (alike > 0) & (one < numbers if side == "left" else one <= numbers)
        several = np.flatnonzero(alike > 1)
        places[several] = np.searchsorted(self.ordered, numbers[several], side=side)
        return places


@cache
def normal_lookup() -> Lookup:
    """Return a lookup by the first 64 bits of the normal table."""
    return Lookup.of(normal_table()[0])


@cache
def geometric_lookup() -> Lookup:
    """Return a lookup by the geometric table."""
    return Lookup.of(geometric_table())


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
