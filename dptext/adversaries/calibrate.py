"""The epsilon at which the best attacker's success meets a target."""

from __future__ import annotations

from collections.abc import Callable

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

    Success need not grow with epsilon for every mechanism, so a grid is searched
    upwards for the first crossing, which is then refined. Raises UsageError when the
    target is below what a guess without any output achieves, and for a mechanism
    without a closed law.
    """
    if not channel.exact:
        msg = f"{channel.name} has no closed law; give --epsilon instead of a risk"
        raise UsageError(msg)
    baseline = float(prior.max())
    if not baseline < target < 1.0:
        msg = (
            f"risk {target:.2%} is out of reach: a guess without any output already "
            f"succeeds for {baseline:.2%} of words; give a risk between these and 100%"
        )
        raise UsageError(msg)
    key = cache.key_of("calibrate", 2, *channel.identity, bayes.digest(prior), target)
    found = cache.numbers(key, lambda: {"epsilon": _search(channel, target, prior)})
    return float(found["epsilon"])


def _search(channel: Channel, target: float, prior: NDArray[np.float64]) -> float:
    size = len(prior)
    few = min(_INPUTS, size)

    def success(epsilon: float, inputs: int = size) -> float:
        best = bayes.best_guesses(channel, prior, epsilon, inputs)
        return float(best.max(axis=0).sum())

    found = _first_crossing(lambda epsilon: success(epsilon, few), target)
    if few < size:
        top = _GRID[-1] if found is None else found
        found = _last_below(success, target, float(top), reached=found is not None)
    if found is None:
        msg = (
            f"risk {target:.2%} is out of reach: with these parameters no epsilon up "
            f"to {_GRID[-1]:g} makes a guess succeed that often; give a smaller risk"
        )
        raise UsageError(msg)
    steps = np.floor(found / _STEP)
    if steps < 1:
        msg = (
            f"risk {target:.4%} is too near to what a guess without any output "
            f"achieves, {float(prior.max()):.4%}; give a larger risk"
        )
        raise UsageError(msg)
    return float(round(steps * _STEP, 3))


def _first_crossing(success: Callable[[float], float], target: float) -> float | None:
    """Return the last point before success first exceeds target; None if never."""
    low = 0.0
    for point in _GRID.tolist():
        if success(point) > target:
            return _halve(success, target, low, point, tolerance=1e-4)
        low = point
    return None


def _last_below(
    success: Callable[[float], float], target: float, top: float, *, reached: bool
) -> float | None:
    """Return the crossing with all inputs, at most top if some inputs reached it there.

    More inputs are more guesses to choose from, so success can only be larger. The
    steps down grow, since the crossing is most often close.
    """
    if success(top) <= target:
        return top if reached else None
    high, step = top, 0.02
    while high > _STEP:
        low = high * (1.0 - step)
        if success(low) <= target:
            return _halve(success, target, low, high, tolerance=5e-3)
        high, step = low, min(2.0 * step, 0.5)
    return 0.0


def _halve(
    success: Callable[[float], float],
    target: float,
    low: float,
    high: float,
    tolerance: float,
) -> float:
    """Narrow low, where success is at most target, and high, where it is more."""
    while high - low > tolerance * high and high > _STEP:
        middle = (low + high) / 2.0
        if success(middle) > target:
            high = middle
        else:
            low = middle
    return low
