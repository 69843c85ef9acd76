"""Elements for numbers: the element of a number, and numbers of an element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dptext.guarantees.sentences import shown
from dptext.tokens import kinds
from dptext.tokens.numbers import ELEMENTS, NAMES, Numbers, find_element
from dptext.tokens.policy import Policy
from dptext.tokens.regex import kind_of, split
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Ids, Lexicon
from tests import distributions, small
from tests.tokens.texts import written

ALL = small.lexicon(np.random.default_rng(2).normal(size=(len(NAMES), 4)), words=NAMES)


def drawn(*names: str, times: int = 1) -> Ids:
    """Return the rows of elements, each so many times."""
    return np.repeat([NAMES.index(name) for name in names], times).astype(np.int32)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("7", "7"),
        ("47", "40-49"),
        ("250", "200-299"),
        ("1998", "1990-1999"),
        ("1066", "1000-1799"),
        ("4711", "3000-4999"),
        ("90210", "{10000-99999}"),
        ("9" * 5_000, "{10000-99999}{000-999}"),
        ("007", "001-099"),
        ("05", "01-09"),
        ("0.5", "0.{0-9}"),
        ("3.5", "{3-4}.{0-9}"),
        ("19.99", "{10-99}.{00-99}"),
        ("1,250", "1,{000-999}"),
        ("12:30", "{9-12}:{00-59}"),
        ("1/2", "1/{2-9}"),
        ("5-4", "{1-9}-{1-9}"),
        ("2024-03-01", "{1900-2029}-{01-12}-{01-31}"),
        ("2nd", "2nd"),
        ("2ND", "2nd"),
        ("1990s", "19{1-9}0s"),
        ("٤٧", "40-49"),
        ("99999.12345", "{0-9}.{000-999}"),
        ("1:2:3:4", "{1-12}:{00-59}:{00-59}"),
    ],
)
def test_a_number_is_the_element_of_its_form_and_size(text: str, name: str) -> None:
    """Digits, years, decimals, thousands, times, dates, ordinals, and the rest."""
    name = name[1:-1] if name.count("{") == 1 and name[0] == "{" else name
    assert NAMES[find_element(text)] == f"<number {name}>"


def test_what_is_of_no_form_is_any_number() -> None:
    """Mixed separators lead to NUMBER, and so does all where a lexicon has no more."""
    assert NAMES[find_element("3:16-18")] == NUMBER
    poor = small.english("dog")
    assert {Numbers(poor).row(text) for text in ("7", "1998", "2nd")} == {
        poor.words.index(NUMBER)
    }


def test_what_is_written_is_a_number_of_that_element() -> None:
    """Each number that may be drawn is one token, and of the element it stands for."""
    ids = np.repeat(np.arange(len(NAMES), dtype=np.int32), 40)
    for row, text in zip(
        ids, Numbers(ALL).write(ids, distributions.bits(len(ids))), strict=True
    ):
        assert split(f" {text}") == [f" {text}"]
        assert kind_of(text) == kinds.NUMBER
        if row:
            assert find_element(text) == row


def test_every_number_of_an_element_is_equally_likely() -> None:
    """The numbers 40 to 49, at a false-alarm rate of one in a million."""
    ids = drawn("<number 40-49>", times=4000)
    written = Numbers(ALL).write(ids, distributions.bits(len(ids)))
    distributions.assert_follows(np.array(written, int) - 40, np.full(10, 0.1))


def test_what_is_written_depends_on_the_drawn_element_alone() -> None:
    """With equal bits the written number is the same for any original number."""
    tokenizer = Tokenizer(ALL, Policy())
    ids = drawn("<number 40-49>", "<number 1990-1999>", "<number {3-4}.{0-9}>")
    written = Numbers(ALL).write(ids, distributions.bits(3))
    assert len({len(tokenizer.words([t]).ids) for t in ("1 2 3", "47 0.5 2nd")}) == 1
    for order in ([2, 0, 1], [1, 2, 0]):
        again = Numbers(ALL).write(
            ids[order], distributions.bits(3).take(np.array(order))
        )
        assert again == [written[position] for position in order]


def test_shares_are_a_prior() -> None:
    """Every element has a positive public share; together they are all numbers."""
    shares = np.array([element.share for element in ELEMENTS])
    assert (shares > 0).all()
    assert shares.sum() == pytest.approx(1.0)
    assert len(set(NAMES)) == len(NAMES) == 97


def test_names_are_no_words_of_a_text() -> None:
    """No text holds a word that is looked up as an element but by being a number."""
    ids = Tokenizer(ALL, Policy()).words([" ".join(n.strip("<>") for n in NAMES)]).ids
    assert set(ids[ids >= 0].tolist()) <= set(range(len(NAMES)))
    words = Tokenizer(small.english("number"), Policy()).words(["<number>"])
    assert words.ids.tolist() == [0]


@pytest.mark.parametrize("common", [0, 3000])
@pytest.mark.parametrize(
    ("number", "other"),
    [
        ("7", "0"),
        ("07", "84"),
        ("2021", "0042"),
        ("1990s", "7720s"),
        ("0th", "9th"),
        ("11th", "75th"),
        ("0.05", "9.99"),
        ("2,021", "7,999"),
        ("2007-08-01", "0000-99-99"),
        ("9" * 40, "0" * 40),
    ],
)
def test_numbers_of_one_layout_have_the_same_draws(
    number: str, other: str, common: int, builtin: Lexicon
) -> None:
    """Length, separators and ending alone are read of a number with random digits."""
    policy = Policy(number="digits", common=common)
    nothing = np.empty(0, np.int32)
    for seed in range(20):
        drawn, others = (
            written(each, nothing, policy, builtin, seed) for each in (number, other)
        )
        assert drawn == others
        assert len(drawn) == len(number)


def test_the_statement_tells_how_numbers_are_written(builtin: Lexicon) -> None:
    """With common words years, days and no first 0; without them, every digit."""
    nothing, seeds = np.empty(0, np.int32), range(300)
    plain = Policy(number="digits")
    common = replace(plain, common=3000, years=(2017, 2026))

    def draws(text: str, policy: Policy) -> set[str]:
        return {written(text, nothing, policy, builtin, seed) for seed in seeds}

    assert draws("8731", common) == {*map(str, range(2017, 2027))}
    assert draws("8730s", common) == {"2010s", "2020s"}
    days = {each[:-2] for each in draws("42nd", common)}
    assert days == {*map(str, range(10, 32))}
    assert draws("7", common) == {*"123456789"}
    assert {each[0] for each in draws("0042.5", common)} == {*"123456789"}
    assert "become a year from 2017 to 2026" in " ".join(shown(common))

    assert draws("7", plain) == {*"0123456789"}
    assert {each[0] for each in draws("8731", plain)} == {*"0123456789"}
    assert {each[0] for each in draws("42nd", plain)} == {*"0123456789"}
    assert "year" not in " ".join(shown(plain))
