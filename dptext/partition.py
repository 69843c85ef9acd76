"""Differentially private partition selection: items that many people have.

Weighted Gaussian partition selection (Gopi et al. 2020, "Differentially Private Set
Union", arXiv:2002.09745). Each person has at most CAP items, and gives each of n items
the weight 1 / sqrt(n), rounded down to a grid. The sum of each item gets discrete
Gaussian noise on that grid (dptext.noise), and items at or above a threshold are
released, with their noisy sums.

Changing one person's items changes the sums by at most 1 in L2, so that sums of other
people's items are (epsilon, delta / 2)-differentially private. Items of this person
only pass the threshold with probability at most delta / 2, by the exact tail of the
noise; without them both runs release the same items. Together: (epsilon, delta) when
the person is removed, and (epsilon - ln(1 - delta / 2), delta) the other way, which is
what `Law.stated` returns (docs/guarantees.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache

from dptext import noise, randomness
from dptext.errors import UsageError
from dptext.noise import NORMAL_REST, NORMAL_SLACK, WIDTH, gaussian_delta, largest_mu
from dptext.types import Ints

#: Most items of a person that count.
CAP = 64
# Where epsilon and delta lie.
LARGEST_EPSILON, LEAST_DELTA = 20.0, 1e-15
# The standard deviation of the grid's noise as that of the normal noise it equals.
_NORMAL_WIDTH = math.sqrt(WIDTH**2 - 1 / 12)
# Digits of sigma.
_DIGITS = 6
_STATED = Decimal("0.000001")
# Relative error of computed logarithms and probabilities, far above theirs.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Law:
    """The noise and threshold of a release."""

    epsilon: float
    delta: float
    #: Standard deviation of the noise, in weights of one item.
    sigma: float
    #: Least released sum, in steps.
    threshold: int

    @classmethod
    def calibrate(cls, epsilon: float, delta: float) -> Law:
        """Return the least noise for epsilon and delta. Raises UsageError."""
        if not 0 < epsilon <= LARGEST_EPSILON:
            raise UsageError(
                f"epsilon {epsilon:g}: give a number above 0, at most "
                f"{LARGEST_EPSILON:g}"
            )
        if not LEAST_DELTA <= delta < 1:
            raise UsageError(f"delta {delta:g}: give {LEAST_DELTA:g} or more, below 1")
        mu = largest_mu(epsilon, delta / 2 - _cut(epsilon))
        exact = Decimal(WIDTH / (mu * _NORMAL_WIDTH))
        last = Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1)
        sigma = float(exact.quantize(last, ROUND_CEILING))
        return cls(epsilon, delta, sigma, _threshold(sigma, delta / 2))

    @property
    def step(self) -> float:
        """Return the grid step, in units of one item's weight."""
        return self.sigma / WIDTH

    @property
    def rho(self) -> float:
        """Return the threshold, in units of one item's weight."""
        return self.threshold * self.step

    @property
    def stated(self) -> float:
        """Return the epsilon that holds in both directions, rounded up."""
        return stated(self.epsilon, self.delta)

    def weight(self, items: int) -> int:
        """Return the weight of each item of a person with this many, in steps."""
        return _weight(self.sigma, items)

    def problem(self) -> str:
        """Explain why noise or threshold is too small; "" if both are sufficient."""
        mu = WIDTH / (self.sigma * _NORMAL_WIDTH)
        half = self.delta / 2
        if gaussian_delta(self.epsilon, mu) + _cut(self.epsilon) > half * (1 + 1e-6):
            return f"sigma {self.sigma:g} is too small for its epsilon and delta"
        if self.threshold < _threshold(self.sigma, half):
            return f"rho {self.rho:g} is too small for its sigma and delta"
        return ""

    def add_noise(self, sums: Ints, bits: randomness.RandomBits) -> Ints:
        """Add noise to item sums (m,), in steps; bits (m,) of each item."""
        noisy: Ints = sums + noise.normal(bits, 1)[:, 0]
        return noisy


def stated(epsilon: float, delta: float) -> float:
    """Return the epsilon to state, which holds in both directions, rounded up."""
    slack = -math.log1p(-delta / 2) + 2 * CAP * NORMAL_SLACK
    return float(Decimal(epsilon + slack).quantize(_STATED, ROUND_CEILING))


def _cut(epsilon: float) -> float:
    """Return the probability that the noise table omits, for CAP items."""
    return 2 * CAP * NORMAL_REST * (1 + math.exp(epsilon))


@cache
def _weight(sigma: float, items: int) -> int:
    # The largest w with items * w^2 at most (WIDTH / sigma)^2.
    most = Fraction(WIDTH) ** 2 / (Fraction(str(sigma)) ** 2 * items)
    return math.isqrt(most.numerator // most.denominator)


@cache
def _threshold(sigma: float, chance: float) -> int:
    """Return the least threshold that one person's items pass with this chance."""
    return max(
        _weight(sigma, items)
        + _quantile(-math.expm1(math.log1p(-chance) / items) * (1 - _ROUNDING))
        for items in range(1, CAP + 1)
    )


def _quantile(chance: float) -> int:
    """Return the least k > 0 with P(noise >= k) at most `chance`."""
    most = int(Fraction(chance) * 2 * 2**127)
    # P(noise >= k) = P(|noise| > k - 1) / 2; complements fall, so they are negated.
    below = bisect_left(_complements(), -most)
    return below + 1


def tail(steps: int) -> Fraction:
    """Return the exact P(noise >= steps), for steps above 0."""
    complements = _complements()
    beyond = -complements[steps - 1] if steps <= len(complements) else 0
    return Fraction(beyond, 2 * 2**127)


@cache
def _complements() -> tuple[int, ...]:
    """Return -2^127 P(|noise| > j) for j = 0, 1, ...; they rise up to 0."""
    high, low = noise.normal_table()
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    return (*((first << 63 | second) - 2**127 for first, second in pairs), 0)
