"""An axis of a chart: from values to places, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_TICKS = 5
# The least value on a logarithmic axis: below, floating point loses digits.
LEAST = 1e-300
# Values nearer to each other than this share of their size count as one.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from low to high, drawn from start to stop; ticks lie between them."""

    low: float
    high: float
    start: float
    stop: float
    log: bool
    ticks: tuple[float, ...]

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        start: float,
        stop: float,
        given: tuple[float, float] | None,
        log: bool,
    ) -> Axis:
        """Return an axis for finite values (given its range), from LEAST on if log."""
        low, high = given or (min(values, default=0.0), max(values, default=1.0))
        if log:
            low, high = _decades(low, high)
            return cls(low, high, start, stop, True, _logarithmic(low, high))
        if high - low <= max(_NEAR * max(abs(low), abs(high)), LEAST):
            around = max(abs(low) * 0.5, 0.5)
            low, high = low - around, high + around
        step = _step((high - low) / _TICKS)
        if given is None:
            low, high = step * math.floor(low / step), step * math.ceil(high / step)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        ticks = tuple(step * n for n in range(first, last + 1))
        return cls(low, high, start, stop, False, ticks)

    def at(self, value: float) -> float:
        """Return where a value lies; outside the range, at its end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            low = math.log(self.low)
            share = (math.log(value) - low) / (math.log(self.high) - low)
        else:
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


def _step(risk_estimate: float) -> float:
    """Return the round number, 1, 2 or 5 times a power of ten, at or above another."""
    power = 10.0 ** math.floor(math.log10(risk_estimate))
    return float(
        next(power * m for m in (1, 2, 5, 10) if power * m >= risk_estimate * 0.999)
    )


def _decades(low: float, high: float) -> tuple[float, float]:
    """Return a range that holds another and whose ends differ."""
    if low < LEAST or high < LEAST:
        return 1.0, 10.0
    return (low / 2, high * 2) if high - low <= _NEAR * high else (low, high)


def _logarithmic(low: float, high: float) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = range(first, last + 1)
    # A tick for each 1, 2 and 5 where few decades leave room, else for each decade.
    marks = (1, 2, 5) if last - first <= 3 else (1,)
    every = max(1, (last - first) // 6)
    ticks = (m * 10.0**n for n in decades[::every] for m in marks)
    return tuple(t for t in ticks if low * 0.999 <= t <= high * 1.001)
