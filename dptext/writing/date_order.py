"""Draws a record's dates with a year together, so that their order stays.

Dates with a year are parsed by a public rule (dptext.tokens.dates.read); equal ones
stay equal and the others keep their order. They are drawn from four months of a random
year, new ones for each attempt, until this holds; after half of the attempts, from all
years of the window. Dates of one layout are sorted first, which gives the same
distribution. After the last attempt the earliest dates in order are written, a fixed
rule.

A weekday beside a written date becomes the weekday of that date.

Month and day of 03/04/2024 can be read in two ways. Such a date is written where it
stands in order with the others in both, and then all are from all years.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Protocol

import numpy as np

from dptext.tokens import dates, kinds
from dptext.tokens.dates import Day, Season
from dptext.tokens.draws import YEARS, Integers
from dptext.tokens.forms import FormLayout
from dptext.tokens.languages import language_lists
from dptext.tokens.policy import Form
from dptext.types import ENGLISH, Ints, Words

# Draws of all dates of a record, by the most dates of which they are.
_TRIES, _FEW_TRIES = 256, 16
_DRAWS = ((8, _TRIES), (64, _FEW_TRIES))
_LEAST = 2
_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_SHORT_DAYS = frozenset("mon tue tues wed weds thu thur thurs fri sat sun".split())
_OTHER_DAYS = frozenset(("sonnabend", "sábados"))


class Dated(Protocol):
    """A piece that is a date."""

    body: str
    layout: FormLayout | None
    draws: Integers


@dataclass(slots=True)
class _Date:
    """Equal dates in a record, with one or more layouts."""

    read: tuple[int, int, int]
    draws: Integers
    #: The pieces of each layout.
    layouts: dict[str, list[int]] = field(default_factory=dict)

    @property
    def first(self) -> str:
        return next(iter(self.layouts))

    def takes(self, layout: str) -> bool:
        """Return whether a date can be written in its layouts and another one."""
        return all(dates.agree(each, layout) for each in self.layouts)

    def draw(self, season: Season | None) -> Day | None:
        """Return a random date that fits all layouts, or None."""
        for _ in range(_TRIES):
            day = dates.draw(self.first, self.draws, season)
            if day is None:
                break
            if all(dates.can_write(day, layout) for layout in self.layouts):
                return day
        return None


def write(
    records: Mapping[int, int],
    pieces: Mapping[int, Dated],
    years: tuple[int, int] | None,
) -> dict[int, str]:
    """Return the texts of dates by position.

    records: the record of each position, in order; years: the window.
    """
    by_record: dict[int, list[int]] = {}
    for position, record in records.items():
        by_record.setdefault(record, []).append(position)
    out: dict[int, str] = {}
    for positions in by_record.values():
        ranks = _ranks([(position, pieces[position]) for position in positions])
        drawn = _draw(ranks, years)
        for date, day in drawn:
            for layout, where in date.layouts.items():
                text = dates.spell(day._replace(layout=layout))
                out |= dict.fromkeys(where, text)
    return out


def find_weekdays(
    words: Words, positions: Ints, records: Ints
) -> list[tuple[int, tuple[int, str]]]:
    """Return the weekdays among pieces of classes: position, record and key of each.

    Without dates beside them none is looked for.
    """
    if not any(form == Form.DATE for form, _ in words.formed.values()):
        return []
    weekdays = []
    for each in np.flatnonzero(words.flags[positions] & kinds.KIND == kinds.CALENDAR):
        at, record = int(positions[each]), int(records[each])
        key = words.pieces[at].strip(" ").lower()
        if key in _SHORT_DAYS or key in weekdays_of(words.language_at(at)):
            weekdays.append((at, (record, key)))
    return weekdays


def fit_weekdays(
    words: Words, weekdays: Sequence[tuple[int, tuple[int, str]]], *, equal: bool
) -> None:
    """Write weekdays beside written dates as theirs, in place.

    equal: whether equal weekdays of a record that stand beside no date follow.
    """
    beside: dict[int, str] = {}
    by_key: dict[tuple[int, str], str] = {}
    for at, key in weekdays:
        if day := _weekday_of_date(words, at):
            beside[at] = day
            by_key.setdefault(key, day)
    for at, key in weekdays:
        piece = words.pieces[at]
        lead = " " if piece[0] == " " else ""
        day = beside.get(at) or (by_key.get(key, "") if equal else "")
        if day and piece[len(lead)].isupper():
            day = day.upper() if piece.isupper() else day.capitalize()
        words.pieces[at] = lead + day if day else piece


@cache
def weekdays_of(language: str) -> tuple[str, ...]:
    """Return the weekdays of a language from Monday on, "" for English."""
    if language in ("", ENGLISH):
        return _WEEKDAYS
    days = language_lists(language).weekdays
    return tuple(day for day in days if day not in _OTHER_DAYS)[: len(_WEEKDAYS)]


def _weekday_of_date(words: Words, at: int) -> str:
    """Return the weekday of the date beside a piece, "" without one."""
    begin, end = words.bounds_at(at)
    behind = at + 1
    if behind < end and words.pieces[behind] in (",", " the", " ("):
        behind += 1
    before = at - 2 if at - 2 >= begin and words.pieces[at - 1] == " (" else at
    for date in (behind, before):
        form, layout = words.formed.get(date, ("", "")) if date < end else ("", "")
        if form == Form.DATE:
            days = weekdays_of(words.language_at(at))
            return _weekday(words.pieces[date].strip(" "), layout, days)
    return ""


def _weekday(text: str, layout: str, days: Sequence[str]) -> str:
    """Return the weekday of a date; "" without year or day, or if read in two ways."""
    if not dates.has_year(layout) or dates.is_ambiguous(layout):
        return ""
    day = dates.read(text, layout, day_first=False)
    with suppress(ValueError):  # no day, or the 31st of June
        return days[datetime.date(day.year, day.month, day.day).weekday()]
    return ""


def _ranks(pieces: Sequence[tuple[int, Dated]]) -> list[list[_Date]]:
    """Return distinct dates in order; those of equal rank are read as equal."""
    day_first = any(dates.tells_day_first(each.body) for _, each in pieces)
    by_day: dict[tuple[int, int, int], list[_Date]] = {}
    for position, each in pieces:
        assert each.layout is not None
        layout = each.layout.shown
        day = dates.read(each.body, layout, day_first=day_first)
        read = day.year, day.month, day.day
        equal = by_day.setdefault(read, [])
        # Layouts with digits that no date has in common are drawn apart.
        date = next((each for each in equal if each.takes(layout)), None)
        if date is None:
            date = _Date(read, each.draws)
            equal.append(date)
        date.layouts.setdefault(layout, []).append(position)
    return [by_day[read] for read in sorted(by_day)]


def _draw(
    ranks: list[list[_Date]], years: tuple[int, int] | None
) -> list[tuple[_Date, Day]]:
    """Draw a date for each rank's entries, in order."""
    every = [date for rank in ranks for date in rank]
    is_read_twice = any(dates.is_ambiguous(date.first) for date in every)
    tries = next((n for most, n in _DRAWS if len(every) <= most), _LEAST)
    for number in range(tries):
        season = None
        if number < tries // 2 and not is_read_twice:
            season = dates.draw_season(every[0].draws)
        days = _draw_apart(every, season)
        if days is None:
            continue
        if all(len(rank) == 1 for rank in ranks):
            _put_alike_in_order(every, days)
        left = iter(days)
        if _are_in_order([[next(left) for _ in rank] for rank in ranks]):
            return list(zip(every, days, strict=True))
    return _earliest(ranks, years)


