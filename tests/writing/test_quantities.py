"""Numbers are written as numbers that can be, by their layout and copied words."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from dptext import profile
from dptext.randomness import Randomness, RunKey
from dptext.tokens import number_words
from dptext.tokens.draws import Integers
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from dptext.writing import quantities
from dptext.writing.joining import Joiner
from tests import distributions

POLICY: Policy = profile.load("readable").tokens
# Where opinions are hidden, ratings are drawn.
DRAWN = dataclasses.replace(POLICY, opinion="perturb")
YEARS = range(2017, 2027)


@cache
def writers(lexicon: Lexicon, policy: Policy) -> tuple[Tokenizer, Joiner]:
    """Make a policy ready."""
    return Tokenizer(lexicon, policy), Joiner(lexicon, policy)


def written(
    texts: list[str],
    lexicon: Lexicon,
    seed: int,
    *,
    same: bool,
    policy: Policy = POLICY,
) -> list[str]:
    """Write texts of copied words and numbers, with the same bits or each with new."""
    tokenizer, joiner = writers(lexicon, policy)
    words = tokenizer.words(texts)
    positions = joiner.positions_to_redraw(words)
    of_text = np.searchsorted(words.ends, positions, side="right")
    nonces = [(0 if same else n).to_bytes(16, "big") for n in range(len(texts))]
    bits = Randomness(RunKey.from_seed(seed), "tests").bits(nonces, of_text)
    joiner.redraw(words, bits, positions)
    drawn = np.zeros(len(words.ids), np.int32)
    return joiner.join(words, drawn, distributions.bits(len(drawn))).texts


def outputs(
    text: str, lexicon: Lexicon, count: int = 40, policy: Policy = POLICY
) -> list[str]:
    """Return what becomes of a text of copied words and numbers, many times."""
    return written([text] * count, lexicon, 1, same=False, policy=policy)


def numbers(text: str) -> list[int]:
    """Return the numbers of a text."""
    return list(map(int, re.findall("[0-9]+", text)))


@pytest.mark.parametrize(
    "text",
    [
        "It took 10-15 days",
        "It took 3-2 days",
        "It took 15-10 days",
        "It took 10 to 15 days",
        "It took 4 or 5 days",
        "between 20 and 30 people",
        "between 30 and 20 people",
        "It took 10\u201315 days",
        "It took 10 - 15 days",
        "from 2016-2021",
        "from 2021 to 2016",
        "about 500-300",
        "about 10-20%",
        "for $20-$30",
        "a part of 3/4",
        "at 10:30-12:00",
        "3 of 5 were late",
        "20 of the 45 days",
    ],
)
def test_the_numbers_of_a_range_ascend(text: str, builtin: Lexicon) -> None:
    """Whatever order the original had: below three digits by layout alone."""
    for out in outputs(text, builtin):
        values = numbers(out.replace(":", ""))
        assert values == sorted(set(values)), out
        assert len(values) == 2


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("a 4/5 for it", 1, 5),
        ("a 9/10 for it", 1, 9),
        ("a 95/100 for it", 10, 99),
        ("8 out of 10 for it", 1, 9),
        ("4 out of 5 people", 1, 5),
        ("4 stars", 2, 5),
        ("a 4-star room", 1, 5),
        ("she has type 2 of it", 1, 4),
        ("it is stage 3 now", 1, 4),
        ("I am 45 and well", 10, 89),
        ("45 years old", 18, 89),
        ("a 45-year-old boy", 10, 17),
        ("he is 45", 10, 89),
        ("Zork, 45, left", 10, 89),
        ("Zork (45) left", 10, 89),
        ("about 45%", 10, 99),
        ("I tried 1 times", 2, 9),
        ("It took 5 day", 1, 1),
    ],
)
def test_numbers_stay_within_their_scale(
    text: str, low: int, high: int, builtin: Lexicon
) -> None:
    """Ratings, stars, ages, percentages and counts; all values come."""
    values = {numbers(out)[0] for out in outputs(text, builtin, 900, DRAWN)}
    assert values == {*range(low, high + 1)}
    if match := re.search("(/|out of )([0-9]+)", text):
        scale = match[0]
        assert all(scale in out for out in outputs(text, builtin, 20, DRAWN))


@pytest.mark.parametrize(
    "text", ["my sons are 12 and 45", "kids (aged 4, 7 and 45) came"]
)
def test_a_number_in_a_list_behind_an_age_is_one(text: str, builtin: Lexicon) -> None:
    """Whether the age before it is a form or a number."""
    last = {numbers(out)[-1] for out in outputs(text, builtin, 900)}
    assert last == {*range(10, 90)}


def test_ratings_with_a_point_stay_within_their_scale(builtin: Lexicon) -> None:
    """4.5/5 and 4.5 out of 5."""
    for text in ("a 4.5/5 for it", "4.5 out of 5 for it"):
        for out in outputs(text, builtin, 200, DRAWN):
            match = re.search(r"([0-9][.][0-9])(?:/| out of )5", out)
            assert match is not None
            assert 1 <= float(match[1]) <= 5


@pytest.mark.parametrize(
    "text",
    [
        "I rated it 5/5 last year",
        "it is 2/5 from me",
        "great 5/5",
        "9/10 would buy again",
        "I give it 4.5/5",
        "Rating: 3/5",
        "overall score 9/10",
        "good. 4/5. Thanks",
        "4.5 out of 5 for it",
        "8 out of 10, well done",
        "4 out of 5 stars for him, 1 star for it",
        "a 4-star room and a 5* room",
        "rated it 7, my rating is 8",
        "2 1/2 stars",
        "on a scale of 1 to 10",
        "love it <3",
        "it is worth 5 Stars",
        "2 of 5 stars from us",
    ],
)
def test_ratings_stay_with_the_opinions(text: str, builtin: Lexicon) -> None:
    """A turned rating would contradict the words, which are unchanged."""
    assert {*outputs(text, builtin)} == {text}
    assert len({*outputs(text, builtin, policy=DRAWN)}) > 1


@pytest.mark.parametrize(
    "text",
    [
        "it arrived on 4/5",
        "good from 4/5 on",
        "4/5 of it was gone, great",
        "4 out of 5 people came",
        "8 out of 10 times",
        "5 * 3 is more",
        "see you 5/5 again",
        "a part of 3/4, great",
        "rated 5 people",
    ],
)
def test_dates_and_quantities_are_no_ratings(text: str, builtin: Lexicon) -> None:
    """They are drawn like other numbers."""
    assert len({*outputs(text, builtin)}) > 1


@pytest.mark.parametrize("digits", ["(7)", "(14)", "(140)"])
def test_a_number_beside_its_words_is_theirs(digits: str, builtin: Lexicon) -> None:
    """Whatever it was: "fourteen (14)", "30 (thirty)", also of drawn words."""
    assert {*outputs(f"within fourteen {digits} days", builtin)} == {
        "within fourteen (14) days"
    }
    texts = [f"within {each} (thirty) days" for each in (digits[1:-1], "30")]
    assert {*written(texts, builtin, 3, same=True)} == {"within 30 (thirty) days"}
    for out in outputs(f"a row of twenty-one {digits} of it", builtin, 20):
        tens, units, number = re.findall("[a-z]+(?=-)|(?<=-)[a-z]+|[0-9]+", out)
        assert number_words.value(f"{tens}-{units}") == int(number)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("seven", 7),
        ("a dozen", 12),
        ("ninety", 90),
        ("forty-two", 42),
        ("a hundred and one", 101),
        ("Two Thousand Three Hundred", 2300),
        ("five million", 5_000_000),
        ("five oh one", 0),
        ("nineteen ninety", 0),
        ("people", 0),
    ],
)
def test_values_of_number_words(words: str, value: int) -> None:
    """Of plain numbers; 0 of years, digits in a row and other words."""
    assert number_words.value(words) == value


@pytest.mark.parametrize(
    ("text", "is_year"),
    [
        ("in 1987 it was good", True),
        ("it was 1987.", True),
        ("since 1987 people came", True),
        ("room 1402 was cold", False),
        ("order no. 1402 was late", False),
        ("with 1402 people", False),
    ],
)
def test_four_digits_are_a_year_unless_copied_words_tell(
    text: str, is_year: bool, builtin: Lexicon
) -> None:
    """Years are of the window of the profile."""
    values = {numbers(out)[0] for out in outputs(text, builtin, 100)}
    assert (values <= {*YEARS}) == is_year


@pytest.mark.parametrize("text", ["off 22-26 May", "off 3 to 7 May, not on 7 May"])
def test_the_first_day_of_a_range_is_before_the_date(
    text: str, builtin: Lexicon
) -> None:
    """All days come; equal dates stay equal."""
    days = [numbers(out) for out in outputs(text, builtin, 300)]
    assert all(first < second for first, second, *_ in days)
    assert all({second} >= {*others} for _, second, *others in days)
    assert min(first for first, *_ in days) == (10 if "22" in text else 1)


def test_two_digits_behind_at_are_an_hour(builtin: Lexicon) -> None:
    """Not before a noun, of which there may be more."""
    hours = {numbers(out)[0] for out in outputs("see you at 10, then", builtin, 300)}
    assert hours == {*range(10, 24)}
    assert max(numbers(out)[0] for out in outputs("at 10 shops", builtin, 100)) > 23


def test_a_year_of_two_ranges_stays_between_them(builtin: Lexicon) -> None:
    """Also where it is the last year of the window."""
    for out in outputs("from 2009 to 2013 and 2013-2021", builtin, 100):
        first, second, again, last = numbers(out)
        assert first < second == again < last


def test_decades_end_in_zero(builtin: Lexicon) -> None:
    """With an s and with a clitic."""
    for text in ("in the 80's", "in the 90s", "in the 1980s"):
        outs = {numbers(out)[0] % 10 for out in outputs(text, builtin)}
        assert outs == {0}


def test_births_are_of_adults(builtin: Lexicon) -> None:
    """The year behind born is before the window, and in no order with other dates."""
    for out in outputs(
        "born 12 May 1987, here since 3 May 2020, born in 1987", builtin
    ):
        years = [number for number in numbers(out) if number > 1900]
        assert years[0] < 2000 <= years[1]
        assert years[2] < 2000


def test_blood_pressure_is_in_order(builtin: Lexicon) -> None:
    """120/80 and pairs like it."""
    for out in outputs("it was 120/80", builtin, 100):
        first, second = numbers(out)
        assert 100 <= first < 180
        assert 50 <= second < 100


def every(shape: str) -> list[str]:
    """Return all numbers of a shape: # is a digit."""
    digits = itertools.product("0123456789", repeat=shape.count("#"))
    return [
        "".join(itertools.chain(*zip(d, shape.split("#")[1:], strict=True)))
        for d in digits
    ]


