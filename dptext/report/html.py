"""Renders blocks as one HTML page, from templates, with charts as inline SVG.

A page is a single file without scripts that loads nothing: its content security policy
enforces this. All text is escaped by Jinja2. A chart is drawn 460 units wide
and 284 high, with text of 13 and 14 units, and scales with the page: at 400 pixels its
text is about 11 pixels high. In a separate image, for papers, colours and dashes are
attributes: programs that convert SVG to PDF ignore style sheet variables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dptext.report.blocks import TREATMENTS, Axis, Block, Chart, Page

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
# Of each series: no two differ by colour alone.
_COLOURS = (
    "#57606a",
    "#0b62c4",
    "#b35900",
    "#1a7f37",
    "#a11d87",
    "#007a87",
    "#8a5a44",
    "#5b3fc4",
)
_DASHES = ("none", "none", "7 4", "2 4", "9 3 2 3", "4 2", "12 5", "1 3")
assert len(_COLOURS) == len(_DASHES) == SERIES
_LINE = 20  # height of a line of the legend
# Below, floating point loses digits.
_LEAST = 1e-300
# Values nearer to each other than this share of their size count as one.
_NEAR = 1e-9


def render(page: Page) -> bytes:
    """Render a page as UTF-8."""
    return _template("page.html").render(page=page).encode()


def fragment(blocks: Sequence[Block]) -> str:
    """Render blocks as an HTML fragment for another page, such as a notebook."""
    return _template("fragment.html").render(parts=blocks)


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
    """Replace characters that cannot be displayed; template markup is unchanged."""
    return _UNSHOWN.sub("\ufffd", value) if type(value) is str else value


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values from low to high to positions from start to stop, with ticks."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[float, ...]

    @classmethod
    def fit(cls, values: Sequence[float], start: float, stop: float) -> Scale:
        """Return a scale for finite values; 0 to 1 if there are none."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if high - low <= max(_NEAR * max(abs(low), abs(high)), _LEAST):
            around = max(abs(low) * 0.5, 0.5)
            low, high = low - around, high + around
        # The round number, 1, 2 or 5 times a power of ten, at or above a fifth.
        least = (high - low) / _TICKS
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= least * 0.999)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = tuple(step * n for n in range(first, last + 1))
        return cls(low=ticks[0], high=ticks[-1], start=start, stop=stop, ticks=ticks)

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the range."""
        value = min(max(value, self.low), self.high)
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


class Curve(NamedTuple):
    """A chart line with positions."""

    name: str
    #: Number of its series, which decides the colour.
    number: int
    #: Points as in SVG.
    path: str
    #: Position and note of each marker.
    marks: list[tuple[float, float, str]]
    #: Position and text of labels beside markers.
    labels: list[tuple[float, float, str]]


class Drawn(NamedTuple):
    """A chart with positions."""

    #: Position and label of each tick of the horizontal axis.
    across: list[tuple[float, str]]
    #: The same of the vertical axis.
    up: list[tuple[float, str]]
    #: Labels of both axes.
    labels: tuple[str, str]
    lines: list[Curve]


def drawn(chart: Chart) -> Drawn:
    """Lay out a chart; non-finite points are dropped."""
    kept = [
        (name, [each for each in points if math.isfinite(each.x + each.y)])
        for name, points in chart.lines
    ]
    points = [point for _, line in kept for point in line]
    across = Scale.fit([point.x for point in points], LEFT, RIGHT)
    up = Scale.fit([point.y for point in points], BOTTOM, TOP)
    curves = []
    for number, (name, line) in enumerate(kept):
        marks, labels = [], []
        last = math.inf
        for each in line:
            shown = f"{chart.across.show(each.x)}, {chart.up.show(each.y)} {each.note}"
            x, y = round(across.at(each.x), 1), round(up.at(each.y), 1)
            marks.append((x, y, f"{name}: {shown}".rstrip()))
            # To the left of its marker, above or below the line that comes.
            if chart.labelled and not number:
                labels.append((x - 5, y + 17 if y > last else y - 8, each.note))
            last = y
        path = " ".join(f"{x:g},{y:g}" for x, y, _ in marks)
        curves.append(
            Curve(
                name=name, number=number % SERIES, path=path, marks=marks, labels=labels
            )
        )
    axes = _ticks(across, chart.across), _ticks(up, chart.up)
    return Drawn(*axes, (_short(chart.across.label), _short(chart.up.label)), curves)


def _short(text: str) -> str:
    """Truncate a label to the chart's width; the table beside it has it in full."""
    most = int(RIGHT / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _ticks(scale: Scale, axis: Axis) -> list[tuple[float, str]]:
    return [(round(scale.at(tick), 1), axis.show(tick)) for tick in scale.ticks]


def picture(chart: Chart) -> str:
    """Render a chart with its legend as SVG."""
    placed = drawn(chart)
    high = HIGH + 8 + _LINE * len(placed.lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" '
        'font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(chart.title)}</title>",
        f'<rect width="{WIDE}" height="{high}" fill="white"/>',
    ]
    for y, shown in placed.up:
        parts += [
            f'<path d="M{LEFT} {y:g}H{RIGHT}" stroke="#d5dae0"/>',
            _label(shown, LEFT - 6, y + 4.5, "end"),
        ]
    for x, shown in placed.across:
        parts += [
            f'<path d="M{x:g} {BOTTOM}v5" stroke="#57606a"/>',
            _label(shown, x, BOTTOM + 19, "middle"),
        ]
    across, up = placed.labels
    parts += [
        f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="#57606a"/>',
        _label(across, (LEFT + RIGHT) / 2, HIGH - 6, "middle"),
        _label(up, 0, 14, "start"),
    ]
    for row, curve in enumerate(placed.lines):
        colour, y = _COLOURS[curve.number], HIGH + _LINE * (row + 0.5)
        stroke = (
            f'fill="none" stroke="{colour}" stroke-width="2.2" '
            f'stroke-dasharray="{_DASHES[curve.number]}"'
        )
        parts.append(f'<polyline points="{curve.path}" {stroke}/>')
        parts += [
            f'<circle cx="{x:g}" cy="{up:g}" r="4" fill="{colour}"/>'
            for x, up, _ in curve.marks
        ]
        parts += [
            f'<path d="M{LEFT} {y:g}h32" {stroke}/>',
            _label(curve.name, LEFT + 40, y + 4.5, "start"),
        ]
    return "\n".join([*parts, "</svg>", ""])


def _label(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
