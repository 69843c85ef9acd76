"""Dates and times: their layouts, and random ones with a layout.

The layout of a date has fields and the characters between them: d or dd for a day (dth
with an ending), n or nn for a month, mmm for a month's name of three letters and mmmm
for a longer one (gggg in German, llll in French), with the capitals of the name, yy or
yyyy for a year. "May" counts as a whole name.

The layout of a time has its fields in braces: {HH} ({0H} with a zero first), {MM},
{SS}, {ff}, {a}, {p}, {A} or {P} for the first letter of am or pm, {ZZ} for hours of a
time zone, and those of a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from dptext.tokens import language_data
from dptext.tokens.draws import DIGITS, YEARS, Integers, only_digits
from dptext.tokens.regex import guarded

_LISTS = dict(language_data.sections("form_words"))
MONTHS = tuple(
    "january february march april may june july august september october november "
    "december".split()
)
_GERMAN, _FRENCH = _LISTS["months-de"], _LISTS["months-fr"]
# Names of months as in texts, to find dates quickly.
NAMES = frozenset(
    {*MONTHS, *(name[:3] for name in MONTHS), "sept"}
    | {name.lower() for name in (*_GERMAN, *_FRENCH)}
)
_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_NAME = f"(?P<name>sept|{_NAME})"
# Without a year only a name with a capital is a month: "they may 5 times".
_CAPITAL = rf"(?-i:(?=[A-Z])){_NAME}"
_DAY = "(?P<day>[0-9]{1,2}(?:st|nd|rd|th)?)"
_YEAR = "(?P<year>[0-9]{4})"
# Only a dot, or a year in the first place, tells the day from the month.
NUMERIC = (
    rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})",
    r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4}|[0-9]{2})",
    r"(?P<either>[0-9]{1,2})(?P<mark>[-/])(?P<month>[0-9]{1,2})(?P=mark)"
    r"(?P<year>[0-9]{4}|[0-9]{2})",
)
NAMED = (
    rf"{_DAY} (?:of )?{_NAME}\.?,? {_YEAR}",
    rf"{_NAME}\.? {_DAY},? {_YEAR}",
    rf"{_DAY} of {_NAME}",
    rf"{_DAY} {_CAPITAL}",
    rf"{_CAPITAL}\.? {_DAY}",
    rf"{_CAPITAL},? {_YEAR}",
    rf"(?P<day>[0-9]{{1,2}})\. ?(?P<german>{'|'.join(_GERMAN)})(?: {_YEAR})?",
    rf"(?P<day>[0-9]{{1,2}})(?:er)? (?P<french>{'|'.join(_FRENCH)})(?: {_YEAR})?",
)
_FIELDS = re.compile("[Mm]{3,4}|[Gg]{4}|[Ll]{4}|d{1,2}(?:th)?|n{1,2}|yyyy|yy")
_NAMED_MONTH = re.compile("[Mm]{3,4}|[Gg]{4}|[Ll]{4}")
_NUMERIC_MONTHS = re.compile("n{1,2}")
_MAY = 5
# Months of a season, of which the dates of a record are.
_SEASON = 4
# The content of a layout, for statements.
SHOWS = (
    "the order of their parts, what separates them, how many digits each has, "
    "whether an ending (as in 3rd) follows the day, whether the month is cut to three "
    "letters or written in full (May counts as in full), its language, and its capitals"
)


@cache
def _dates() -> tuple[re.Pattern[str], ...]:
    return tuple(map(guarded, NUMERIC + NAMED))


@cache
def _times() -> tuple[re.Pattern[str], ...]:
    return tuple(guarded(each, TIME_GUARD) for each in TIMES + SPACED_TIMES)


def is_date(text: str) -> bool:
    """Return whether a text is a date with a known layout and a month or day."""
    match = next(filter(None, (each.fullmatch(text) for each in _dates())), None)
    if match is None:
        return False
    parts = match.groupdict()
    day, month, either = (
        int(only_digits(parts.get(key, "1"))) for key in ("day", "month", "either")
    )
    if "either" in parts:
        month, day = sorted((month, either))
    return 1 <= day <= 31 and 1 <= month <= 12


def find_layout(text: str) -> str:
    """Return the layout of a date."""
    match = next(filter(None, (pattern.fullmatch(text) for pattern in _dates())))
    out, end = "", 0
    groups = [
        (match.span(key), key)
        for key, part in match.groupdict().items()
        if key != "mark" and part is not None
    ]
    for (begin, after), key in sorted(groups):
        out += text[end:begin] + _field(key, match[key])
        end = after
    return out + text[end:]


def _field(key: str, part: str) -> str:
    if key == "name":
        is_long = len(part) > 3 or part.lower() == "may"
        return _cased("mmmm" if is_long else "mmm", part)
    if key in ("german", "french"):
        return _cased("gggg" if key == "german" else "llll", part)
    width = sum(map(str.isdigit, part))
    letter = {"day": "d", "year": "y"}.get(key, "n")
    return letter * width + ("th" if len(part) > width else "")


def _cased(name: str, like: str) -> str:
    """Capitalise a name like another one."""
    if like.isupper():
        return name.upper()
    return name.capitalize() if like[:1].isupper() else name


def write(layout: str, draws: Integers) -> str:
    """Return a random date with a layout."""
    is_named = _is_named(layout)
    return _FIELDS.sub(lambda each: _draw_field(each[0], draws, is_named), layout)


def _draw_field(field: str, draws: Integers, is_named: bool) -> str:
    """Return random text for a field of a layout, with or without month name."""
    return _spell_field(field, _draw_value(field, draws, is_named))


def _is_named(layout: str) -> bool:
    """Return whether a layout has a month name, next to which no day begins with 0."""
    return _NAMED_MONTH.search(layout) is not None


def _draw_value(field: str, draws: Integers, is_named: bool) -> int:
    """Return a random number for a layout's field; years have four digits."""
    width = len(field.removesuffix("th"))
    if field[0] in "MmGgLl":
        month = draws.below(12) + 1
        # "May" would be read as a whole name.
        is_short = width == 3 and field[0] in "Mm"
        return 6 if month == _MAY and is_short else month
    if field[0] == "y":
        if width == 2 and draws.years is None:
            return 2000 + draws.below(100)
        return draws.between(*(draws.years or YEARS))
    return draws.between(*_ends(field, is_named))


