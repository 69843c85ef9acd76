"""Where the lines of a chart lie: positions, ticks at round numbers, markers.

A chart is drawn 460 units wide and 284 high, with text of 13 and 14 units, and scales
with the page: at 400 pixels its text is about 11 pixels high.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dptext.report.blocks import Axis, Chart, Point

WIDE, HIGH = 460, 284
LEFT, RIGHT, TOP, BOTTOM = 56, WIDE - 14, 32, HIGH - 44
SERIES = 8
# A marker of each series; no two differ by colour alone.
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-4-4h8v8h-8z",
    "M0-5l5 9h-10z",
    "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
    "M0 5l5-9h-10z",
    "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
    "M-5-2.5h10v5h-10z",
    "M-2.5-5h5v10h-5z",
)
_CHARACTER = 7.5  # of a text of 14 units, on average; only to keep texts inside
_TICKS = 5
# Below, floating point loses digits.
_LEAST = 1e-300
# Values nearer to each other than this share of their size count as one.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from low to high, drawn from start to stop; ticks lie between them."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float], start: float, stop: float) -> Scale:
        """Return a scale for finite values, from 0 to 1 where there are none."""
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


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is drawn: number of its series, path, and a note at each marker."""

    name: str
    number: int
    path: str
    marks: tuple[tuple[float, float, str], ...]

    @property
    def shape(self) -> str:
        """Return the marker of the series."""
        return MARKS[self.number]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as it is drawn; ticks are positions with what is written there."""

    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    labels: tuple[str, str]
    lines: tuple[Line, ...]


def drawn(chart: Chart) -> Drawn:
    """Place a chart; points that are not finite are left out."""
    kept = [(name, list(filter(_finite, points))) for name, points in chart.lines]
    points = [point for _, line in kept for point in line]
    across = Scale.of([point.x for point in points], LEFT, RIGHT)
    up = Scale.of([point.y for point in points], BOTTOM, TOP)

    def line(number: int, name: str, points: Sequence[Point]) -> Line:
        marks = []
        for each in points:
            shown = f"{chart.across.show(each.x)}, {chart.up.show(each.y)} {each.note}"
            x, y = round(across.at(each.x), 1), round(up.at(each.y), 1)
            marks.append((x, y, f"{name}: {shown}".rstrip()))
        path = " ".join(f"{x:g},{y:g}" for x, y, _ in marks)
        return Line(name, number % SERIES, path, tuple(marks))

    return Drawn(
        _ticks(across, chart.across),
        _ticks(up, chart.up),
        (_short(chart.across.label), _short(chart.up.label)),
        tuple(line(n, *each) for n, each in enumerate(kept)),
    )


def _ticks(scale: Scale, axis: Axis) -> tuple[tuple[float, str], ...]:
    return tuple((round(scale.at(tick), 1), axis.show(tick)) for tick in scale.ticks)


def _finite(point: Point) -> bool:
    return math.isfinite(point.x) and math.isfinite(point.y)


def _short(text: str) -> str:
    """Cut a label to the width of the chart; a table beside it has all."""
    most = int(RIGHT / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _step(least: float) -> float:
    """Return the round number, 1, 2 or 5 times a power of ten, at or above another."""
    power = 10.0 ** math.floor(math.log10(least))
    return float(next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999))
