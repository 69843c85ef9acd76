"""Pieces that are redrawn, and ranges of two of them: "2 to 5", "22-26 May"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dptext.tokens import dates, forms
from dptext.tokens.draws import Integers
from dptext.tokens.policy import Form
from dptext.writing import quantities
from dptext.writing.quantities import Frame

_NO_FRAME = Frame()


@dataclass(slots=True, kw_only=True)
class Piece:
    """A piece to redraw."""

    #: Its position among the pieces.
    position: int
    record: int
    #: Without the space before it.
    body: str
    #: None for a number.
    layout: forms.FormLayout | None
    draws: Integers
    frame: Frame = _NO_FRAME

    @property
    def form(self) -> Form | None:
        """Return the piece's form, None for a number."""
        return None if self.layout is None else self.layout.form


def may_begin(piece: Piece) -> bool:
    """Return whether a piece may be the first number of a two-piece range."""
    if piece.layout is None:
        return piece.body.isdecimal() or quantities.is_clock(piece.body)
    return piece.layout.form in (Form.AMOUNT, Form.TIME, Form.DATE)


def is_of_days(one: Piece, two: Piece) -> bool:
    """Return whether a number is a day before a date's day, as in 22-26 May."""
    if one.layout is not None or two.layout is None or two.form is not Form.DATE:
        return False
    day = re.match("d{1,2}", two.layout.shown)
    return day is not None and len(day[0]) == len(one.body)


def put_days(
    days: Mapping[int, int], pieces: Mapping[int, Piece], out: dict[int, str]
) -> None:
    """Write the first days of ranges of days, in place: "22-26 May".

    days: the position of the date of each first day; pieces by their positions.
    """
    for first, date in days.items():
        was = pieces[date]
        out[first], text = days_to(out[date], pieces[first].draws)
        if text != out[date]:
            key = (was.record, was.body.casefold())
            equal = (p for p in pieces.values() if (p.record, p.body.casefold()) == key)
            out |= dict.fromkeys((p.position for p in equal), text)


def days_to(date: str, draws: Integers) -> tuple[str, str]:
    """Return a random day of as many digits before that of a date, and the date.

    A date with the first such day has a later one.
    """
    day = re.match("[0-9]+", date)
    assert day is not None
    least, last = ((1, 9), (10, 28))[len(day[0]) - 1]
    second = int(day[0])
    if second <= least:
        second = draws.between(least + 1, last)
        date = f"{second}{date[day.end() :]}"
    return str(draws.between(least, second - 1)), date


def are_times(one: Piece, two: Piece) -> bool:
    """Return whether two pieces are times, or an hour and a time: "2 to 4 pm"."""
    is_time, is_first = (
        each.form is Form.TIME
        or (each.layout is None and quantities.is_clock(each.body))
        for each in (two, one)
    )
    if is_time and is_first:
        return True
    if two.layout is None or not is_time:
        return False
    is_hour = one.layout is None and one.body.isdecimal() and len(one.body) < len("100")
    return is_hour and bool(dates.find_half(two.layout.shown))


def are_days(one: Piece, two: Piece) -> bool:
    """Return whether two pieces are dates with the same layout and no year."""
    is_date = one.form is two.form is Form.DATE and one.layout == two.layout
    return is_date and one.layout is not None and not dates.has_year(one.layout.shown)


def is_range(one: Piece, two: Piece) -> bool:
    """Return whether two pieces are a range of numbers with equal digit counts."""
    if one.layout is None and two.layout is None:
        is_short = quantities.is_short_range(one.body, two.body)
        return two.body.isdecimal() and (is_short or len(one.body) == len(two.body))
    if one.form is Form.DATE:
        return False
    if one.layout is not None:
        shown = one.layout.shown
        return one.layout == two.layout and not dates.find_half(shown)
    assert two.layout is not None
    is_amount = two.layout.form is Form.AMOUNT
    digits = re.fullmatch("(1+)[^01]+", two.layout.shown)
    if is_amount:
        return digits is not None and len(digits[1]) == len(one.body)
    clock = re.sub("[HM]", "1", re.sub("[{}]", "", two.layout.shown))
    return clock == quantities.layout(one.body)