def _spell_field(field: str, value: int) -> str:
    """Format a number for a layout's field."""
    width = len(field.removesuffix("th"))
    if field[0] in "MmGgLl":
        names = {"g": _GERMAN, "l": _FRENCH}.get(field[0].lower(), MONTHS)
        name = names[value - 1]
        return _cased((name[:3] if width == 3 else name).lower(), field)
    ending = ""
    if field[-1] == "h":
        endings = {1: "st", 2: "nd", 3: "rd"}
        ending = "th" if 10 < value < 14 else endings.get(value % 10, "th")
    return f"{value % 100 if width == 2 else value:0{width}d}{ending}"


class Day(NamedTuple):
    """A date: its layout and the numbers in its fields, in any order."""

    layout: str
    year: int
    #: The first field beside the year that is a number or month, and the second; of a
    #: month and a day that the layout does not tell apart the first is written first.
    month: int
    #: 0 without a day.
    day: int

    @property
    def is_ambiguous(self) -> bool:
        """Return whether month and day could be swapped."""
        return is_ambiguous(self.layout)

    def is_before(self, other: Day) -> bool:
        """Return whether it precedes another date however both are read."""
        latest = max((self.month, self.day), (self.day, self.month))
        if not self.is_ambiguous:
            latest = self.month, self.day
        earliest = min((other.month, other.day), (other.day, other.month))
        if not other.is_ambiguous:
            earliest = other.month, other.day
        return (self.year, *latest) < (other.year, *earliest)


def has_year(layout: str) -> bool:
    """Return whether a layout has a year."""
    return "yy" in layout


def is_ambiguous(layout: str) -> bool:
    """Return whether a layout leaves month and day ambiguous, like 03/04/2024."""
    return len(_NUMERIC_MONTHS.findall(layout)) == 2


def read(text: str, layout: str, *, day_first: bool) -> Day:
    """Parse a date with a year by a public rule.

    In 03/04 the month comes first unless day_first; a number above 12 is a day. Years
    of two digits are from 1950 to 2049.
    """
    match = next(filter(None, (pattern.fullmatch(text) for pattern in _dates())))
    parts = {key: part for key, part in match.groupdict().items() if part}
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= 50 else 2000
    if "either" in parts:
        first, second = int(parts["either"]), int(parts["month"])
        if (day_first or first > 12) and second <= 12:
            first, second = second, first
        return Day(layout, year, first, second)
    day = int(only_digits(parts.get("day", "0")))
    return Day(layout, year, _month(parts), day)


def month_and_day(text: str) -> tuple[int, int]:
    """Return a date's month and day; 03/04 is read with the month first."""
    match = next(filter(None, (pattern.fullmatch(text) for pattern in _dates())))
    parts = {key: part for key, part in match.groupdict().items() if part}
    if "either" in parts:
        return int(parts["either"]), int(parts["month"])
    return _month(parts), int(only_digits(parts.get("day", "0")))


