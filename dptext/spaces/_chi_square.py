"""The upper tail of the chi-square distribution, also where it underflows."""

from __future__ import annotations

import math

_TERMS = 10_000


def log_tail(degrees: int, value: float) -> float:
    """Return ln P(chi-square > value), also where the probability underflows.

    The regularised incomplete gamma function: a series below the mean, Lentz's
    continued fraction above.
    """
    shape, x = degrees / 2.0, value / 2.0
    if x <= 0.0:
        return 0.0
    front = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1.0:
        return math.log1p(-math.exp(front) * _series(shape, x))
    return front + math.log(_fraction(shape, x))


def _series(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function over x^shape e^-x."""
    term = total = 1.0 / shape
    for step in range(1, _TERMS):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-17:
            break
    return total


def _fraction(shape: float, x: float) -> float:
    """Return the upper incomplete gamma function over x^shape e^-x."""
    odd = x + 1.0 - shape
    upper = 1e300
    lower = 1.0 / odd
    value = lower
    for step in range(1, _TERMS):
        part = -step * (step - shape)
        odd += 2.0
        lower = 1.0 / (part * lower + odd)
        upper = odd + part / upper
        change = upper * lower
        value *= change
        if abs(change - 1.0) < 1e-16:
            break
    return value
