"""Draw the pictures of the first pages: docs/pictures/*.svg.

    python -m tools.pictures

Each is 360 units wide, so that its letters can be read on a telephone. Colours are
classes: a picture by itself has them from its own style, in light and dark, and on the
site from docs/assets/site.css. Figures are those of docs/results/attackers.md, which a
test holds to the data that ship.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from dptext.report import attackers

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
WIDTH = 360
# The row of dptext/data/language_models.toml on the same kind of text.
REVIEWS = "the 30 customer reviews of these"
# Common words, of 100 of customer reviews: docs/results/attackers.md.
COMMON = 90
STYLE = """<style>
text { font: 13px sans-serif; fill: #222 }
.small { font-size: 11px; fill: #666 }
.line { stroke: #666; fill: none }
.box { fill: #f3f4f6; stroke: #bbb }
.private { fill: #c2410c } .common { fill: #0f766e } .drawn { fill: #4f5fc4 }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .small { fill: #aaa } .line { stroke: #aaa }
.box { fill: #2b2f36; stroke: #555 }
.private { fill: #fb923c } .common { fill: #2dd4bf } .drawn { fill: #8fa0ff }
}
</style>"""


def main() -> None:
    """Draw all."""
    FOLDER.mkdir(exist_ok=True)
    for name, drawn in pictures().items():
        (FOLDER / f"{name}.svg").write_text(drawn, encoding="utf-8")


def pictures() -> dict[str, str]:
    """Return each picture by its name."""
    return {
        "three-ways": three_ways(),
        "found": found(),
        "columns": columns(),
        "checking": checking(),
    }


def svg(title: str, height: int, parts: Sequence[str]) -> str:
    """Return a picture with its title, which is read to people who do not see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">'
    )
    return "\n".join([head, STYLE, *parts, "</svg>"]) + "\n"


def text(x: int, y: int, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    marks = f' class="{kind}"' if kind else ""
    marks += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x}" y="{y}"{marks}>{escape(words)}</text>'


def box(left: int, top: int, width: int, height: int, lines: Sequence[str]) -> str:
    """Return a box; its first line is larger than the others."""
    drawn = [
        f'<rect class="box" x="{left}" y="{top}" width="{width}" height="{height}" '
        'rx="6"/>'
    ]
    first = top + height // 2 + 5 - 7 * (len(lines) - 1)
    for number, line in enumerate(lines):
        kind = "small" if number else ""
        y = first + 15 * number
        drawn.append(text(left + width // 2, y, line, kind, "middle"))
    return "\n".join(drawn)


def arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    """Return an arrow, straight down or to the right."""
    head = "l -4 -6 h 8 z" if x == to_x else "l -6 -4 v 8 z"
    return (
        f'<path class="line" d="M {x} {y} L {to_x} {to_y}"/>'
        f'<path class="small" d="M {to_x} {to_y} {head}"/>'
    )


def bar(x: int, y: int, width: float, kind: str) -> str:
    """Return a bar of a chart."""
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width:.1f}" height="11" rx="2"/>'
    )


def three_ways() -> str:
    """Draw the choice between the three ways."""
    ways = (
        ("People", "readable", "hides names,", "places, numbers,", "rare words"),
        ("Programs", "balanced, strict", "hides each word", "a little", ""),
        ("Statistics", "topics", "hides the whole", "text", ""),
    )
    parts = [box(90, 4, 180, 34, ["Who reads the copy?"])]
    for number, (who, profile, *hidden) in enumerate(ways):
        left = 4 + 120 * number
        middle = left + 56
        parts += [
            f'<path class="line" d="M 180 38 V 52 H {middle} V 62"/>',
            f'<path class="small" d="M {middle} 68 l -4 -6 h 8 z"/>',
            box(left, 70, 112, 44, [who, profile]),
        ]
        for line, words in enumerate(filter(None, hidden)):
            parts.append(text(middle, 132 + 15 * line, words, "small", "middle"))
    title = "Who reads the copy: people, readable; programs, balanced or strict; "
    title += "statistics, topics"
    return svg(title, 170, parts)


def shares(profile: str) -> tuple[int, int]:
    """Return the percent of words of customer reviews: unchanged, and found."""
    page = (ROOT / "docs" / "results" / "attackers.md").read_text("utf-8")
    row = next(each for each in page.splitlines() if each.startswith(f"| `{profile}`"))
    cells = [re.findall(r"\d+", cell) for cell in row.split("|")[2:5]]
    return int(cells[0][-1]), int(cells[2][-1])


def found() -> str:
    """Draw how many of 100 words of customer reviews stand unchanged and are found."""
    (reviews,) = (
        row.share for row in attackers.trials()["readable"].rows if row.texts == REVIEWS
    )
    recovered = max(shares("readable")[1], 100 * reviews)
    rows = {"readable": (COMMON, round(COMMON + (100 - COMMON) * recovered / 100))}
    rows |= {profile: shares(profile) for profile in ("balanced", "strict")}
    parts = [
        bar(0, 4, 12, "common"),
        text(18, 14, "words that are unchanged", "small"),
        bar(180, 4, 12, "private"),
        text(198, 14, "words that an attacker has", "small"),
    ]
    for number, (profile, counts) in enumerate(rows.items()):
        top = 42 + 52 * number
        parts.append(text(0, top, profile))
        parts.append(text(WIDTH, top, "{} and {}".format(*counts), "small", "end"))
        for line, (count, kind) in enumerate(
            zip(counts, ("common", "private"), strict=True)
        ):
            y = top + 6 + 15 * line
            parts += [bar(0, y, WIDTH, "box"), bar(0, y, WIDTH * count / 100, kind)]
    title = "Of 100 words of customer reviews, unchanged and had by an attacker: "
    title += "; ".join(f"{name} {a} and {b}" for name, (a, b) in rows.items())
    return svg(title, 182, parts)


def columns() -> str:
    """Draw a record, column by column, before and after."""
    rows = (
        ("customer", "4711", "p_k7f3mzq2...", "--pseudonym"),
        ("phone", "555-0142", "", "--drop"),
        ("text", "Martha cannot log in", "Rachel cannot log in", "--field"),
        ("priority", "1", "1", "(copied)"),
    )
    parts = [
        text(0, 14, "original", "small"),
        text(232, 14, "copy", "small"),
    ]
    for number, (name, before, after, option) in enumerate(rows):
        top = 22 + 50 * number
        parts += [
            text(0, top + 12, name, "small"),
            f'<rect class="box" x="0" y="{top + 16}" width="136" height="26" rx="4"/>',
            text(6, top + 33, before),
            arrow(140, top + 29, 216, top + 29),
            text(178, top + 23, option, "small", "middle"),
        ]
        if after:
            parts += [
                f'<rect class="box" x="222" y="{top + 16}" width="138" height="26" '
                'rx="4"/>',
                text(228, top + 33, after),
            ]
        else:
            parts.append(text(228, top + 33, "(no such column)", "small"))
    title = (
        "A record before and after: customer becomes a pseudonym, phone is dropped, "
    )
    title += "text has other words, priority is copied"
    return svg(title, 224, parts)


def checking() -> str:
    """Draw the three inputs of a check and its two ends."""
    parts = [
        box(0, 4, 112, 44, ["copy", "OUT"]),
        box(124, 4, 112, 44, ["report", "OUT.dptext.json"]),
        box(248, 4, 112, 44, ["policy", ".dptext.yaml"]),
    ]
    for middle in (56, 180, 304):
        parts.append(f'<path class="line" d="M {middle} 48 V 62 H 180 V 72"/>')
    parts += [
        '<path class="small" d="M 180 78 l -4 -6 h 8 z"/>',
        box(110, 80, 140, 34, ["dptext check"]),
        '<path class="line" d="M 180 114 V 126 H 90 V 136"/>',
        '<path class="small" d="M 90 142 l -4 -6 h 8 z"/>',
        '<path class="line" d="M 180 114 V 126 H 270 V 136"/>',
        '<path class="small" d="M 270 142 l -4 -6 h 8 z"/>',
        box(20, 144, 140, 44, ["passes", "exit code 0"]),
        box(200, 144, 140, 44, ["findings, one a line", "exit code 1"]),
    ]
    title = (
        "Copy, report and policy go into dptext check, which passes or lists findings"
    )
    return svg(title, 192, parts)


if __name__ == "__main__":
    main()
