"""Discrete Gaussian noise on clipped vectors that are rounded to a grid first.

c(x) = v min(1, C / |v|); z = g (round(c(x) / g) + K), K discrete Gaussian in each
coordinate with standard deviation 4096, so that the grid's step is g = sigma / 4096.
Rounding takes two vectors at most g sqrt(d) farther apart, which sigma makes good.

Guarantee: (epsilon, delta)-LDP over all of V and unknown words, as gaussian has it,
but of the program and not only of the formula: points are whole steps of a grid, drawn
from tables of whole numbers. mu-Gaussian DP, but for 2e-13 nats a coordinate.
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

# Normal noise of which the discrete one is a rounding has less variance by 1/12 step.
_SHEPPARD = 1.0 - 1.0 / (12.0 * WIDTH**2)


@dataclass(frozen=True, slots=True)
class Params(gaussian.Params):
    """clip: C; delta: the chance left over, for each word.

    sensitivity: the largest distance of clipped vectors, exact over the "vocabulary"
    or, whatever the vocabulary, the "worst" case 2 C.
    """

    def prepare(self, space: Space, aim: Aim) -> DiscreteGaussian:
        """Clip every vector."""
        return DiscreteGaussian(self, space, self.clipped(space))


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(Discrete, Gaussian):
    """Gaussian noise of whole steps."""

    params: Params

    def _rest(self, epsilon: float) -> float:
        """Return what the end and the rounding of the table may add to delta."""
        odds = 1.0 + math.exp(min(epsilon, 700.0))
        return odds * self.width * NORMAL_REST

    def _left(self, epsilon: float) -> float:
        """Return mu less what rounding vectors to the grid may add to it."""
        delta, rest = self.params.delta, self._rest(epsilon)
        # Where more than half of delta is left out nothing is claimed.
        delta -= rest if rest <= delta / 2.0 else 0.0
        mu = largest_mu(epsilon, delta) * math.sqrt(_SHEPPARD)
        return mu - math.sqrt(self.width) / WIDTH * (1.0 + 1e-9)

    def sigma(self, epsilon: float) -> float:
        """Return the standard deviation of the noise in each coordinate."""
        left = self._left(epsilon)
        if left <= math.sqrt(self.width) / WIDTH:
            # So long steps that all vectors are rounded to 0: nothing is told.
            return 4.0 * self.longest * WIDTH
        sigma = self.sensitivity / left
        more = self.unrounded(sigma / WIDTH)
        return sigma + math.sqrt(self.width) * more / left

    def supports(self, epsilon: float) -> None:
        """Refuse an epsilon that rounding to the grid takes up."""
        if self._left(epsilon) <= math.sqrt(self.width) / WIDTH:
            msg = (
                f"epsilon: {epsilon:.3g} with delta {self.params.delta:.3g} is too "
                f"small for a grid in {self.width} dimensions; give larger ones"
            )
            raise UsageError(msg)

    def numerical_slack(self, epsilon: float) -> float:
        """Return what the table of the noise may add, in nats; inf beyond delta."""
        if self._rest(epsilon) > self.params.delta / 2.0:
            return math.inf
        return 2.0 * self.width * NORMAL_SLACK

    def steps(self, bits: RandomBits) -> Ints:
        """Draw discrete Gaussian noise in steps: (n, d)."""
        return normal(bits, self.width)