@pytest.mark.parametrize("shape", ["#", "##", "#-#", "##-##", "#.#"])
def test_nothing_but_the_layout_is_read(shape: str, builtin: Lexicon) -> None:
    """All numbers of one layout have the same outputs from the same bits."""
    for frame in ("it was {}.", "{} days", "I am {} and well", "{} stars"):
        texts = [frame.format(number) for number in every(shape)[::7]]
        outs = {*written(texts, builtin, 5, same=True, policy=DRAWN)}
        assert len(outs) == 1


def test_ratings_have_a_layout_of_their_own(builtin: Lexicon) -> None:
    """Slashed numbers of one digit are told apart by the scale, and in nothing else."""
    slashed = every("#/#")
    texts = [f"it was {each}." for each in slashed]
    outs = written(texts, builtin, 5, same=True, policy=DRAWN)
    by_layout: dict[str, set[str]] = {}
    for number, out in zip(slashed, outs, strict=True):
        by_layout.setdefault(quantities.layout(number), set()).add(out)
    assert set(by_layout) == {"1/1", "1/5"}
    assert all(len(same) == 1 for same in by_layout.values())


LAWS: list[tuple[str, int, Callable[[str], int]]] = [
    ("it cost 45.", 90, lambda out: numbers(out)[0] - 10),
    ("in 1987 it was", 10, lambda out: numbers(out)[0] - 2017),
    ("a 4/5 for it", 5, lambda out: numbers(out)[0] - 1),
    ("I tried 3 times", 8, lambda out: numbers(out)[0] - 2),
]


