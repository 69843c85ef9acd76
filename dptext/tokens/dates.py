"""Dates by their layout, and random ones of the same layout.

A layout is the order of the parts, the marks between them, how many digits each has,
and how the name of a month is written. Nothing else of a date is looked at.
"""

from __future__ import annotations

import re

from dptext.tokens.draws import Draws

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_NAME = f"(?P<name>{_NAME})"
_DAY = "(?P<day>[0-9]{1,2}(?:st|nd|rd|th)?)"
_YEAR = "(?P<year>[0-9]{4})"
# In numbers, which is day and which is month is known from a dot or a first year only.
_LAYOUTS = (
    rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})",
    r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4}|[0-9]{2})",
    r"(?P<either>[0-9]{1,2})(?P<mark>[-/])(?P<month>[0-9]{1,2})(?P=mark)"
    r"(?P<year>[0-9]{4}|[0-9]{2})",
    rf"{_DAY} (?:of )?{_NAME},? {_YEAR}",
    rf"{_NAME} {_DAY},? {_YEAR}",
)
PATTERNS = tuple(re.compile(layout, re.IGNORECASE) for layout in _LAYOUTS)
_DIGITS = re.compile("[0-9]+")


def is_date(text: str) -> bool:
    """Tell whether a text is a date of a known layout, with a month and a day."""
    parts = _parts(text)
    if parts is None:
        return False
    day, month = (_number(parts, key) for key in ("day", "month"))
    if "either" in parts:
        month, day = sorted((month, _number(parts, "either")))
    return 1 <= day <= 31 and 1 <= month <= 12


def written(text: str, draws: Draws) -> str:
    """Return a random date of the same layout."""
    for pattern in PATTERNS:
        match = pattern.fullmatch(text)
        if match:
            break
    else:
        return text
    out, end = "", 0
    groups = [(match.span(key), key) for key in match.groupdict() if key != "mark"]
    for (begin, after), key in sorted(groups):
        out += text[end:begin] + _drawn(key, match[key], draws)
        end = after
    return out + text[end:]


def _parts(text: str) -> dict[str, str] | None:
    for pattern in PATTERNS:
        match = pattern.fullmatch(text)
        if match:
            return match.groupdict()
    return None


def _number(parts: dict[str, str], key: str) -> int:
    match = _DIGITS.match(parts.get(key, "1"))
    return int(match[0]) if match else 0


def _drawn(key: str, part: str, draws: Draws) -> str:
    """Return what stands for one part, by its number of digits or its letters."""
    if key == "name":
        return _month(part, draws)
    match = _DIGITS.match(part)
    width = len(match[0]) if match else 0
    if key == "year":
        year = draws.between(1950, 2029) if width == 4 else draws.below(100)
        return f"{year:02d}"
    if width == 1:
        value = draws.between(1, 9)
    else:
        value = draws.between(10, 28) if key == "day" else draws.between(1, 12)
    return f"{value:0{width}d}{_ending(value) if len(part) > width else ''}"


def _ending(day: int) -> str:
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _month(word: str, draws: Draws) -> str:
    """Write a month as this one is: in full or short, in small letters or not."""
    name = _MONTHS[draws.below(12)]
    name = name[:3] if len(word) == 3 and word.lower() != "may" else name
    if word.isupper():
        return name.upper()
    return name.capitalize() if word[:1].isupper() else name
