"""Discrete Gaussian noise on clipped vectors that are rounded to a grid first.

c(x) = v min(1, C / |v|); z = g (round(c(x) / g) + K), K discrete Gaussian in each
coordinate with standard deviation 4096, so that the grid's step is g = sigma / 4096.
Rounding takes two vectors at most g sqrt(d) farther apart, which sigma makes good.

Guarantee: (epsilon, delta)-LDP over all of V and unknown words, as gaussian has it,
but of the program and not only of the formula: points are whole steps of a grid, drawn
from tables of whole numbers. mu-Gaussian DP, up to 2e-13 nats a coordinate.
Source: Canonne, Kamath and Steinke 2020, arXiv:2004.00010; Balle and Wang 2018,
theorem 8, arXiv:1805.06530; docs/embed.md.
Known gaps: an epsilon so small that the grid's step shows in it is refused.
Example: dptext sanitize reviews.jsonl -f text --mechanism discrete-gaussian --epsilon 8
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dptext.errors import UsageError
from dptext.mechanisms import Aim, gaussian
from dptext.mechanisms.gaussian import Discrete, Gaussian
from dptext.noise import NORMAL_REST, NORMAL_SLACK, WIDTH, largest_mu, normal
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Ints

# The normal noise that the discrete one is a rounding of has a variance smaller by 1/12
# of a squared step.
_SHEPPARD = 1.0 - 1.0 / (12.0 * WIDTH**2)


@dataclass(frozen=True, slots=True)
class Params(gaussian.Params):
    """Settings of discrete Gaussian noise."""

    def prepare(self, space: Space, aim: Aim) -> DiscreteGaussian:
        """Clip all vectors."""
        return DiscreteGaussian(self, space, self.clipped(space))


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(Discrete, Gaussian):
    """Gaussian noise in whole steps of a grid."""

    params: Params

    def _table_delta(self, epsilon: float) -> float:
        """Return the delta added by truncating and rounding the noise table."""
        odds = 1.0 + math.exp(min(epsilon, 700.0))
        return odds * self.width * NORMAL_REST

    def _mu(self, epsilon: float) -> float:
        """Return mu after rounding to the grid."""
        delta, spent = self.params.delta, self._table_delta(epsilon)
        # If the table takes more than half of delta, `numerical_slack` is infinite.
        delta -= spent if spent <= delta / 2.0 else 0.0
        mu = largest_mu(epsilon, delta) * math.sqrt(_SHEPPARD)
        return mu - math.sqrt(self.width) / WIDTH * (1.0 + 1e-9)

    def sigma(self, epsilon: float) -> float:
        """Return the noise's standard deviation per coordinate."""
        mu = self._mu(epsilon)
        if mu <= math.sqrt(self.width) / WIDTH:
            # Steps so long that all vectors are rounded to 0: they reveal nothing.
            return 4.0 * self.longest * WIDTH
        sigma = self.sensitivity / mu
        more = self.unrounded(sigma / WIDTH)
        return sigma + math.sqrt(self.width) * more / mu

    def supports(self, epsilon: float) -> None:
        """Raise UsageError for an epsilon that rounding to the grid would exhaust."""
        if self._mu(epsilon) <= math.sqrt(self.width) / WIDTH:
            raise UsageError(
                f"epsilon: {epsilon:.3g} with delta {self.params.delta:.3g} is too "
                f"small for a grid in {self.width} dimensions; give larger ones"
            )

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that the table may add; inf if it uses too much delta."""
        if self._table_delta(epsilon) > self.params.delta / 2.0:
            return math.inf
        return 2.0 * self.width * NORMAL_SLACK

    def steps(self, bits: RandomBits) -> Ints:
        """Draw discrete Gaussian noise in steps: (n, d)."""
        return normal(bits, self.width)