@pytest.mark.parametrize(("text", "size", "row"), LAWS, ids=lambda each: str(each)[:12])
def test_numbers_are_uniform(
    text: str, size: int, row: Callable[[str], int], builtin: Lexicon
) -> None:
    """Each number that can be is as likely (false alarm 1e-6 for all)."""
    drawn = np.array([row(out) for out in outputs(text, builtin, 60 * size)])
    law, alarm = np.full(size, 1 / size), distributions.ALARM / len(LAWS)
    distributions.assert_follows(drawn, law, alarm)


def test_ranges_are_uniform_pairs(builtin: Lexicon) -> None:
    """Of 2-3 each ascending pair is as likely (false alarm 1e-6)."""
    pairs = {pair: n for n, pair in enumerate(itertools.combinations(range(1, 10), 2))}
    outs = outputs("It took 2-3 hours.", builtin, 2200)
    drawn = np.array([pairs[tuple(numbers(out))] for out in outs])  # type: ignore[index]
    distributions.assert_follows(drawn, np.full(36, 1 / 36))


def test_long_numbers_take_more_bits() -> None:
    """A number of any length is written, its first digit is not 0."""
    integers = iter(lambda: 0, 1)
    number = quantities.draw_plain(5000, quantities.Frame(), Integers(integers))
    assert number == "1" + "0" * 4999
