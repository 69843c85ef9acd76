"""Dates of a record keep their layouts, equality and order, and are uniform else."""

from __future__ import annotations

import datetime
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from dptext.tokens import dates, forms
from dptext.tokens.draws import Integers
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import Form
from dptext.writing import date_order
from tests import distributions

YEARS = (2017, 2026)


@dataclass
class Piece:
    """A date of a record, with random integers."""

    body: str
    layout: FormLayout | None
    draws: Integers


def written(
    texts: Sequence[str], seed: int, years: tuple[int, int] = YEARS
) -> list[str]:
    """Return the dates that are written for those of one record."""
    pieces = {}
    for position, text in enumerate(texts):
        layout = forms.find_layout(text, (Form.DATE,))
        assert layout is not None, text
        rng = random.Random(f"{seed} {position}")
        integers = map(rng.getrandbits, itertools.repeat(64))
        pieces[position] = Piece(text, layout, Integers(integers, years))
    out = date_order.write(dict.fromkeys(pieces, 0), pieces, years)
    return [out[position] for position in range(len(texts))]


def read(text: str) -> dates.Day:
    """Return a date as it is read."""
    layout = forms.find_layout(text, (Form.DATE,))
    assert layout is not None
    return dates.read(text, layout.shown, day_first=False)


RECORDS = [
    ("3 May 2024", "5 May 2024"),
    ("5 May 2024", "3 May 2024", "2024-05-04"),
    ("May 2024", "3 May 2024", "17 June 2023", "2025-01-01"),
    ("03/04/2024", "2024-01-05", "12/31/2024", "1 Jan 2025"),
    ("13/04/2024", "02/05/2024", "01.06.2024"),
    ("17.05.24", "17 May 2024", "2024-05-17", "18.05.24"),
    ("3 janvier 2024", "4. März 2024", "May 3rd, 2024", "MAY 12, 2024"),
]


@pytest.mark.parametrize("texts", RECORDS)
def test_layouts_equality_and_order_stay(texts: tuple[str, ...]) -> None:
    """Whatever the draws are."""
    day_first = any(map(dates.tells_day_first, texts))
    layouts = [forms.find_layout(text, (Form.DATE,)) for text in texts]
    days = [
        dates.read(text, layout.shown, day_first=day_first)
        for text, layout in zip(texts, layouts, strict=True)
        if layout is not None
    ]
    for seed in range(60):
        out = written(texts, seed)
        assert [forms.find_layout(text, (Form.DATE,)) for text in out] == layouts
        for (a, one), (b, two) in itertools.permutations(
            zip(days, out, strict=True), 2
        ):
            if a[1:] == b[1:]:
                assert read(one)[1:] == read(two)[1:]
            elif a[1:] < b[1:]:
                assert read(one).is_before(read(two)), out
        assert all(YEARS[0] <= read(text).year <= YEARS[1] for text in out)


def month(text: str) -> int:
    """Return the number of the month of a date from 1 January 2017 on."""
    day = read(text)
    return 12 * (day.year - YEARS[0]) + day.month - 1


def test_dates_of_a_layout_have_the_stated_law() -> None:
    """Of four months of a year each pair in order is as likely (false alarm 1e-6)."""
    gaps, years = [], []
    for seed in range(6000):
        one, two = map(month, written(("Jan 1990", "Feb 1999"), seed))
        assert one // 12 == two // 12
        gaps.append(two - one)
        years.append(one // 12)
    alarm = distributions.ALARM / 2
    distributions.assert_follows(np.array(gaps) - 1, np.array([3, 2, 1]) / 6, alarm)
    distributions.assert_follows(np.array(years), np.full(10, 1 / 10), alarm)


def test_dates_of_two_layouts_have_the_same_law() -> None:
    """Drawn until the order holds: a day before the first of a month (1e-6)."""
    gaps = []
    for seed in range(6000):
        one, two = map(month, written(("1990-05-01", "Feb 1999"), seed))
        gaps.append(two - one)
    distributions.assert_follows(np.array(gaps) - 1, np.array([3, 2, 1]) / 6)


def test_dates_that_can_be_read_twice_are_in_order_in_both() -> None:
    """03/04/2024 as a day of March and as one of April."""
    for seed in range(200):
        first, second, third = written(
            ("03/04/2024", "04/05/2024", "6 June 2024"), seed
        )
        for swapped in itertools.product((False, True), repeat=2):
            days = [
                (day.year, day.day, day.month)
                if swap
                else (day.year, day.month, day.day)
                for day, swap in zip((read(first), read(second)), swapped, strict=True)
            ]
            assert days[0] < days[1] < read(third)[1:]


def test_many_dates_have_their_order() -> None:
    """Sixty dates of a record, of one layout and of several, also without much room."""
    begin = datetime.date(2001, 1, 1)
    days = [begin + datetime.timedelta(days=40 * n) for n in range(60)]
    one = [day.isoformat() for day in days]
    several = [
        day.isoformat() if n % 3 else f"{day:%b} {day.year}"
        for n, day in enumerate(days)
    ]
    for texts in (one, several):
        out = written(texts, 1)
        ordered = [read(text)[1:] for text in out]
        assert ordered == sorted(ordered)
        assert len(set(ordered)) == 60


def test_equal_dates_of_layouts_without_a_common_day_are_apart() -> None:
    """3 May and 17 May are told apart by their digits, and so nothing is asked."""
    texts = ("2024-05-03", "3 May 2024", "2024-05-17", "17 May 2024", "3.5.2024")
    for seed in range(40):
        out = written(texts, seed)
        assert read(out[0])[1:] == read(out[1])[1:] == read(out[4])[1:]
        assert read(out[2])[1:] == read(out[3])[1:]