def _draw_apart(every: list[_Date], season: Season | None) -> list[Day] | None:
    """Draw each date, distinct if possible; None if one cannot be drawn."""
    days: list[Day] = []
    used = set[Day | None]()
    for date in every:
        day = date.draw(season)
        for _ in range(_FEW_TRIES if day in used else 0):
            if (day := date.draw(season)) not in used:
                break
        if day is None:
            return None
        days.append(day)
        used.add(day)
    return days


def _put_alike_in_order(every: list[_Date], days: list[Day]) -> None:
    """Sort dates with the same layouts, in place."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, date in enumerate(every):
        alike.setdefault(tuple(date.layouts), []).append(number)
    for numbers in alike.values():
        in_order = sorted(days[number][1:] for number in numbers)
        for number, values in zip(numbers, in_order, strict=True):
            days[number] = Day(every[number].first, *values)


def _are_in_order(ranks: list[list[Day]]) -> bool:
    return all(
        one.is_before(two)
        for before, after in pairwise(ranks)
        for one in before
        for two in after
    )


def _earliest(
    ranks: list[list[_Date]], years: tuple[int, int] | None
) -> list[tuple[_Date, Day]]:
    """Return the earliest dates in order, or the last ones if none are left."""
    out: list[tuple[_Date, Day]] = []
    before: list[Day] = []
    first, last = years or YEARS
    # By layouts: the days that none before was, and the last of those that were.
    left: dict[tuple[str, ...], Iterator[Day]] = {}
    latest: dict[tuple[str, ...], Day] = {}
    for rank in ranks:
        here = []
        if len(rank) > 1:
            left = {}
            first = max([first, *(day.year for day in before)])
        for date in rank:
            layouts = tuple(date.layouts)
            if layouts not in left or len(rank) > 1:
                left[layouts] = dates.every(date.first, (first, last))
            day = latest.get(layouts, Day(date.first, last, 1, 1))
            for each in left[layouts]:
                if not all(dates.can_write(each, one) for one in date.layouts):
                    continue
                latest[layouts] = day = each
                if all(earlier.is_before(each) for earlier in before):
                    break
            here.append(day)
            out.append((date, day))
        before = here
        if len(rank) > 1:
            left = {}
    return out
