"""Word classes (names, places, dates): how words are read and replaced."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from dptext.errors import UsageError
from dptext.run.choices import FOR_PROGRAMS
from dptext.run.interface import option
from dptext.tokens import language_data
from dptext.tokens.numbers import NAMES
from dptext.tokens.policy import WordClass
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH, Ids, Ints, Lexicon

# Most letters of short forms of months and weekdays ("Sept").
_SHORT = 4
_NO_WORDS: frozenset[str] = frozenset()
# Classes with words that are all read as one word.
_IDENTITIES = ("names", "places", "organisations", "months", "weekdays")


def class_words(lexicon: Lexicon, group: WordClass) -> tuple[str, ...]:
    """Return the words written for a class, all equally likely."""
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
    """Return the family names among the written person names."""
    families = language_data.common_lists(lexicon.language).get("family names", ())
    return tuple(
        name
        for name in class_words(lexicon, WordClass.PERSON)
        if key_of(name) in families
    )


def places_of_two(lexicon: Lexicon) -> tuple[tuple[str, ...], ...]:
    """Return places of two words, written for two adjacent words."""
    listed = language_data.common_lists(lexicon.language).get("places of two words", ())
    return tuple(tuple(pair.split("_")) for pair in sorted(listed))


def towns_and_others(lexicon: Lexicon) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the towns among the places that are written, and the others."""
    towns = language_data.common_lists(lexicon.language).get("towns", _NO_WORDS)
    places = class_words(lexicon, WordClass.PLACE)
    return (
        tuple(name for name in places if key_of(name) in towns),
        tuple(name for name in places if key_of(name) not in towns),
    )


def places_with_the(lexicon: Lexicon) -> tuple[str, ...]:
    """Return places that can follow an unchanged "the"."""
    lists = language_data.common_lists(lexicon.language)
    return tuple(sorted(lists.get("places with the", _NO_WORDS)))


def is_title(lexicon: Lexicon, piece: str) -> bool:
    """Return whether a copied word is a title, which precedes a family name."""
    lists, body = language_data.common_lists(lexicon.language), piece.strip(" ")
    key = key_of(body)
    if key in lists.get("titles", _NO_WORDS):
        return True
    ranks = language_data.ranks() if lexicon.language == ENGLISH else ()
    return body[:1].isupper() and key in ranks


@lru_cache(maxsize=8)
def keys_of_class(lexicon: Lexicon, group: WordClass) -> frozenset[str]:
    """Return the keys of the words that are read as a class's words."""
    listed = language_data.closed_classes(lexicon.language).get(group.list_name, ())
    row = next((lexicon.row_of.get(key_of(word), -1) for word in listed), -1)
    words = reading(lexicon)[:-1] == row
    also = language_data.common_lists(lexicon.language).get(f"{group}s", _NO_WORDS)
    keys = {key_of(lexicon.words[each]) for each in np.flatnonzero(words)}
    return frozenset(keys | also)


@lru_cache(maxsize=8)
def kinds_of_rows(lexicon: Lexicon, classes: tuple[WordClass, ...]) -> Ints:
    """Return the kind of each row in the classes, 0 for others: (V,).

    Raises UsageError if a class has no words in the language.
    """
    out = np.zeros(len(lexicon.words), np.int64)
    read, rows = reading(lexicon)[:-1], lexicon.row_of
    for group in classes:
        words = class_words(lexicon, group)
        first = language_data.closed_classes(lexicon.language).get(group.list_name, ())
        row = next((rows[key_of(w)] for w in first if key_of(w) in rows), -1)
        if not words or row < 0:
            raise UsageError(
                f"tokens.classes: there are no words of class {group} for language "
                f"{lexicon.language!r} (lexicon {lexicon.name}); leave the class out, "
                "so that its words are replaced like others, or give "
                f"{option('profile', FOR_PROGRAMS)}"
            )
        out[read == row] = group.kind
    return out


@lru_cache(maxsize=2)
def reading(lexicon: Lexicon) -> Ids:
    """Return the row that each row is read as, -1 for unknown: (V + 1,).

    All names of persons are read as a single row, and so are all places, organisations,
    months and weekdays. These are capitalised words in the lexicon whose orders list
    words of the class (dptext/data/words/closed_classes.txt) first.
    """
    size, rows = len(lexicon.words), lexicon.row_of
    read = np.append(np.arange(size, dtype=np.int32), np.int32(-1))
    upper = np.array([word[:1].isupper() for word in lexicon.words], bool)
    first = lexicon.orders[:size, :3].astype(np.int64)
    own = first == np.arange(size)[:, None]
    # Words that list nothing but themselves are in no class.
    upper &= ~own.all(axis=1)
    classes = language_data.closed_classes(lexicon.language)
    for name in _IDENTITIES:
        known = (rows.get(key_of(word), -1) for word in classes.get(name, ()))
        listed = [row for row in known if row >= 0]
        if listed:
            is_listed = np.zeros(size + 1, bool)
            is_listed[listed] = True
            read[:-1][(is_listed[first] | own).all(axis=1) & upper] = listed[0]
    return read


@lru_cache(maxsize=2)
def index_keys(lexicon: Lexicon) -> Mapping[str, int]:
    """Map each key (dptext.tokens.regex.key_of) of a vocabulary to its row."""
    words = lexicon.row_of
    index = dict(words)
    for word in [word for word in words if not word.isascii()]:
        del index[word]
        key = key_of(word)
        index[key] = max(words[word], index.get(key, -1))
    for name in NAMES:
        index.pop(name, None)
    # "dont" is read as "don't" unless it is a word itself.
    for key in sorted([key for key in index if "'" in key], key=index.__getitem__):
        if "'" in key[1:-1]:
            index.setdefault(key.replace("'", ""), index[key])
    return index
