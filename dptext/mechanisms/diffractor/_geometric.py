"""Two-sided geometric noise on a line with two ends, whatever the rate is.

P(K = k) ~ exp(-rate |k|). K is 0 with probability tanh(rate / 2); else its sign is a
fair bit and its size 1 + floor(E / rate), E a standard exponential. So each outcome
keeps its probability to about 2^-50 of it for each step on the way: no two large
numbers are subtracted, and a size beyond the line is the same end whatever it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits

# exp(-rate) of a larger rate has lost digits.
STEEPEST = 700.0


def moved(
    position: NDArray[np.int64],
    rate: NDArray[np.float64],
    up: NDArray[np.bool_],
    size: int,
    bits: RandomBits,
) -> NDArray[np.int64]:
    """Add noise to positions and cut it at 0 and size - 1: (n,).

    rate (n,) > 0 nats a step; up (n,) fair bits; the rest from lanes 1, 2, ...
    """
    if (rate == rate[:1]).all():
        rate = rate[:1]
    stays = exponential(bits, 1) >= log_of_moves(rate)
    with np.errstate(over="ignore"):
        whole = exponential(bits, 2) / rate
    steps = 1 + np.minimum(whole, size).astype(np.int64)
    ends = np.clip(position + np.where(up, steps, -steps), 0, size - 1)
    return np.where(stays, position, ends)


def log_of_moves(rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -ln tanh(rate / 2), exact to a few roundings for small and large rates."""
    few = np.exp(-rate)
    with np.errstate(divide="ignore"):
        small, large = np.log(-np.expm1(-rate)), np.log1p(-few)
    stays: NDArray[np.float64] = np.where(rate < 0.5, small, large)
    return np.log1p(few) - stays


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
    zeros: NDArray[np.int64] = np.where(
        high > 0, 32 - high, 64 - np.frexp(low)[1].astype(np.int64)
    )
    return zeros
