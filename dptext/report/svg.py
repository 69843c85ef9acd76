"""A chart as a separate picture, for papers.

Colours and dashes are attributes: programs that turn SVG into PDF read no variables of
a style sheet. Sizes and places are those of pages (dptext.report.html).
"""

from __future__ import annotations

from html import escape

from dptext.report.blocks import Chart
from dptext.report.html import BOTTOM, HIGH, LEFT, RIGHT, SERIES, WIDE, drawn

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


def picture(chart: Chart) -> str:
    """Return a chart with its legend as SVG."""
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
            _text(shown, LEFT - 6, y + 4.5, "end"),
        ]
    for x, shown in placed.across:
        parts += [
            f'<path d="M{x:g} {BOTTOM}v5" stroke="#57606a"/>',
            _text(shown, x, BOTTOM + 19, "middle"),
        ]
    across, up = placed.labels
    parts += [
        f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="#57606a"/>',
        _text(across, (LEFT + RIGHT) / 2, HIGH - 6, "middle"),
        _text(up, 0, 14, "start"),
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
            _text(curve.name, LEFT + 40, y + 4.5, "start"),
        ]
    return "\n".join([*parts, "</svg>", ""])


def _text(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
