"""The lists of words that ship: keys, each once, and none of them in code."""

from __future__ import annotations

import pytest

from dptext.tokens import language_data
from dptext.tokens.regex import key_of


@pytest.mark.parametrize("name", ["stop_words", "vulgar_words"])
def test_lists_hold_keys_each_once(name: str) -> None:
    """They are looked up under the keys of words, language by language."""
    for _, words in language_data.sections(name):
        assert words == [key_of(word) for word in words]
        assert len(set(words)) == len(words)


def test_languages_without_a_list_have_no_words() -> None:
    """Nothing is kept or left out in a language that nobody listed."""
    assert "the" in language_data.stop_words("en")
    assert "der" in language_data.stop_words("de")
    assert not language_data.stop_words("xx")
    assert not language_data.vulgar_words("de")
