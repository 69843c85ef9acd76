"""Units: the records that are independent of each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.measures.independence import Recurring, Units, totals

RNG = np.random.default_rng(7)
VOCABULARY = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]


def drawn(count: int) -> list[str]:
    """Draw words."""
    return [VOCABULARY[row] for row in RNG.integers(0, len(VOCABULARY), count)]


def labels(*records: Sequence[str] | str) -> list[int]:
    """Return the units of records, a text standing for a record of one."""
    units = Units()
    for record in records:
        units.add([record] if isinstance(record, str) else record)
    return [int(label) for label in units.labels()]


def test_equal_texts_are_one_unit_whatever_capitals_digits_and_marks() -> None:
    """Ticket numbers and spacing make no new text."""
    one, other = "Where is order 318904, please?", "where is ORDER 771230\n please"
    assert labels(one, "Nothing like it at all", other) == [0, 1, 0]


def test_near_duplicates_are_one_unit() -> None:
    """A greeting, a signature or an edit is no other text: 60 words, three changed."""
    joined = 0
    for _ in range(100):
        words = drawn(60)
        edited = [*drawn(2), *words[:30], *drawn(1), *words[31:]]
        joined += labels(" ".join(words), " ".join(edited)) == [0, 0]
    # They share 55 of 65 runs: 99% by the docstring; 90 of 100 fails once in 10^6.
    assert joined >= 90


def test_texts_of_one_kind_are_not() -> None:
    """With a common beginning of a fifth, one pair in 70 is joined (here 200 pairs)."""
    joined = 0
    for _ in range(200):
        common = drawn(12)
        two = (" ".join([*common, *drawn(48)]) for _ in range(2))
        joined += labels(*two) == [0, 0]
    assert joined <= 12


def test_a_long_field_joins_records_and_a_short_one_does_not() -> None:
    """Strangers share "Thank you!", not a paragraph."""
    body = " ".join(drawn(20))
    others = (" ".join(drawn(20)) for _ in range(3))
    records = [(body, next(others)), ("Thank you!", next(others))]
    records += [("Thank you!", next(others)), (body, "")]
    assert labels(*records) == [0, 1, 2, 0]


def test_texts_without_words_are_joined_with_nothing() -> None:
    """Empty records say nothing of each other."""
    assert labels("", "!!", "", "word") == [0, 1, 2, 3]
    assert labels() == []


def test_chains_are_one_unit() -> None:
    """A recurs in B and B in C, so that none is independent of the others."""
    one, two = " ".join(drawn(20)), " ".join(drawn(20))
    assert labels((one, "x"), "else", (one, two), ("y", two)) == [0, 1, 0, 0]


@given(st.permutations(range(12)))
def test_halves_do_not_depend_on_the_order(order: list[int]) -> None:
    """A record is in the same half wherever it stands, copies among them."""
    texts = [" ".join(VOCABULARY[n * 20 : n * 20 + 20]) for n in range(9)]
    texts += [f"{text} too" for text in texts[:3]]

    def halves(numbers: Sequence[int]) -> dict[str, int]:
        units = Units()
        for number in numbers:
            units.add([texts[number]])
        return {texts[n]: half for n, half in zip(numbers, units.halves(), strict=True)}

    assert halves(order) == halves(range(12))
    assert set(halves(order).values()) == {0, 1}


def test_totals_are_sums_over_units() -> None:
    """Counted by hand."""
    counts = np.array([[1, 10], [2, 20], [3, 30]])
    assert totals(counts, np.array([0, 1, 0])).tolist() == [[4, 40], [2, 20]]
    assert totals(np.zeros((0, 2), np.int64), np.array([], np.int64)).shape == (0, 2)


@pytest.mark.parametrize("size", [1, 2, 400])
def test_any_length_has_a_unit(size: int) -> None:
    """Texts of one word and of many are found again."""
    text = " ".join(drawn(size))
    assert labels(text, "other words here", text.upper()) == [0, 1, 0]


def test_near_duplicates_of_earlier_records_recur() -> None:
    """By texts of eight words and more, or as a whole; others and short ones do not."""
    known = Recurring()
    assert known.among(("nothing is known yet",)) == [False]
    long = " ".join(f"word{chr(97 + n)}" for n in range(20))
    known.add((long, "Thank you!"))
    known.add(("a short title",))
    near = long.upper().replace("WORDA ", "other ")
    assert known.among((near,)) == [True]
    more = " ".join(f"more{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400))
    assert known.among(("Thank you!", more, long)) == [False, False, True]
    assert known.among((long, "Thank you!")) == [True, True]
    assert known.among(("A short  title.",)) == [True]
    assert known.among(("Thank you!",)) == [False]
    assert known.among(("a quite different text of more than eight words here",)) == [
        False
    ]
    assert known.among(()) == []
