"""The style sheet of HTML reports: light and dark, narrow and wide, screen and paper.

Series have a colour, a dash and a marker, so that no two differ by colour alone.
"""

from __future__ import annotations

from pathlib import Path

# Colours by name: light, dark. Text has a contrast of at least 4.5 on its paper.
_COLOURS = {
    "paper": ("#ffffff", "#15181c"),
    "ink": ("#1b1f24", "#e6e8eb"),
    "dim": ("#57606a", "#a3acb6"),
    "rule": ("#d5dae0", "#3a424c"),
    "soft": ("#f5f7f9", "#1d2127"),
    "link": ("#0550ae", "#79b8ff"),
    "good": ("#116329", "#56d364"),
    "good-paper": ("#eefaf1", "#12261a"),
    "fair": ("#7d4e00", "#e3b341"),
    "fair-paper": ("#fff8e6", "#2a2310"),
    "bad": ("#a40e26", "#ff7b72"),
    "bad-paper": ("#fff0f0", "#2d1517"),
    "s0": ("#57606a", "#a3acb6"),
    "s1": ("#0b62c4", "#5ea9ff"),
    "s2": ("#b35900", "#f0a04b"),
    "s3": ("#1a7f37", "#4fc46c"),
    "s4": ("#a11d87", "#e58bd3"),
    "s5": ("#007a87", "#3cc7d4"),
    "s6": ("#8a5a44", "#d0a088"),
    "s7": ("#5b3fc4", "#ab9bff"),
}
SERIES = 8


def _named(number: int) -> str:
    return "".join(f"--{name}:{pair[number]};" for name, pair in _COLOURS.items())


_SERIES = "".join(
    f".s{n}{{--c:var(--s{n})}}.s{n} .line,.line.s{n}{{stroke-dasharray:{dash}}}\n"
    for n, dash in enumerate(
        ("none", "none", "7 4", "2 4", "9 3 2 3", "4 2", "12 5", "1 3")
    )
)

_RULES, _PRINT = (
    Path(__file__).with_name(name).read_text("utf-8").strip()
    for name in ("style.css", "print.css")
)

CSS = (
    f":root{{color-scheme:light dark;{_named(0)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_named(1)}}}}}\n"
    f"{_RULES}\n{_SERIES}"
    f"@media print{{:root{{color-scheme:light;{_named(0)}}}\n{_PRINT}\n}}\n"
)
