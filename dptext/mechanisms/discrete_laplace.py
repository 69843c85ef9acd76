"""Discrete Laplace noise in each coordinate of clipped vectors, rounded to a grid.

c(x) = v min(1, C / |v|); z = g (round(c(x) / g) + K), P(K) ~ 2^(-|K| / 4096) in each
coordinate. The step g is such that two vectors, in sum over their coordinates, are at
most epsilon / (ln 2 / 4096) steps apart: that sum (L1) is at most sqrt(d) times the
largest distance, and at most the sum of the widths of the coordinates over V.

Guarantee: epsilon-LDP over all of V and unknown words, pure, of the program and not
only of the formula: points are whole steps of a grid, drawn from tables of whole
numbers. Two words n steps apart (L1, on the grid) lose n ln 2 / 4096 nats, no more.
Source: Dwork, McSherry, Nissim and Smith 2006; Ghosh, Roughgarden and Sundararajan
2009, arXiv:0811.2841; docs/embed.md.
Known gaps: an epsilon so small that the grid's step shows in it is refused. L1 grows
with the number of dimensions: discrete-gaussian needs less noise in many.
Example: dptext sanitize reviews.jsonl -f text --mechanism discrete-laplace --epsilon 25
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dptext.errors import UsageError
from dptext.mechanisms import Aim
from dptext.mechanisms.gaussian import ClippedParams, Discrete
from dptext.noise import LAPLACE_SLACK, WIDTH, laplace
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Guarantee, Ints

# The loss of one step, in nats.
_RATE = math.log(2.0) / WIDTH


@dataclass(frozen=True, slots=True)
class Params(ClippedParams):
    """Settings of discrete Laplace noise.

    sensitivity sets the bound on L1 distance: over the vocabulary, or the worst case
    2 C sqrt(d), which holds for any vectors.
    """

    def prepare(self, space: Space, aim: Aim) -> DiscreteLaplace:
        """Clip all vectors."""
        return DiscreteLaplace(self, space, self.clipped(space))


@dataclass(frozen=True, eq=False)
class DiscreteLaplace(Discrete):
    """Laplace noise in whole steps of a grid."""

    params: Params

    @cached_property
    def sensitivity_l1(self) -> float:
        """Return a bound on the L1 distance that the noise must hide."""
        by_length = math.sqrt(self.width) * self.sensitivity
        if self.params.sensitivity == "worst":
            return by_length
        widths = np.ptp(self.clipped.astype(np.float64), axis=0)
        return min(by_length, float(widths.sum()) or by_length) * (1.0 + 1e-12)

    def step(self, epsilon: float) -> float:
        """Return the step of the grid."""
        # Steps that two vectors may be apart, less those that rounding may add: half a
        # step for each coordinate of each of the two.
        steps = epsilon / _RATE - self.width * (1.0 + 1e-9)
        if steps <= self.width:
            # Steps so long that all vectors are rounded to 0: they reveal nothing.
            return 4.0 * self.longest
        step = self.sensitivity_l1 / steps
        return step + self.width * self.unrounded(step) / steps

    def supports(self, epsilon: float) -> None:
        """Raise UsageError for an epsilon that rounding to the grid would exhaust."""
        if epsilon / _RATE <= 3.0 * self.width:
            raise UsageError(
                f"epsilon: {epsilon:.3g} is too small for a grid in {self.width} "
                f"dimensions; give {3.0 * self.width * _RATE:.2g} or more"
            )

    def spread(self, epsilon: float) -> float:
        """Return the standard deviation: about sqrt(2) steps over ln 2 / 4096."""
        return math.sqrt(2.0) * self.step(epsilon) / _RATE

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp("Dwork et al. 2006, on a grid")

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that the noise table may add."""
        return 2.0 * self.width * LAPLACE_SLACK

    def steps(self, bits: RandomBits) -> Ints:
        """Draw discrete Laplace noise in steps: (n, d)."""
        return laplace(bits, self.width)
