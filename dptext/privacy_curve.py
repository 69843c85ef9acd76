"""The exact privacy curve of Gaussian noise: delta from epsilon and mu, and back.

Two inputs at distance D under noise of standard deviation sigma differ by mu = D /
sigma (Gaussian DP), and delta(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon
Phi(-mu/2 - epsilon/mu). Source: Balle and Wang 2018, theorem 8, arXiv:1805.06530.
"""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache(maxsize=4096)
def mu_of(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta(epsilon; mu) <= delta, by bisection."""
    low, high = 0.0, 1.0
    while delta_of(epsilon, high) <= delta:
        low, high = high, 2.0 * high
    middle = (low + high) / 2.0
    while low < middle < high:
        if delta_of(epsilon, middle) <= delta:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2.0
    # Rounded down by more than the error of the formula.
    return low * (1.0 - 1e-12) - 1e-15


def delta_of(epsilon: float, mu: float) -> float:
    """Return the exact delta at epsilon of two normal distributions mu apart.

    With a = epsilon/mu - mu/2 and b = epsilon/mu + mu/2, e^epsilon phi(b) = phi(a), so
    that delta = phi(a) (R(a) - R(b)), R(t) = Phi(-t) / phi(t): nothing overflows.
    """
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    density = math.exp(-(near**2) / 2.0) / math.sqrt(2.0 * math.pi)
    if near < 0.0:
        return _upper(near) - density * mills(far)
    return density * (mills(near) - mills(far))


def _upper(value: float) -> float:
    """Return Phi(-value), the chance of a standard normal beyond value."""
    return math.erfc(value / math.sqrt(2.0)) / 2.0


def mills(value: float) -> float:
    """Return the chance beyond value >= 0 over the density there."""
    if value < 5.0:
        return _upper(value) * math.sqrt(2.0 * math.pi) * math.exp(value**2 / 2.0)
    # Laplace's continued fraction 1 / (t + 1 / (t + 2 / (t + ...))), from its end.
    tail = value
    for step in range(160, 0, -1):
        tail = value + step / tail
    return 1.0 / tail


def epsilon_of(mu: float, delta: float) -> float:
    """Return the least epsilon with delta(epsilon; mu) <= delta, rounded up."""
    if delta_of(0.0, mu) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while delta_of(high, mu) > delta:
        low, high = high, 2.0 * high
    middle = (low + high) / 2.0
    while low < middle < high:
        if delta_of(middle, mu) <= delta:
            high = middle
        else:
            low = middle
        middle = (low + high) / 2.0
    return high * (1.0 + 1e-12)
