"""The public classes of delicate words."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.lexicons import word_classes
from dptext.lexicons.word_classes import SPECIAL, classes_of_words
from dptext.tokens import language_data
from dptext.tokens.regex import key_of
from dptext.types import Lexicon


def test_lists_hold_keys_each_once_in_its_class_and_known_flags() -> None:
    """A flag that nobody reads, or a word under a key nobody asks for, is a slip."""
    headings = [heading for heading, _ in language_data.sections("english_classes")]
    assert len(headings) == len({heading.split(":")[0] for heading in headings}) <= 32
    for heading, words in language_data.sections("english_classes"):
        assert words == sorted({key_of(word) for word in words}), heading
        flags = heading.split(": ")[1].split(", ")
        known = {"never", "news", *(f"special {each}" for each in SPECIAL)}
        assert set(flags) <= known, heading


@pytest.mark.parametrize(
    ("word", "category"),
    [
        ("cancer", "health"),
        ("HIV", "health"),
        ("suicide", "health"),
        ("depression", "health"),
        ("pregnant", "health"),
        ("Muslim", "religion"),
        ("Jewish", "origin"),
        ("Kurds", "origin"),
        ("lesbian", "sexuality"),
        ("Obama", "politics"),
        ("bush", "politics"),
        ("arrested", "crime"),
        ("bankruptcy", "money"),
        ("homeless", "money"),
    ],
)
def test_a_word_has_its_category_in_any_case(word: str, category: str) -> None:
    """Spelling alone counts, as lexicons write a word in one case or another."""
    for spelled in (word, word.lower(), word.upper()):
        assert classes_of_words([spelled]).in_category(category).all()


def test_plain_words_have_no_class() -> None:
    """Words with a plain use at least as common are left out, and numbers too."""
    words = ("charged", "trial", "black", "bin", "begin", "straw", "<number 1>", "")
    assert not classes_of_words(words).delicate.any()


def test_words_of_another_language_have_none() -> None:
    """No list is applied to a language that it is not of."""
    assert not classes_of_words(["cancer"], "de").delicate.any()
    assert not classes_of_words(["cancer"], "").delicate.any()
    assert not language_data.special_words("de")


def test_flags_are_those_of_a_words_classes(builtin: Lexicon) -> None:
    """They agree with the classes for each row of the lexicon that ships."""
    classes = classes_of_words(builtin.words)
    listed = language_data.word_classes("en")
    never, news = np.zeros((2, len(builtin.words)), bool)
    for each in listed:
        member = np.array([key_of(word) in each.words for word in builtin.words])
        if each.special:
            assert classes.in_category(each.special)[member].all()
        never |= member & each.never
        news |= member & each.news
    np.testing.assert_array_equal(never, classes.never)
    np.testing.assert_array_equal(news, classes.news)


def test_every_vulgar_word_is_never_an_output() -> None:
    """The older list is a part of the classes."""
    words = sorted(language_data.vulgar_words("en"))
    assert classes_of_words(words).never.all()


def test_the_digest_follows_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs depend on the lists: another list is another digest."""
    before = word_classes.digest()
    assert word_classes.digest("de") != before
    listed = language_data.word_classes("en")[1:]
    monkeypatch.setattr(word_classes, "word_classes", lambda language: listed)
    word_classes.digest.cache_clear()
    assert word_classes.digest() != before
    word_classes.digest.cache_clear()
