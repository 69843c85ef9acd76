"""An output shows of its text what the statement names, and nothing else.

With the drawn words held fixed, two texts that are alike as the statement says must
give the same output.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.randomness import Randomness, RunKey
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Lexicon
from dptext.writing.joining import Joiner
from tests import small

KNOWN = (
    "film",
    "story",
    "house",
    "n't",
    "'s",
    "river",
    "McDonald",
    "the",
    "and",
    "of",
    "a",
    "an",
    "oak",  # these agree with each other
)
LEXICON: Lexicon = small.lexicon(
    np.random.default_rng(3).normal(size=(len(KNOWN) + 1, 3)), words=(*KNOWN, NUMBER)
)
# Each stands for one word of the text, beside any others.
WORDS = ("film", "Story", "HOUSE", "river", "mcdonald", "RIVER", "House")
STOPS = ("the", "And", "OF", "a", "An", "AN")
UNKNOWN = ("zqxj", "Brrx", "ABCDX", "naïvx", "中", "x_y-z")
IDENTIFIERS = ("http://a.b/c?d=1", "x@y.org", "@someone", "#tag", "😀")
NUMBERS = ("8", "12,345.6", "10:30", "2020-01-01")
SPACED = (" ", ", ", ". ", "\n", "\r\n\r\n", " (", ") ", " - ", "\t", '" ', "  ", "! ")


class Slot:
    """A word of a text: its class and two choices of it."""

    def __init__(self, kind: str, one: str, two: str) -> None:
        self.kind, self.one, self.two = kind, one, two


def _pattern(word: str) -> str:
    several = sum(map(str.isalpha, word)) > 1
    return f"{word[:1].isupper()}{word.isupper() and several}"


def _alternatives(policy: Policy) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return for each class the sets of words that the statement compares."""
    outside = UNKNOWN + IDENTIFIERS
    free: list[str] = list(WORDS)
    fixed: list[tuple[str, ...]] = []
    if policy.stop_word == "perturb":
        free += STOPS
    elif policy.stop_word == "drop":
        fixed.append(STOPS)
    else:
        fixed += [(word,) for word in STOPS]
    if policy.unknown == "perturb":
        free += outside
    elif policy.unknown == "keep":
        fixed += [(word,) for word in outside]
    else:
        fixed.append(outside)
    if policy.number == "perturb":
        free += NUMBERS
    elif policy.number == "mask":
        fixed.append(NUMBERS)
    elif policy.number == "digits":
        fixed += [("12,345.6", "88,765.4"), ("1", "8", "3"), ("11", "42")]
    else:
        fixed += [(word,) for word in NUMBERS]
    return {"free": (tuple(free),), "fixed": tuple(fixed)}


@st.composite
def pairs(draw: Any, policy: Policy) -> tuple[str, str]:
    """Draw two texts that are alike as the statement says."""
    sets = _alternatives(policy)
    choices = [*sets["free"] * 3, *sets["fixed"]]
    one, two = [], []
    for _ in range(draw(st.integers(1, 7))):
        pool = draw(st.sampled_from(choices))
        first = draw(st.sampled_from(pool))
        if policy.case == "copy":
            pool = tuple(w for w in pool if _pattern(w) == _pattern(first))
        one.append(first)
        two.append(draw(st.sampled_from(pool)))
    gaps = draw(st.lists(st.sampled_from(SPACED), min_size=len(one), max_size=len(one)))
    others = gaps
    if policy.punctuation == "drop":
        size = len(one)
        others = draw(st.lists(st.sampled_from(SPACED), min_size=size, max_size=size))
    return (
        "".join(itertools.chain(*zip(one, gaps, strict=True))),
        "".join(itertools.chain(*zip(two, others, strict=True))),
    )


@cache
def _both(policy: Policy) -> tuple[Tokenizer, Joiner]:
    """Return what divides texts and what joins them, made once."""
    return Tokenizer(LEXICON, policy), Joiner(LEXICON, policy)


def _written(policy: Policy, text: str, drawn: list[int]) -> str:
    """Write a text with given words drawn, numbers and digits from fixed noise."""
    tokenizer, joiner = _both(policy)
    words = tokenizer.words([text])
    randomness = Randomness(RunKey(b"k" * 32, "key-file"), "test")
    nonce = [b"n" * 16]
    bits = randomness.bits(nonce, np.zeros(len(words.ids), np.int64))
    positions = joiner.positions_to_redraw(words)
    joiner.redraw(
        words, randomness.bits(nonce, np.zeros(len(positions), np.int64)), positions
    )
    ids = np.array(drawn[: len(words.ids)], np.int32)
    return joiner.join(words, ids, bits).texts[0]


POLICIES = [
    Policy(unknown=u, number=n, stop_word=s, punctuation=p, case=c)  # type: ignore[arg-type]
    for u, n, s, p, c in itertools.product(
        ("perturb", "mask", "drop", "keep"),
        ("perturb", "digits", "mask", "keep"),
        ("perturb", "keep", "drop"),
        ("keep", "drop"),
        ("restore", "lower", "copy"),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(POLICIES), 24))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_alike_texts_give_one_output(start: int, data: Any) -> None:
    """Properties that the statement does not name cannot be seen in the output."""
    policy = POLICIES[start + data.draw(st.integers(0, 23))]
    one, two = data.draw(pairs(policy))
    drawn = data.draw(
        st.lists(st.integers(0, len(KNOWN)), min_size=14, max_size=14), label="drawn"
    )
    assert _written(policy, one, drawn) == _written(policy, two, drawn)
