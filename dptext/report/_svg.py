"""Charts as inline SVG: lines, bars, a strip of shares.

Each is a figure with a caption, a title and description for screen readers, and a
legend; its values stand in a table beside it. A chart is drawn 460 units wide with text
of 13 and 14 units and scales with the page: at 400 pixels its text is about 11 pixels
high.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dptext.report._axis import Axis, plain
from dptext.report._page import Html, element, escape, join
from dptext.report._style import SERIES

_WIDE = 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 32, 44
_HIGH = 284
_BAR, _GAP, _NAME = 15, 4, 20
Show = Callable[[float], str]
_CHARACTER = 7.5  # of a text of 14 units, on average; only to keep texts inside


@dataclass(frozen=True, slots=True)
class Point:
    """A point on a line; note is shown when it is pointed at."""

    x: float
    y: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name in the legend and its points, from left to right."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that stand together, one for each series; None where there is no value."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """An axis, what it is of, and how its values are written."""

    axis: Axis
    label: str
    show: Show


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_show: Show = plain,
    y_show: Show = plain,
) -> Html:
    """Return a line chart with a marker at each point that is finite.

    x_show and y_show write a value at the axes and in notes.
    """
    kept = [Series(each.name, tuple(filter(_finite, each.points))) for each in series]
    points = [point for each in kept for point in each.points]
    across = Axis.of([point.x for point in points], _LEFT, _WIDE - _RIGHT)
    up = Axis.of([point.y for point in points], _HIGH - _BOTTOM, _TOP)
    sides = _Side(across, x_label, x_show), _Side(up, y_label, y_show)
    names = [each.name for each in series]
    return _figure(
        title,
        f"Lines of {y_label} by {x_label}: {', '.join(names)}.",
        _HIGH,
        [_axes(*sides), *(_line(each, n, *sides) for n, each in enumerate(kept))],
        _legend(names, _swatch_line),
    )


def _finite(point: Point) -> bool:
    return math.isfinite(point.x) and math.isfinite(point.y)


def bars(
    groups: Sequence[Group],
    names: Sequence[str],
    *,
    title: str,
    most: float | None = None,
    show: Show = plain,
    colours: Sequence[int] | None = None,
) -> Html:
    """Return horizontal bars, in groups, each with its value in figures.

    names are those of the series, in the order of each group's values; most is the
    value of a full bar, by default the largest. Values below 0 have a bar of length 0.
    colours are those of the series; 0, by default the first of several, is an outline.
    """
    colours = colours or range(1 if len(names) == 1 else 0, len(names) + 1)
    values = (value for group in groups for value in group.values)
    finite = [v for v in values if v is not None and math.isfinite(v)]
    full = most or max([0.0, *finite]) or 1.0
    widest = max([len(show(value)) for value in finite] or [1])
    room = _WIDE - 2 - widest * _CHARACTER - 8
    drawn: list[Html] = []
    y = 4.0
    for group in groups:
        drawn.append(_text(0, y + 14, _short(group.name, _WIDE)))
        y += _NAME
        for number, value in zip(colours, group.values, strict=False):
            if value is not None:
                length = room * min(max(value, 0.0) / full, 1.0)
                drawn.append(_bar(2, y, length, _BAR, number))
                drawn.append(_text(length + 8, y + 12.5, show(value), "d"))
                y += _BAR + _GAP
        y += 10
    return _figure(
        title,
        f"Bars for {', '.join(g.name for g in groups)}; each: {', '.join(names)}.",
        y,
        drawn,
        _legend(names, lambda row: _swatch_bar(colours[row]))
        if len(names) > 1
        else Html(""),
    )


def strip(
    parts: Sequence[tuple[str, float]],
    *,
    title: str,
    show: Show = plain,
    colours: Mapping[str, int] | None = None,
) -> Html:
    """Return one bar divided in proportion to its parts, each named in the legend.

    colours are the series of the parts by their names, by default in order from 1, for
    series 0 is an outline; parts of value 0 are left out.
    """
    kept = [(name, value) for name, value in parts if value > 0]
    series = [
        (colours or {}).get(name, number) for number, (name, _) in enumerate(kept, 1)
    ]
    total = sum(value for _, value in kept) or 1.0
    drawn: list[Html] = []
    x = 0.0
    for number, (name, value) in zip(series, kept, strict=True):
        length = _WIDE * value / total
        pointed = element("title", f"{name}: {show(value)}")
        drawn.append(_bar(x + 1, 6, max(length - 2, 0.5), 24, number, pointed))
        x += length
    names = [f"{name}: {show(value)}" for name, value in kept]
    description = f"A bar in parts, from left to right: {', '.join(names) or 'none'}."
    legend = _legend(names, lambda number: _swatch_bar(series[number]))
    return _figure(title, description, 36, drawn, legend)


def _figure(
    title: str, description: str, high: float, drawn: Iterable[Html], legend: Html
) -> Html:
    inner = element("title", title) + element("desc", description) + join(drawn)
    image = Html(f'<svg viewBox="0 0 {_WIDE} {_at(high)}" role="img">{inner}</svg>')
    caption = element("figcaption", title)
    return element("figure", join((caption, legend, image)), class_="chart")


def _axes(across: _Side, up: _Side) -> Html:
    bottom, right = _HIGH - _BOTTOM, _WIDE - _RIGHT
    drawn: list[Html] = []
    for value in up.axis.ticks:
        y = up.axis.at(value)
        drawn.append(_rule(_LEFT, y, right, y, "grid"))
        drawn.append(_text(_LEFT - 6, y + 4.5, up.show(value), "d", "end"))
    for value in across.axis.ticks:
        x = across.axis.at(value)
        drawn.append(_rule(x, bottom, x, bottom + 5, "axis"))
        drawn.append(_text(x, bottom + 19, across.show(value), "d", "middle"))
    drawn.append(_rule(_LEFT, bottom, right, bottom, "axis"))
    middle = (_LEFT + right) / 2
    drawn.append(_text(middle, _HIGH - 6, _short(across.label, right), "", "middle"))
    # Above its axis, not along it: it is read without turning one's head.
    drawn.append(_text(0, 14, _short(up.label, right)))
    return join(drawn)


def _line(series: Series, number: int, across: _Side, up: _Side) -> Html:
    positions = [(across.axis.at(p.x), up.axis.at(p.y)) for p in series.points]
    path = " ".join(f"{_at(x)},{_at(y)}" for x, y in positions)
    drawn: list[Html] = []
    if len(positions) > 1:
        drawn.append(element("polyline", points=path, class_="line"))
    for point, (x, y) in zip(series.points, positions, strict=True):
        shown = f"{series.name}: {across.show(point.x)}, {up.show(point.y)}"
        drawn.append(_mark(x, y, number, f"{shown} {point.note}".rstrip()))
    return element("g", join(drawn), class_=_series(number))


def _mark(x: float, y: float, number: int, note: str = "") -> Html:
    """Return a marker whose shape tells the series."""
    shapes = (
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "M-4-4h8v8h-8z",
        "M0-5l5 9h-10z",
        "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
        "M0 5l5-9h-10z",
        "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
        "M-5-2.5h10v5h-10z",
        "M-2.5-5h5v10h-5z",
    )
    return element(
        "path",
        element("title", note) if note else "",
        d=shapes[number % len(shapes)],
        transform=f"translate({_at(x)} {_at(y)})",
        class_="mark",
    )


def _legend(names: Sequence[str], swatch: Callable[[int], Html]) -> Html:
    """Return the names with what they are drawn with, in the order of drawing."""
    rows = (element("li", swatch(n) + escape(name)) for n, name in enumerate(names))
    return element("ul", join(rows), class_="legend")


def _swatch_line(number: int) -> Html:
    inner = element("path", d="M1 7h32", class_="line") + _mark(17, 7, number)
    drawn = element("g", Html(inner), class_=_series(number))
    return element("svg", drawn, width=34, height=14, aria_hidden="true")


def _swatch_bar(number: int) -> Html:
    drawn = _bar(1, 1, 20, 10, number)
    return element("svg", drawn, width=22, height=12, aria_hidden="true")


def _bar(
    x: float, y: float, wide: float, high: float, number: int, content: object = ""
) -> Html:
    return element(
        "rect",
        content,
        x=_at(x),
        y=_at(y),
        width=_at(wide),
        height=_at(high),
        class_=f"bar {_series(number)}",
    )


def _rule(x: float, y: float, x2: float, y2: float, kind: str) -> Html:
    return element("line", x1=_at(x), y1=_at(y), x2=_at(x2), y2=_at(y2), class_=kind)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> Html:
    return element(
        "text",
        text,
        x=_at(x),
        y=_at(y),
        class_=kind or None,
        text_anchor=anchor or None,
    )


def _series(number: int) -> str:
    return f"s{number % SERIES}"


def _short(text: str, room: float) -> str:
    """Cut a text to a length in units of the chart; a table beside it has all."""
    most = int(room / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
