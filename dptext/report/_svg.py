"""Charts as inline SVG: lines, bars, a strip of shares.

Each is a figure with a caption, a title and description for screen readers, a legend,
and its values as a table. A chart is drawn 460 units wide with text of 13 and 14 units
and scales with the page: at 400 pixels its text is about 11 pixels high.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dptext.report._axis import LEAST, Axis, plain
from dptext.report._page import Html, element, escape, folded, join, table
from dptext.report._style import SERIES

_WIDE = 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 32, 44
_HIGH = 284
_BAR, _GAP, _NAME = 15, 4, 20
Show = Callable[[float], str]
_CHARACTER = 7.5  # of a text of 14 units, on average; only to keep texts inside


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a line; note is shown when it is pointed at and in the table."""

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


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    x_show: Show = plain,
    y_show: Show = plain,
    values: bool = True,
) -> Html:
    """Return a line chart with a marker at each point.

    Ranges follow the points unless given. Points that are not finite, or not above 0 on
    a logarithmic axis, are not drawn; the table, left out without values, has them.
    x_show and y_show write a value at the axes, in table and notes.
    """
    kept = [
        Series(
            each.name,
            tuple(
                p
                for p in each.points
                if math.isfinite(p.x)
                and math.isfinite(p.y)
                and (p.x >= LEAST or not x_log)
            ),
        )
        for each in series
    ]
    points = [p for each in kept for p in each.points]
    across = Axis.of([p.x for p in points], _LEFT, _WIDE - _RIGHT, x_range, x_log)
    up = Axis.of([p.y for p in points], _HIGH - _BOTTOM, _TOP, y_range, False)
    drawn = [_axes(across, up, x_label, y_label, x_show, y_show)]
    for number, each in enumerate(kept):
        drawn.append(_line(each, number, across, up, x_show, y_show))
    rows = [
        (each.name, x_show(p.x), y_show(p.y), p.note)
        for each in series
        for p in each.points
    ]
    notes = any(row[3] for row in rows)
    headers = ("Line", x_label, y_label, "Note")
    shown = table(
        headers if notes else headers[:3],
        rows if notes else [row[:3] for row in rows],
        numbers=(1, 2),
    )
    told = f"Lines of {y_label} by {x_label}: {', '.join(s.name for s in series)}."
    return _figure(
        title,
        told,
        _HIGH,
        drawn,
        _legend([each.name for each in series], _swatch_line),
        folded("Values as a table", shown) if values else Html(""),
    )


def bars(
    groups: Sequence[Group],
    names: Sequence[str],
    *,
    title: str,
    most: float | None = None,
    show: Callable[[float], str] = plain,
    values: bool = True,
) -> Html:
    """Return horizontal bars, in groups, each with its value in figures.

    names are those of the series, in the order of each group's values; most is the
    value of a full bar, by default the largest. Values below 0 have a bar of length 0.
    """
    found = [v for g in groups for v in g.values if v is not None and math.isfinite(v)]
    full = most or max([0.0, *found]) or 1.0
    widest = max([len(show(v)) for v in found] or [1])
    room = _WIDE - 2 - widest * _CHARACTER - 8
    drawn: list[Html] = []
    y = 4.0
    for group in groups:
        drawn.append(_text(0, y + 14, _short(group.name, _WIDE)))
        y += _NAME
        for number, value in enumerate(group.values):
            if value is not None:
                length = room * min(max(value, 0.0) / full, 1.0)
                # Bars of one series are full, the first of several is an outline.
                drawn.append(_bar(2, y, length, _BAR, number or len(names) == 1))
                drawn.append(_text(length + 8, y + 12.5, show(value), "d"))
                y += _BAR + _GAP
        y += 10
    rows = [(g.name, *("" if v is None else show(v) for v in g.values)) for g in groups]
    told = f"Bars for {', '.join(g.name for g in groups)}; each: {', '.join(names)}."
    return _figure(
        title,
        told,
        y,
        drawn,
        _legend(names, _swatch_bar) if len(names) > 1 else Html(""),
        folded("Values as a table", table(("", *names), rows)) if values else Html(""),
    )


def strip(
    parts: Sequence[tuple[str, float]],
    *,
    title: str,
    show: Callable[[float], str] = plain,
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
    told = f"A bar in parts, from left to right: {', '.join(names) or 'none'}."
    legend = _legend(names, lambda number: _swatch_bar(series[number]))
    return _figure(title, told, 36, drawn, legend, Html(""))


def _figure(
    title: str,
    told: str,
    high: float,
    drawn: Iterable[Html],
    legend: Html,
    values: Html,
) -> Html:
    inner = element("title", title) + element("desc", told) + join(drawn)
    image = Html(f'<svg viewBox="0 0 {_WIDE} {_at(high)}" role="img">{inner}</svg>')
    caption = element("figcaption", title)
    return element("figure", join((caption, legend, image, values)), class_="chart")


def _axes(
    across: Axis, up: Axis, x_label: str, y_label: str, x_show: Show, y_show: Show
) -> Html:
    bottom, right = _HIGH - _BOTTOM, _WIDE - _RIGHT
    made: list[Html] = []
    for value in up.ticks:
        y = up.at(value)
        made.append(_rule(_LEFT, y, right, y, "grid"))
        made.append(_text(_LEFT - 6, y + 4.5, y_show(value), "d", "end"))
    for value in across.ticks:
        x = across.at(value)
        made.append(_rule(x, bottom, x, bottom + 5, "axis"))
        made.append(_text(x, bottom + 19, x_show(value), "d", "middle"))
    made.append(_rule(_LEFT, bottom, right, bottom, "axis"))
    middle = (_LEFT + right) / 2
    made.append(_text(middle, _HIGH - 6, _short(x_label, right), "", "middle"))
    # Above its axis, not along it: it is read without turning one's head.
    made.append(_text(0, 14, _short(y_label, right)))
    return join(made)


def _line(
    series: Series,
    number: int,
    across: Axis,
    up: Axis,
    x_show: Show,
    y_show: Show,
) -> Html:
    positions = [(across.at(p.x), up.at(p.y)) for p in series.points]
    path = " ".join(f"{_at(x)},{_at(y)}" for x, y in positions)
    made = (
        [element("polyline", points=path, class_="line")] if len(positions) > 1 else []
    )
    for point, (x, y) in zip(series.points, positions, strict=True):
        told = (
            f"{series.name}: {x_show(point.x)}, {y_show(point.y)} {point.note}".rstrip()
        )
        made.append(_mark(x, y, number, told))
    return element("g", join(made), class_=_series(number))


def _mark(x: float, y: float, number: int, told: str = "") -> Html:
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
        element("title", told) if told else "",
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
    """Cut a text to a length in units of the chart; the table has all of it."""
    most = int(room / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
