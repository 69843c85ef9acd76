"""The epsilon at which the best attacker's success meets a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.adversaries import bayes
from dptext.errors import UsageError
from dptext.mechanisms import Channel

# The search looks at this many inputs; the answer is then checked with all of them.
_INPUTS = 3000
_GRID = np.geomspace(1e-2, 400.0, 60)
# An epsilon is rounded down to three decimals, so that it can be quoted.
_STEP = 1e-3


def epsilon_for(channel: Channel, target: float, prior: NDArray[np.float64]) -> float:
    """Return the largest epsilon up to which the success stays at or below target.

    Success need not grow with epsilon for every mechanism so a grid is
    searched upwards for the first crossing, which is then refined. Raises UsageError
    when the target is below what a guess without any output achieves, and for a
    mechanism without a closed law.
    """
    if channel.module.FAMILY == "noise":
        msg = f"{channel.name} has no closed law; give --epsilon instead of a risk"
        raise UsageError(msg)
    baseline = float(prior.max())
    if not baseline < target < 1.0:
        msg = (
            f"risk {target:.2%} is out of reach: a guess without any output already "
            f"succeeds for {baseline:.2%} of words; give a risk between these and 100%"
        )
        raise UsageError(msg)
    key = cache.key_of("calibrate", 1, *channel.identity, bayes.digest(prior), target)
    found = cache.numbers(key, lambda: {"epsilon": _search(channel, target, prior)})
    return float(found["epsilon"])


def _search(channel: Channel, target: float, prior: NDArray[np.float64]) -> float:
    size = len(prior)

    def success(epsilon: float, inputs: int) -> float:
        best = bayes.best_guesses(channel, prior, epsilon, inputs)
        return float(best.max(axis=0).sum())

    few = min(_INPUTS, size)
    guess = _crossing(lambda epsilon: success(epsilon, few), target, _GRID)
    # All inputs together reach the target at the same or a smaller epsilon.
    steps = guess * np.array([0.8, 0.9, 0.95, 0.98, 0.99, 1.0, 1.01])
    epsilon = _crossing(
        lambda epsilon: success(epsilon, size), target, steps, tolerance=5e-3
    )
    rounded = np.floor(epsilon / _STEP) * _STEP
    return float(round(rounded, 3)) if rounded > 0 else float(epsilon)


def _crossing(
    success: Callable[[float], float],
    target: float,
    grid: np.ndarray[Any, np.dtype[np.float64]],
    tolerance: float = 1e-4,
) -> float:
    """Return the last point before success first exceeds target, refined by halving."""
    low, high = float(grid[0]) / 2.0, float(grid[-1])
    for point in grid.tolist():
        if success(point) > target:
            high = point
            break
        low = point
    else:
        msg = (
            f"risk {target:.2%} is out of reach: with these parameters no epsilon up "
            f"to {low:g} makes a guess succeed that often; give a smaller risk"
        )
        raise UsageError(msg)
    while high - low > tolerance * high:
        middle = (low + high) / 2.0
        if success(middle) > target:
            high = middle
        else:
            low = middle
    return low
