"""A single digit is written as the words that are shown after it ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dptext import profile
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from dptext.writing.counting import Count, Counting
from dptext.writing.joining import Joiner
from tests import distributions
from tests.tokens.texts import both, written

POLICY: Policy = profile.load("readable").tokens
NOTHING = np.empty(0, np.int32)


def found(text: str, lexicon: Lexicon, policy: Policy = POLICY) -> Count:
    """Return how many the first number of a text may be."""
    words = both(lexicon, policy)[0].words([text])
    position = next(at for at, one in enumerate(words.pieces) if one.strip().isdigit())
    return Counting(lexicon).find(words, position)


@pytest.mark.parametrize(
    "text",
    [
        "7 days",
        "I tried 7 times.",
        "7 people",
        "7 new phones",
        "7 business days",
        "of the two, 7 were late",
        "7 other small children",
        "7 lizards",
        "7 zqxjs",
        "a 7 days trip",
    ],
)
def test_a_plural_is_never_of_one(text: str, builtin: Lexicon) -> None:
    """Copied plurals, also behind other words, and plural verbs; shown plurals."""
    assert found(text, builtin) is Count.SEVERAL


@pytest.mark.parametrize(
    "text",
    [
        "7 day",
        "It took 7 day.",
        "7 hour ago",
        "7 time and",
        "7 star, I said",
        "only 7 person came",
        "7 item missing",
        "7 more day",
        "7 big problem",
        "I ordered 7 lamp, he two",
        "we had 7 incident and that",
    ],
)
def test_a_count_unit_in_the_singular_is_one(text: str, builtin: Lexicon) -> None:
    """Where nothing follows that the unit could describe."""
    assert found(text, builtin) is Count.ONE


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "7, days",
        "7\ndays",
        "a 7 day",
        "a 7 minute walk",
        "7-day trip",
        "7 day trip",
        "room 7 was cold",
        "7 of the days",
        "17 days",
        "7 Sarah days",
        "7 $5 days",
        "on page 7 the days",
        "Pentium 7 lamp.",
        "walrus 7 lamp.",
        "in 7 min.",
    ],
)
def test_nothing_is_asked_elsewhere(text: str, builtin: Lexicon) -> None:
    """Across marks, by compounds, of numbers of several digits."""
    assert found(text, builtin) is Count.ANY


def test_replaced_words_ask_only_where_their_form_is_shown(builtin: Lexicon) -> None:
    """With hidden grammar a plural that is replaced has no say."""
    hidden = replace(POLICY, grammar="hide")
    assert found("7 lizards", builtin) is Count.SEVERAL
    assert found("7 lizards", builtin, hidden) is Count.ANY
    assert found("7 walrus days", builtin) is Count.SEVERAL
    assert found("7 walrus days", builtin, hidden) is Count.ANY
    assert found("7 days", builtin, hidden) is Count.SEVERAL


def test_digits_have_the_stated_law(builtin: Lexicon) -> None:
    """Before a plural each of 2 to 9 is as likely (false alarm 1e-6 for each)."""
    tokenizer, joiner = Tokenizer(builtin, POLICY), Joiner(builtin, POLICY)
    for text in ("3 days", "3 dollars"):
        words = tokenizer.words([text] * 1500)
        positions = joiner.positions_to_redraw(words)
        joiner.redraw(words, distributions.bits(len(positions)), positions)
        digits = np.array([int(words.pieces[at][0]) for at in positions.tolist()])
        distributions.assert_follows(digits - 2, np.full(8, 1 / 8))
    assert written("3 day", NOTHING, POLICY, builtin) == "1 day"
