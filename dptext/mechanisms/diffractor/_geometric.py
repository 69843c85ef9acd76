"""Two-sided geometric noise on a line with two ends, whatever the rate is.

P(K = k) ~ exp(-rate |k|). K is 0 with probability tanh(rate / 2); else its sign is a
fair bit and its size 1 + floor(E / rate), E a standard exponential. So each outcome
keeps its probability to about 2^-50 of it for each step on the way: no two large
numbers are subtracted, and a size beyond the line is the same end whatever it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.discrete import leading_zeros
from dptext.randomness import RandomBits
from dptext.types import Eps

Positions = NDArray[np.int64]
# exp(-rate) of a larger rate has lost digits.
_STEEPEST = 700.0


@dataclass(frozen=True, slots=True)
class Geometric:
    """Noise on a chain of so many words; the ends take what lies beyond them."""

    size: int
    scale: float

    def rate(self, eps: Eps) -> NDArray[np.float64]:
        """Return epsilon: (n,)."""
        return eps

    def cut(self, eps: Eps) -> NDArray[np.float64]:
        """Return that every distance counts: (n,)."""
        return np.full(len(eps), np.inf)

    def log_totals(self, inputs: Positions, eps: Eps) -> NDArray[np.float64]:
        """Return 0: all normalising is done by the outputs: (n,)."""
        return np.zeros(len(inputs))

    def log_outputs(self, outputs: Positions, eps: Eps) -> NDArray[np.float64]:
        """Return ln of what is the same for all inputs, larger at the ends: (n, m)."""
        rate = eps / self.scale
        ends = -np.log1p(np.exp(-rate)) if self.size > 1 else np.zeros(len(eps))
        inside = ends + np.log(-np.expm1(-rate))
        at_end = (outputs == 0) | (outputs == self.size - 1)
        return np.where(at_end[None, :], ends[:, None], inside[:, None])

    def moved(
        self, positions: Positions, eps: Eps, up: NDArray[np.bool_], bits: RandomBits
    ) -> Positions:
        """Add noise and cut it at the ends: (n,); up (n,) are fair bits."""
        rate = eps / self.scale
        if (rate == rate[:1]).all():
            rate = rate[:1]
        stays = exponential(bits, 1) >= log_of_moves(rate)
        with np.errstate(over="ignore"):
            beyond = exponential(bits, 2) / rate
        steps = 1 + np.minimum(beyond, self.size).astype(np.int64)
        ends = np.clip(positions + np.where(up, steps, -steps), 0, self.size - 1)
        return np.where(stays, positions, ends)

    def numerical_slack(self, epsilon: float, loss: float) -> float:
        """Return the nats that finite uniforms may add.

        Every output keeps its probability to about 2^-50 of it for each step on the
        way, as long as exp(-eps / scale) is a number.
        """
        if epsilon / self.scale > _STEEPEST:
            return math.inf
        return 2.0**-48 * (self.size + 128.0)


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