def tells_day_first(text: str) -> bool:
    """Return whether a date such as 13/04/2024 shows that the day comes first."""
    match = re.match(r"([0-9]{1,2})[-/]([0-9]{1,2})[-/]", text)
    return match is not None and int(match[1]) > 12 and int(match[2]) <= 12


def _month(parts: Mapping[str, str]) -> int:
    if "month" in parts:
        return int(parts["month"])
    for key, names in (("german", _GERMAN), ("french", _FRENCH)):
        if key in parts:
            return [name.lower() for name in names].index(parts[key].lower()) + 1
    return [name[:3] for name in MONTHS].index(parts["name"][:3].lower()) + 1


class Season(NamedTuple):
    """Consecutive months of a year."""

    year: int
    months: range


def draw_season(draws: Integers) -> Season:
    """Return a random season within one year of the window."""
    year = draws.between(*(draws.years or YEARS))
    first = draws.between(1, 13 - _SEASON)
    return Season(year, range(first, first + _SEASON))


def draw(layout: str, draws: Integers, season: Season | None = None) -> Day | None:
    """Return a random date with a layout and year, None if the season has none."""
    fields = _FIELDS.findall(layout)
    is_named, year, values = _is_named(layout), 0, list[int]()
    for field in sorted(fields, key=lambda each: each[0] == "d"):
        if field[0] == "y":
            year = season.year if season else _draw_value(field, draws, is_named)
        elif season and field[0] != "d":
            months = [n for n in season.months if n in _fields(layout)["n"]]
            if not months:
                return None
            values.append(months[draws.below(len(months))])
        else:
            values.append(_draw_value(field, draws, is_named))
    month, day = [*values, 0][:2]
    return Day(layout, year, month, day)


def every(layout: str, years: tuple[int, int] | None) -> Iterator[Day]:
    """Yield all dates that a layout can write, earliest first."""
    first, last = years or YEARS
    months = days = _fields(layout)["n"]
    if not is_ambiguous(layout):
        days = _fields(layout).get("d", (0,))
    for values in product(range(first, last + 1), months, days):
        yield Day(layout, *values)


def agree(one: str, two: str) -> bool:
    """Return whether two layouts with a year can write the same date."""
    if one == two:
        return True
    if is_ambiguous(one) or is_ambiguous(two):
        return False
    days = ({*_fields(each).get("d", range(1))} for each in (one, two))
    return not set.isdisjoint(*days)


def can_write(day: Day, layout: str) -> bool:
    """Return whether a layout can write a date's day and month."""
    if is_ambiguous(layout):
        return True  # it agrees with its own dates alone
    fields = _fields(layout)
    has_day = day.day in fields.get("d", range(1))
    return has_day and day.month in fields["n"]


@cache
def _fields(layout: str) -> Mapping[str, Sequence[int]]:
    """Return the numbers of a layout's month (n) and day (d) fields."""
    out: dict[str, list[int]] = {}
    for field in _FIELDS.findall(layout):
        first, last = _ends(field, _is_named(layout))
        numbers = list(range(first, last + 1))
        if len(field) == 3 and field[0] in "Mm":
            numbers.remove(_MAY)
        out["d" if field[0] == "d" else "y" if field[0] == "y" else "n"] = numbers
    return out


def _ends(field: str, is_named: bool) -> tuple[int, int]:
    """Return the smallest and largest number for a field."""
    if len(field.removesuffix("th")) == 1:
        return 1, 9
    if field[0] == "d":
        return (10 if is_named else 1), 28
    return 1, 12


def spell(day: Day) -> str:
    """Format a date in its layout."""
    left = [day.month, day.day]

    def fill(match: re.Match[str]) -> str:
        field = match[0]
        if field[0] == "y":
            return _spell_field(field, day.year)
        if field[0] == "d":
            return _spell_field(field, day.day)
        return _spell_field(field, left.pop(0))

    return _FIELDS.sub(fill, day.layout)


