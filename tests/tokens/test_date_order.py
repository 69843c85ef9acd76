"""Dates of a record keep their layouts, equality and order, and are uniform else."""

from __future__ import annotations

import datetime
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from dptext.tokens import date_order, dates, forms
from dptext.tokens.draws import Integers
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import Form
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
        integers = iter(lambda rng=rng: rng.getrandbits(64), -1)
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


def test_dates_of_a_layout_are_uniform_pairs() -> None:
    """Of two months in order each pair is as likely (false alarm 1e-6)."""
    months = [
        f"{month} {year}"
        for year in (2024, 2025)
        for month in (
            "Jan",
            "Feb",
            "Mar",
            "Apr",
            "May",
            "Jun",
            "Jul",
            "Aug",
            "Sep",
            "Oct",
            "Nov",
            "Dec",
        )
    ]
    pairs = {pair: row for row, pair in enumerate(itertools.combinations(months, 2))}
    drawn = np.array(
        [
            pairs[tuple(written(("Jan 1990", "Feb 1999"), seed, (2024, 2025)))]  # type: ignore[index]
            for seed in range(20_000)
        ]
    )
    law = np.full(len(pairs), 1 / len(pairs))
    distributions.assert_follows(drawn, law)


def test_dates_of_two_layouts_are_uniform_as_well() -> None:
    """Drawn until the order holds: each pair in order is as likely (1e-6)."""
    days = [
        f"{2024 + m // 12}-{m % 12 + 1:02d}-{d:02d}"
        for m in range(12)
        for d in range(1, 29)
    ]
    months = [
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ]
    law = np.zeros(12)
    for number in range(12):
        law[number] = sum(date < f"2024-{number + 1:02d}-00" for date in days)
    drawn = [
        written(("1990-05-01", "Feb 1999"), seed, (2024, 2024))[1]
        for seed in range(4000)
    ]
    rows = np.array([months.index(text.split()[0]) for text in drawn])
    distributions.assert_follows(rows, law / law.sum())


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
