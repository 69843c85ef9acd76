"""The epsilon at which a reader of whole texts reaches a target, on a public text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dptext.errors import UsageError
from dptext.measures.in_context import Reading

# No smaller epsilon is tried; how far a larger one than the first is sought.
_LEAST, _GROWTH, _TIMES = 0.05, 1.2, 6
# The search ends where its limits are so near each other.
_NEAR = 0.01


class Crossing(NamedTuple):
    """An epsilon, and what the reader finds at it."""

    epsilon: float
    reading: Reading


def search(read: Callable[[float], Reading], target: float, start: float) -> Crossing:
    """Return about the largest epsilon at which a reader finds at most target.

    read returns what the reader finds at an epsilon, the same each time;
    start, an epsilon at which it may find more. Raises UsageError where target is below
    or above all that it finds.
    """
    best, high = _grown(read, target, start)
    low = best.epsilon if best is not None else 0.0
    while high - low > _NEAR * high and high > _LEAST:
        middle = (low + high) / 2.0
        reading = read(middle)
        if reading.success > target:
            high = middle
        else:
            low, best = middle, Crossing(middle, reading)
    if best is None:
        msg = (
            f"risk {target:.2%} is out of reach: even at epsilon {high:.2g} the reader "
            "finds more; give a larger risk"
        )
        raise UsageError(msg)
    return best


def _grown(
    read: Callable[[float], Reading], target: float, start: float
) -> tuple[Crossing | None, float]:
    """Return the last point that meets the target, from start up, and the next."""
    best, point = None, start
    for _ in range(_TIMES):
        reading = read(point)
        if reading.success > target:
            return best, point
        best, point = Crossing(point, reading), point * _GROWTH
    msg = (
        f"risk {target:.2%} is out of reach: at epsilon {point / _GROWTH:.3g} the "
        f"reader finds {reading.success:.2%} of this text; give a smaller risk"
    )
    raise UsageError(msg)
