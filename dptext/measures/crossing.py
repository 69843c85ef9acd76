"""Where a success that is measured at any epsilon crosses a target."""

from __future__ import annotations

import math
from collections.abc import Callable

Success = Callable[[float], float]
# No smaller epsilon is searched for with exact log-probabilities.
LEAST = 1e-4


def near(success: Success, target: float, point: float, top: float) -> float:
    """Return a crossing near a point, to 1e-4, or the top if there is none above."""
    if success(point) > target:
        return _down(success, target, point, 1e-4)
    low, step = point, 0.005
    while low < top:
        high = min(low * (1.0 + step), top)
        if success(high) > target:
            return _halve(success, target, low, high, 1e-4)
        low, step = high, min(2.0 * step, 0.5)
    return top


def first_crossing(
    success: Success,
    target: float,
    grid: list[float],
    tolerance: float,
    drift: float = math.inf,
) -> float | None:
    """Return the last point before success first exceeds target; None if never.

    Where success grows at most like exp(drift epsilon), points that surely meet the
    target are passed by.
    """
    low = safe = 0.0
    for point in grid:
        if point > safe:
            risk = success(point)
            if risk > target:
                return _halve(success, target, low, point, tolerance)
            safe = point + math.log(target / risk) / drift if risk else point
        low = point
    return None


def agreed(
    few: Success, every: Success, target: float, top: float, *, reached: bool
) -> float | None:
    """Return the crossing with all inputs, at most top if fewer inputs reached it.

    More inputs are more guesses to choose from, so success can only be larger. How much
    is much the same at nearby epsilons: so fewer inputs tell where to look next.
    """
    part = few(top)
    if part > target:
        top = _down(few, target, top, 2e-3)
        part = few(top)
    all_of = every(top)
    if all_of <= target:
        return top if reached or part > target * (1.0 - 1e-2) else None
    low, high = 0.0, top
    while high - low > 5e-3 * high and high > LEAST:
        wanted = target * part / all_of
        point = _down(few, wanted, high, 2e-3)
        if not low * 1.002 < point < high * 0.998:
            point = (low + high) / 2.0 if low else high * 0.99
        risk = every(point)
        if risk > target:
            high, part, all_of = point, few(point), risk
        else:
            low = point
            if risk > target * 0.995:
                break
    return low


def _down(success: Success, target: float, top: float, tolerance: float) -> float:
    """Return the first point below top that meets the target, by growing steps."""
    high, step = top, 0.01
    while high > LEAST:
        low = high * (1.0 - step)
        if success(low) <= target:
            return _halve(success, target, low, high, tolerance)
        high, step = low, min(2.0 * step, 0.5)
    return 0.0


def _halve(
    success: Success, target: float, low: float, high: float, tolerance: float
) -> float:
    """Narrow low, where success is at most target, and high, where it is more."""
    while high - low > tolerance * high and high > LEAST:
        middle = (low + high) / 2.0
        low, high = (low, middle) if success(middle) > target else (middle, high)
    return low
