"""Blocks as one HTML page, by templates, with charts as inline SVG.

A page is one file without scripts that loads nothing: a content security policy in it
says so to the browser. All text is escaped by Jinja2. A chart is drawn 460 units wide
and 284 high, with text of 13 and 14 units, and scales with the page: at 400 pixels its
text is about 11 pixels high.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dptext.report.blocks import TREATMENTS, Axis, Block, Chart, Page, Point, Section

if TYPE_CHECKING:
    from jinja2 import Template

# What would end a text, reorder it or be lost: shown as a replacement character.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

WIDE, HIGH = 460, 284
LEFT, RIGHT, TOP, BOTTOM = 56, WIDE - 14, 32, HIGH - 44
SERIES = 8
_CHARACTER = 7.5  # of a text of 14 units, on average; only to keep texts inside
_TICKS = 5
# Below, floating point loses digits.
_LEAST = 1e-300
# Values nearer to each other than this share of their size count as one.
_NEAR = 1e-9


def render(page: Page) -> bytes:
    """Return a page as UTF-8."""
    names = _names([section.title for section in page.sections])
    named = list(zip(page.sections, names, strict=True))
    # Boxes that follow each other stand side by side where there is room.
    rows = [list(row) for _, row in groupby(named, lambda each: _boxed(each[0]))]
    return (
        _template("page.html")
        .render(page=page, named=named, rows=rows, boxed=_boxed)
        .encode()
    )


def fragment(blocks: Sequence[Block]) -> str:
    """Return blocks as a part of another page, such as a notebook."""
    return _template("fragment.html").render(parts=blocks)


def _boxed(section: Section) -> bool:
    return section.boxed or section.tone is not None


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        kind=lambda block: type(block).__name__,
        # The number of a treatment's colour, 0 for one that is not known.
        series=lambda name: TREATMENTS.index(name) + 1 if name in TREATMENTS else 0,
        drawn=drawn,
    )
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    """Replace what cannot be shown in text; markup of the template stays as it is."""
    return _UNSHOWN.sub("\ufffd", value) if type(value) is str else value


def _names(titles: Sequence[str]) -> list[str]:
    """Return an id for each title, all different."""
    names: list[str] = []
    for title in titles:
        plain = unicodedata.normalize("NFKD", title.lower())
        name = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:40] or "part"
        while name in names:
            name += "-more"
        names.append(name)
    return names


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


class Curve(NamedTuple):
    """A line as it is drawn: number of its series, path, a note at each marker.

    labels are written beside the markers, where there are any.
    """

    name: str
    number: int
    path: str
    marks: tuple[tuple[float, float, str], ...]
    labels: tuple[tuple[float, float, str], ...] = ()


class Drawn(NamedTuple):
    """A chart as it is drawn; ticks are positions with what is written there."""

    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    labels: tuple[str, str]
    lines: tuple[Curve, ...]


def drawn(chart: Chart) -> Drawn:
    """Place a chart; points that are not finite are left out."""
    kept = [
        (
            name,
            [
                each
                for each in points
                if math.isfinite(each.x) and math.isfinite(each.y)
            ],
        )
        for name, points in chart.lines
    ]
    points = [point for _, line in kept for point in line]
    across = Scale.of([point.x for point in points], LEFT, RIGHT)
    up = Scale.of([point.y for point in points], BOTTOM, TOP)

    def line(number: int, name: str, points: Sequence[Point]) -> Curve:
        marks = []
        for each in points:
            shown = f"{chart.across.show(each.x)}, {chart.up.show(each.y)} {each.note}"
            x, y = round(across.at(each.x), 1), round(up.at(each.y), 1)
            marks.append((x, y, f"{name}: {shown}".rstrip()))
        path = " ".join(f"{x:g},{y:g}" for x, y, _ in marks)
        named = points if chart.labelled and not number else ()
        before = [y for _, y, _ in marks[:1] + marks]
        labels = tuple(
            # To the left of its marker, above or below the line that comes.
            (x - 5, y + 17 if y > last else y - 8, point.note)
            for point, (x, y, _), last in zip(named, marks, before, strict=False)
        )
        return Curve(name, number % SERIES, path, tuple(marks), labels)

    return Drawn(
        _ticks(across, chart.across),
        _ticks(up, chart.up),
        (_short(chart.across.label), _short(chart.up.label)),
        tuple(line(n, *each) for n, each in enumerate(kept)),
    )


def _ticks(scale: Scale, axis: Axis) -> tuple[tuple[float, str], ...]:
    return tuple((round(scale.at(tick), 1), axis.show(tick)) for tick in scale.ticks)


def _short(text: str) -> str:
    """Cut a label to the width of the chart; a table beside it has all."""
    most = int(RIGHT / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _step(least: float) -> float:
    """Return the round number, 1, 2 or 5 times a power of ten, at or above another."""
    power = 10.0 ** math.floor(math.log10(least))
    return float(next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999))
