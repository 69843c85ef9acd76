"""Whole numbers as noise, drawn exactly: discrete Gaussian and discrete Laplace.

Both have one fixed width, 4096 steps of a grid; whoever adds them to a vector chooses
how long a step is. A draw compares random bits with a table of whole numbers that is
computed with whole numbers, so that no rounding of floats has a part in it.

normal: P(k) ~ exp(-k^2 / 2 s^2), s = 4096 (Canonne, Kamath and Steinke 2020,
arXiv:2004.00010). It is normal noise of variance s^2 - 1/12 rounded to whole numbers
(Sheppard's correction), but for a factor within e^(+-NORMAL_SLACK) of each probability
and a chance of NORMAL_REST: so it keeps the exact privacy curve of that normal noise,
which is rounding, post-processing, of noise on whole numbers (docs/embed.md).
laplace: P(k) ~ 2^(-|k| / 4096), without bounds, each probability within
e^(+-LAPLACE_SLACK) of that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.discrete_tables import WIDTH as WIDTH
from dptext.discrete_tables import geometric_lookup, normal_lookup, normal_table
from dptext.randomness import RandomBits

# ln P / P' of the two laws above, for |k| up to 14 s: k^4 / (2880 s^8) + ...
NORMAL_SLACK = 1e-13
# Rounding of the table's 60 000 entries to 2^-127, and what lies beyond its end.
NORMAL_REST = 2.0**-100
LAPLACE_SLACK = 2.0**-51

Whole = NDArray[np.int64]


def normal(bits: RandomBits, width: int) -> Whole:
    """Draw discrete Gaussians of standard deviation 4096: (n, width) int64."""
    drawn = bits.integers(0, width)
    high, low = drawn[:, 0::2].ravel(), drawn[:, 1::2].ravel()
    steps, rest = normal_table()
    size = normal_lookup().searchsorted(high, "left")
    open_ = np.flatnonzero(steps[np.minimum(size, len(steps) - 1)] == high)
    for at in open_.tolist():  # the first 64 bits do not decide
        while size[at] < len(steps) and steps[size[at]] == high[at]:
            if rest[size[at]] > low[at] >> np.uint64(1):
                break
            size[at] += 1
    return _signed(size, low).reshape(len(bits), width)


def laplace(bits: RandomBits, width: int) -> Whole:
    """Draw discrete Laplace noise, P(k) ~ 2^(-|k| / 4096): (n, width) int64.

    A fair sign and a geometric size 4096 H + L; -0 is drawn anew, as 0 would come
    twice. H counts zeros before the first one in a stream of bits, L is from a table.
    """
    drawn = bits.integers(0, width)
    rows, lane = np.arange(len(bits)), width
    out = np.zeros((len(bits), width), np.int64)
    waiting = np.ones((len(bits), width), bool)
    blocks = np.zeros((len(bits), width), np.int64)
    while True:
        high, low = drawn[:, 0::2], drawn[:, 1::2]
        zeros = np.minimum(leading_zeros(low.ravel()).reshape(low.shape), 63)
        blocks += zeros
        size = geometric_lookup().searchsorted(high.ravel(), "right")
        size = size.reshape(high.shape) + WIDTH * blocks
        done = waiting & (zeros < 63) & ~((size == 0) & (low & np.uint64(1) == 1))
        out[rows[:, None], np.arange(width)] = np.where(
            done, _signed(size, low), out[rows]
        )
        # A stream of zeros goes on in the next lanes; what is refused starts anew.
        blocks = np.where(waiting & (zeros == 63), blocks, 0)
        waiting &= ~done
        left = np.flatnonzero(waiting.any(axis=1))
        if not len(left):
            return out
        rows, waiting, blocks = rows[left], waiting[left], blocks[left]
        drawn = bits.take(rows).integers(lane, width)
        lane += width


def _signed(size: Whole, low: NDArray[np.uint64]) -> Whole:
    """Give sizes the sign that the lowest bit says."""
    return np.where(low & np.uint64(1) == 1, -size, size).astype(np.int64)


def leading_zeros(integers: NDArray[np.uint64]) -> Whole:
    """Count the zeros before the first one of each, 64 where there is none: (n,)."""
    # Halves of 32 bits are exact as float64, so frexp counts their digits.
    high = np.frexp((integers >> np.uint64(32)).astype(np.float64))[1].astype(np.int64)
    low = (integers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    zeros: Whole = np.where(high > 0, 32 - high, 64 - np.frexp(low)[1].astype(np.int64))
    return zeros
