"""Exact draws of an exponential variable, from bits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits


def exponential(bits: RandomBits, lane: int) -> NDArray[np.float64]:
    """Draw -ln(u), u uniform: (n,), from lanes lane, lane + 2, ...

    With w = 2^-(z + 2) (1 + m), z the zeros before the first one in a stream of bits, m
    uniform, u is w or 1 - w by a fair bit. So both very large and very small values
    keep their probability to about 2^-52 of it, however rare they are.
    """
    integers = bits.integers(lane)
    mantissa = RandomBits.unit(integers[:, 1])
    zeros = leading_zeros(integers[:, 0])
    open_ = np.flatnonzero(zeros == 64)
    while len(open_):
        lane += 2
        more = leading_zeros(bits.take(open_).integers(lane)[:, 0])
        zeros[open_] += more
        open_ = open_[more == 64]
    drawn = np.asarray((zeros + 2) * math.log(2.0) - np.log1p(mantissa), np.float64)
    # The lowest bit has no part in the mantissa.
    other = np.flatnonzero(integers[:, 1] & np.uint64(1))
    share = np.ldexp(1.0 + mantissa[other], -2 - zeros[other])
    drawn[other] = -np.log1p(-share)
    return drawn


def leading_zeros(integers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the zeros before the first one of each, 64 where there is none: (n,)."""
    # Halves of 32 bits are exact as float64, so frexp counts their digits.
    high = np.frexp((integers >> np.uint64(32)).astype(np.float64))[1].astype(np.int64)
    low = (integers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return np.where(high > 0, 32 - high, 64 - np.frexp(low)[1].astype(np.int64))
