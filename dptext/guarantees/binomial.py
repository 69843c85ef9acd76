"""Exact binomial tails and confidence limits, and Student's t, without scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache


# Many texts, words and draws have the same counts.
@lru_cache(maxsize=4096)
def limits(successes: float, trials: float, alpha: float) -> tuple[float, float]:
    """Return two-sided confidence limits at confidence 1 - alpha.

    lo = BetaInv(alpha/2; k, N-k+1), 0 for k = 0; hi = BetaInv(1-alpha/2; k+1, N-k), 1
    for k = N. An effective number of trials may be fractional.
    """
    k, n = successes, trials
    low = 0.0 if k == 0 else _root(lambda p: beta(k, n - k + 1, p) - alpha / 2)
    high = 1.0 if k == n else _root(lambda p: beta(k + 1, n - k, p) - 1 + alpha / 2)
    return low, high


def at_least(k: int, n: int, p: float) -> float:
    """Return the probability of at least k successes in n."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else beta(k, n - k + 1, p)


def at_most(k: int, n: int, p: float) -> float:
    """Return the probability of at most k successes in n."""
    return at_least(n - k, n, 1.0 - p)


def beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    Uses its continued fraction (Lentz) on the side where it converges fast.
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logs + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


# Each share of a file, and each class of words, asks for the same quantile.
@lru_cache(maxsize=64)
def student(degrees: int, alpha: float) -> float:
    """Return the two-sided quantile of Student's t distribution.

    Uses the incomplete beta function: P(|T| > t) = I_x(d / 2, 1 / 2), x = d / (d +
    t^2).
    """
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        outside = beta(degrees / 2, 0.5, degrees / (degrees + middle**2))
        if middle == 0.0 or outside > alpha:
            low = middle
        else:
            high = middle
    return high


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if rising(middle) < 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
