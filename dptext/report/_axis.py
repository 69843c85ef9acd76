"""An axis of a chart: from values to positions, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_TICKS = 5
# Below, floating point loses digits.
_LEAST = 1e-300
# Values nearer to each other than this share of their size count as one.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from low to high, drawn from start to stop; ticks lie between them."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float], start: float, stop: float) -> Axis:
        """Return an axis for finite values, from 0 to 1 where there are none."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if high - low <= max(_NEAR * max(abs(low), abs(high)), _LEAST):
            around = max(abs(low) * 0.5, 0.5)
            low, high = low - around, high + around
        step = _step((high - low) / _TICKS)
        low, high = step * math.floor(low / step), step * math.ceil(high / step)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        ticks = tuple(step * n for n in range(first, last + 1))
        return cls(low, high, start, stop, ticks)

    def at(self, value: float) -> float:
        """Return where a value lies; outside the range, at its end."""
        value = min(max(value, self.low), self.high)
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def plain(value: float) -> str:
    """Write a number short: four digits."""
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "none"
    if math.isinf(value):
        return "unbounded"
    if 1e4 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _step(least: float) -> float:
    """Return the round number, 1, 2 or 5 times a power of ten, at or above another."""
    power = 10.0 ** math.floor(math.log10(least))
    return float(next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999))
