"""The article before everything that is written anew: "a" or "an" as it is read."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dptext import profile
from dptext.tokens.policy import Policy, WordList
from dptext.types import NUMBER, Lexicon
from dptext.writing import articles
from tests import small
from tests.tokens.texts import written

LEXICON = small.english("a", "an", "apple", "dog", "hour", "the")
COPIED = Policy(stop_word="keep")
NOTHING = np.empty(0, np.int32)


def put(text: str, *drawn: str, policy: Policy = COPIED) -> str:
    """Write a text with these words drawn."""
    rows = np.array([LEXICON.words.index(word) for word in drawn], np.int32)
    return written(text, rows, policy, LEXICON)


@pytest.mark.parametrize(
    "text",
    "apple hour uninteresting umbrella honest evening uncle heir Oslo École x-ray "
    "nth L.A. MP3 8 80 8% 8.5 800 8,000 80,000 11 11th 11:30 11,000 18 18,500 1845 "
    "1150 1800s 18.5 $8 €80 (apple) 'hour [unknown] AUD20 RRB-1384 x".split(),
)
def test_an_stands_before_vowels_as_they_are_read(text: str) -> None:
    """Words by their sound, numbers by their name, words without vowels by letters."""
    assert articles.takes_an(text)
    assert articles.takes_an(f" {text}")


@pytest.mark.parametrize(
    "text",
    "dog university user one European house U.S. UK us U Mr Dr 1 10 100 110 1,100 "
    "110000 1123456 7 0.8 1998 2018 118 181 #8 #81896 @user_dgvb USD80 EUR8 www.a.b - "
    "🔹 [masked] WB58 _".split(),
)
def test_a_stands_before_the_others(text: str) -> None:
    """Among them are vowels that sound as consonants, and what is not read."""
    assert not articles.takes_an(text)


@pytest.mark.parametrize(
    ("article", "text", "expected"),
    [
        ("a", "apple", "an"),
        ("A", "apple", "An"),
        ("A", "APPLE", "AN"),
        ("An", "dog", "A"),
        ("AN", "dog", "A"),
        ("AN", "apple", "AN"),
        ("an", "APPLE", "an"),
    ],
)
def test_an_article_keeps_its_capitals(article: str, text: str, expected: str) -> None:
    """A sentence still begins with a capital, and a heading stays in capitals."""
    assert articles.fit(article, text) == expected


@pytest.mark.parametrize(
    ("text", "drawn", "expected"),
    [
        ("a zq", "apple", "an apple"),
        ("an zq", "dog", "a dog"),
        ("An zq, an (zq) the", "dog hour", "A dog, an (hour) the"),
        ('an "zq"', "dog", 'a "dog"'),
        ("an\nzq", "dog", "a\nDog"),
        ("an\n\nzq", "dog", "an\n\nDog"),
        ("an, zq", "dog", "an, dog"),
        ("an. zq", "dog", "an. Dog"),
        ("an-zq", "dog", "an-dog"),
        ("an the zq", "dog", "an the dog"),
        ("an", "", "an"),
    ],
)
def test_a_copied_article_follows_the_drawn_word(
    text: str, drawn: str, expected: str
) -> None:
    """Across opening marks and a broken line, but not across the end of a clause."""
    assert put(text, *drawn.split()) == expected


@pytest.mark.parametrize(
    ("policy", "text", "expected"),
    [
        (replace(COPIED, unknown="mask"), "a zq", "an [unknown]"),
        (replace(COPIED, number="mask"), "an 8", "a [number]"),
        (replace(COPIED, number="keep"), "a 8", "a 8"),
        (replace(COPIED, unknown="keep"), "an zq", "an zq"),
        (replace(COPIED, unknown="drop"), "an zq the", "a the"),
        (replace(COPIED, mask=WordList(words=("oak",))), "an oak", "a [masked]"),
        (replace(COPIED, keep=WordList(words=("an oak",))), "an oak", "an oak"),
        (replace(COPIED, agreement="none", number="mask"), "an 8", "an [number]"),
        (replace(COPIED, agreement="articles", number="mask"), "an 8", "a [number]"),
    ],
)
def test_a_copied_article_follows_masks_and_stays_before_copies(
    policy: Policy, text: str, expected: str
) -> None:
    """No article tells how a masked, dropped or redrawn piece began."""
    assert put(text, policy=policy) == expected


def test_drawn_articles_follow_numbers_and_marks() -> None:
    """Also a word of the mechanism reads well, before a number that was written."""
    lexicon = small.lexicon(
        np.random.default_rng(0).normal(size=(6, 2)),
        words=["a", "an", "apple", "<number 10-19>", NUMBER, "dog"],
    )
    seen = set()
    for seed in range(60):
        drawn = np.array([0, 3, 1, 5], np.int32)
        text = written("x y (x (y", drawn, Policy(), lexicon, seed)
        found = re.fullmatch(r"(An?) (\d+) \(a \(dog", text)
        assert found, text
        assert found[1] == ("An" if found[2] in ("11", "18") else "A")
        seen.add(found[1])
    assert seen == {"A", "An"}


#: Pieces of one class or layout, of which some begin with a vowel and others do not.
HIDDEN = [
    ("Ulrich", "Robert"),
    ("Ontario", "Canada"),
    ("Ericsson", "Sony"),
    ("August", "May"),
    ("8", "7"),
    ("18", "27"),
    ("11-year-old", "10-year-old"),
    ("$8", "$5"),
    ("80%", "70%"),
    ("X12345", "B12345"),
    ("8 May 2024", "7 May 2024"),
    ("11:30", "10:30"),
    ("x@y.org", "b@y.org"),
    ("@ann", "@bob"),
    ("8th", "7th"),
]


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("context", ["He saw {} there.", "{}.", '{}, it said "yes"'])
def test_no_article_tells_how_a_hidden_piece_began(
    hidden: tuple[str, str], context: str, builtin: Lexicon
) -> None:
    """Alone in a batch and without a drawn word: the article is that of the output."""
    policy = profile.load("readable").tokens
    for seed in range(20):
        outputs = set()
        for piece in hidden:
            for article in ("a", "an"):
                text = context.format(f"{article} {piece}")
                text = text[0].upper() + text[1:]
                output = written(text, NOTHING, policy, builtin, seed)
                found = re.search(r"\b(an?) (.*)", output, re.IGNORECASE)
                assert found
                assert (found[1].lower() == "an") == articles.takes_an(found[2])
                outputs.add(output)
        assert len(outputs) == 1
