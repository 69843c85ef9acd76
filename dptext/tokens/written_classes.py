"""Words of public lists that are written for words of classes: names, places, dates."""

from __future__ import annotations

from dptext.tokens import language_data
from dptext.tokens.policy import WordClass
from dptext.tokens.regex import key_of
from dptext.types import Lexicon

# Most letters of short forms of months and weekdays ("Sept").
_SHORT = 4
_NO_WORDS: frozenset[str] = frozenset()


def class_words(lexicon: Lexicon, group: WordClass) -> tuple[str, ...]:
    """Return the words that are written for a class, all equally likely."""
    listed = language_data.closed_classes(lexicon.language).get(group.list_name, ())
    lists = language_data.common_lists(lexicon.language)
    excluded = lists.get("abbreviations", _NO_WORDS) | lists.get("months", _NO_WORDS)
    is_date = group in (WordClass.MONTH, WordClass.WEEKDAY)
    if group is WordClass.ORGANISATION:
        return language_data.invented_names(lexicon.language).get("organisations", ())
    rows, words = lexicon.row_of, lexicon.words
    return tuple(
        words[rows[word.lower()]] if word.lower() in rows else word
        for word in listed
        if word.lower() not in excluded and not (is_date and len(word) <= _SHORT)
    )


def family_names(lexicon: Lexicon) -> tuple[str, ...]:
    """Return the family names among the names of persons that are written."""
    families = language_data.common_lists(lexicon.language).get("family names", ())
    return tuple(
        name
        for name in class_words(lexicon, WordClass.PERSON)
        if key_of(name) in families
    )


def places_of_two(lexicon: Lexicon) -> tuple[tuple[str, ...], ...]:
    """Return the places of two words, which are written for two adjacent words."""
    listed = language_data.common_lists(lexicon.language).get("places of two words", ())
    return tuple(tuple(pair.split("_")) for pair in sorted(listed))


def is_title(lexicon: Lexicon, piece: str) -> bool:
    """Tell whether a copied word is a title, which a family name follows."""
    lists = language_data.common_lists(lexicon.language)
    return key_of(piece.strip(" ")) in lists.get("titles", _NO_WORDS)