_HOUR = "(?P<hour>[01]?[0-9]|2[0-3])"
_MINUTE = "(?P<minute>[0-5][0-9])"
_REST = r"(?::(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,6}))?)?"
_HALF = r"(?:(?P<half>[ap])(?:m|\.m\.?))"
_SHORT_NAME = f"(?P<name>{'|'.join(name[:3] for name in MONTHS)})"
_CLOCK = rf"{_HOUR}:{_MINUTE}:(?P<second>[0-5][0-9])"
# As logs and headers of mail have it.
_ZONE = "[+-](?P<zone>0[0-9]|1[0-4])(?P<quarter>00|30)"
#: What is behind the first time of a range: "10am-4pm".
RANGE = r"-(?:[0-9]{1,2}(?:[:.][0-9]{2})? ?[ap]\.?m|[0-9]{1,2}:[0-9]{2}(?![:0-9]))"
#: The text after a time.
TIME_GUARD = rf"(?![\w@]|[.,/:][0-9]|(?!{RANGE})-[0-9])"
TIMES = (
    rf"{_HOUR}:{_MINUTE}{_REST}{_HALF}?",
    rf"(?P<hour>1[0-2]|0?[1-9]){_HALF}",
    rf"{_HOUR}h{_MINUTE}",
    rf"{_HOUR}\.{_MINUTE}{_HALF}",
    rf"(?P<day>[0-2][0-9]|3[01])/{_SHORT_NAME}/{_YEAR}:{_CLOCK}",
    rf"(?P<year>[0-9]{{4}})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-2][0-9]|3[01])T"
    rf"{_HOUR}:{_MINUTE}{_REST}(?:Z|[+-](?P<zone>[01][0-9]):?(?P<minutes>[0-5][0-9]))?",
)
SPACED_TIMES = (
    rf"{_HOUR}\.{_MINUTE} {_HALF}",
    rf"{_HOUR}:{_MINUTE}{_REST} {_HALF}",
    rf"(?P<hour>1[0-2]|0?[1-9]) {_HALF}",
    rf"(?P<day>[0-2][0-9]|3[01])/{_SHORT_NAME}/{_YEAR}:{_CLOCK} {_ZONE}",
    rf"{_CLOCK} {_ZONE}",
    r"(?P<hour>1[0-2]|0?[1-9]) o['’]clock",
    rf"{_HOUR}(?:[:.]{_MINUTE})? Uhr",
)
# Words that may follow a time after one space.
BEHIND = frozenset(("am", "pm", "a.m", "p.m", "o'clock", "o’clock", "uhr", "+", "-"))
_LETTERS = {
    "hour": "H",
    "minute": "M",
    "minutes": "M",
    "second": "S",
    "fraction": "f",
    "zone": "Z",
    "quarter": "q",
    "year": "y",
    "month": "n",
    "day": "d",
}
_BRACED = re.compile(r"\{(\w+)\}")
# Fields of am and pm, and hours that are written: of mornings, and without seconds.
_HALVES = frozenset("apAP")
_FIRST_HOUR, _LAST_HOUR = 6, 20
# The content of the layout of a time, for statements.
TIME_SHOWS = (
    "how many digits their parts have, whether the hour begins with 0, what separates "
    "them, which word such as am or pm follows and how it is written, and, in stamps "
    "of logs, the date, with the capitals of its month"
)


def find_time_layout(text: str) -> str:
    """Return the layout of a time."""
    match = next(filter(None, (pattern.fullmatch(text) for pattern in _times())))
    out, end = "", 0
    groups = [(match.span(key), key) for key, part in match.groupdict().items() if part]
    for (begin, after), key in sorted(groups):
        part = match[key]
        field = _LETTERS.get(key, "") * len(part)
        if key == "hour" and len(part) == 2 and part[0] == "0":
            field = "0H"
        if key == "name":
            field = _cased("mmm", part)
        if key == "half":
            field = part  # a, p, A or P
        out += text[end:begin] + "{" + field + "}"
        end = after
    return out + text[end:]


def find_half(layout: str) -> str:
    """Return "a" or "p" for a layout with am or pm ("p" for o'clock), else ""."""
    half = next((each for each in "ap" if f"{{{each}}}" in layout.lower()), "")
    return "p" if "clock" in layout else half


def write_time(layout: str, draws: Integers) -> str:
    """Return a random time with a layout."""
    half = find_half(layout)
    is_short = "{S" not in layout

    def fill(match: re.Match[str]) -> str:
        field = match[1]
        width = len(field)
        if field in _HALVES:
            return field
        if field[0] == "Z":
            return f"{draws.below(13):02d}"
        if field[0] == "q":
            return ("00", "30")[draws.below(2)]
        if field[0] in "ynd" or field.lower() == "mmm":
            return _draw_field(field, draws, is_named=False)
        if field[0] == "f":
            return draws.characters(DIGITS, width)
        if field[0] in "MS":
            return f"{draws.below(60):02d}"
        if width == 1 or field == "0H":
            least = _FIRST_HOUR if half == "a" else 1
            return f"{'0' * (width - 1)}{draws.between(least, 9)}"
        if half:
            return str(draws.between(10, 11 if half == "a" else 12))
        return str(draws.between(10, _LAST_HOUR if is_short else 23))

    return _BRACED.sub(fill, layout)
