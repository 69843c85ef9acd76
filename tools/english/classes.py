"""The classes of the lexicon's words, which decide the words of each order.

Names of persons share one order, the list of names, whatever they are; unknown words
have another, of dull nouns. A word of any other *sealed* class stands in orders of its
class alone, and before all others there: places, organisations, months, weekdays,
currency, titles, numbers, negation, and the classes of news. Few of a class are
outputs, since the floor writes each output as often as any other. Words of the special
categories of personal data, of sex, abuse and infamy are never outputs. The best among
the rest stand for them, less the outputs that are nearest to the category as a whole,
so that they do not tell of it either. Words of one gender stand in no order of the
other; a content word lists no function word.

All of it follows from lists and from how words are written: dptext/data/words, and the
file proper.txt here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.language_data import (
    closed_classes,
    person_names,
    sections,
    word_classes,
)
from dptext.tokens.names import fold
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH, Mask
from tools.english.wordnet import LISTS

NAMES, UNKNOWN = "names", "unknown"
# Closed classes: their words stand in orders of the same class alone. Words of a class
# are all of its words, or those that `proper.txt` has.
SEALED = (
    "places",
    "organisations",
    "others",
    "months",
    "weekdays",
    "currency",
    "titles",
    "numbers",
    "negation",
)
# The words of this one do not come first in orders of their class: they have no more
# in common than a capital.
LOOSE = "others"
# Sections of proper.txt and the classes they are of.
_PROPER = {
    "place": "places",
    "organisation": "organisations",
    "other": "others",
    "month": "months",
}
# Categories with words that are never outputs; of the others (politics, crime) few are.
_NEVER = frozenset({"health", "religion", "origin", "sexuality"})
# Words of each class of news that are outputs: the commonest.
_NEWS_OUTPUTS = 12
# What can never be a name, though it is written with a capital.
_PLACES_OF_NEWS = "places of war"
# Function words with a capital that are labels of names.
_LABELS = frozenset({"st", "jr", "sr"})


@cache
def proper() -> dict[str, str]:
    """Return key -> closed class, of words with a capital that name no person."""
    return {
        key_of(word): _PROPER[name]
        for name, words in sections("proper", LISTS)
        for word in words
    }


@cache
def closed() -> dict[str, str]:
    """Return key -> sealed class, of the words that closed classes list."""
    listed = closed_classes(ENGLISH)
    return {key_of(word): name for name in SEALED for word in listed[name]}


@cache
def never_written() -> frozenset[str]:
    """Return the keys of words that are never outputs."""
    peoples = frozenset(map(key_of, closed_classes(ENGLISH)["peoples"]))
    return peoples.union(
        *(
            each.words
            for each in word_classes(ENGLISH)
            if each.never or each.special in _NEVER
        )
    )


@cache
def number_category(key: str) -> str:
    """Return the special category that keeps a key out of the outputs, else ""."""
    for each in word_classes(ENGLISH):
        if each.special in _NEVER and key in each.words:
            return each.special
    return "origin" if key in map(key_of, closed_classes(ENGLISH)["peoples"]) else ""


@cache
def news() -> dict[str, frozenset[str]]:
    """Return the classes of news, without words that are never written."""
    return {
        each.name: each.words - never_written()
        for each in word_classes(ENGLISH)
        if each.news and each.special not in _NEVER and each.name != _PLACES_OF_NEWS
    }


@cache
def _places_of_news() -> frozenset[str]:
    named = {each.name: each.words for each in word_classes(ENGLISH)}
    return named.get(_PLACES_OF_NEWS, frozenset())


def is_name(word: str, grammatical: frozenset[str]) -> bool:
    """Tell whether a word of the lexicon, as written, counts as a name of a person."""
    key = key_of(word)
    if key in map(key_of, closed_classes(ENGLISH)[NAMES]):
        return True
    shown = word[:1].isupper() and "." not in word
    shown = shown and not (word.isupper() and len(word) > 1)
    # Some names are written small or in capitals there, since no list had them.
    shown = shown or fold(key) in person_names(ENGLISH)
    return shown and not (
        key in closed()
        or key in proper()
        or key in grammatical
        or key in _places_of_news()
        or (key in never_written() and key not in _persons())
        or any(key in words for words in news().values())
    )


@cache
def _persons() -> frozenset[str]:
    """Return the keys of persons who are never written: they are names like others."""
    return frozenset().union(
        *(each.words for each in word_classes(ENGLISH) if "persons" in each.name)
    )


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of V words."""

    bits: NDArray[np.uint32]
    """The sealed classes of each word, one bit each: (V,)."""
    first: np.uint32
    """The bits of the classes with words that come first in orders of their class."""
    names: Mask
    """Which words have the one order of names: (V,)."""
    listed: NDArray[np.int64]
    """The rows of that order, best first."""
    unknown: NDArray[np.int64]
    """The rows of the order of unknown words, best first."""
    gender: NDArray[np.int8]
    """1 of men, -1 of women, else 0: (V,)."""
    function: Mask
    """Which are function words: (V,)."""
    titles: dict[int, tuple[int, ...]]
    """Titles before names, with the titles of their gender: names follow these."""
    category: NDArray[np.int8]
    """The special category of words that are no outputs, a number, else -1: (V,)."""


def read_classes(words: Sequence[str], grammatical: frozenset[str]) -> Classes:
    """Return the classes of words in their written form."""
    keys = [key_of(word) for word in words]
    row_of = {key: row for row, key in enumerate(keys)}
    named = np.array([is_name(word, grammatical) for word in words])
    kinds = [*SEALED, *news()]
    bits = np.zeros(len(words), np.uint32)
    for row, (word, key) in enumerate(zip(words, keys, strict=True)):
        for name in () if named[row] else _sealed(word, key, grammatical):
            bits[row] |= np.uint32(1 << kinds.index(name))
    listed = closed_classes(ENGLISH)
    gender = np.zeros(len(words), np.int8)
    for name, sign in (("men", 1), ("women", -1)):
        gender[[row_of[key_of(w)] for w in listed[name] if key_of(w) in row_of]] = sign
    orders = {
        name: np.array(
            [row_of[key_of(w)] for w in listed[name] if key_of(w) in row_of], np.int64
        )
        for name in (NAMES, UNKNOWN)
    }
    function = np.array([key in grammatical for key in keys])
    # A name of the list stands in the order of names alone.
    bits[orders[NAMES]] = np.uint32(1 << len(kinds))
    return Classes(
        bits=bits,
        first=np.uint32(sum(1 << i for i, name in enumerate(kinds) if name != LOOSE)),
        names=named,
        listed=orders[NAMES],
        unknown=orders[UNKNOWN],
        gender=gender,
        function=function,
        titles=_titles(row_of, gender),
        category=np.array([_number_class(key) for key in keys], np.int8),
    )


def _titles(
    row_of: dict[str, int], gender: NDArray[np.int8]
) -> dict[int, tuple[int, ...]]:
    """Return the titles that stand before names, with those that may replace each."""
    listed = [word for word in closed_classes(ENGLISH)["titles"] if word[0].isupper()]
    rows = [row_of[key_of(word)] for word in listed if key_of(word) in row_of]
    return {
        row: tuple(
            other for other in rows if other != row and gender[other] * gender[row] >= 0
        )
        for row in rows
    }


def _number_class(key: str) -> int:
    category = number_category(key)
    return sorted(_NEVER).index(category) if category else -1


def _sealed(word: str, key: str, grammatical: frozenset[str]) -> list[str]:
    """Return the sealed classes of a word that names no person."""
    if key in closed():
        return [closed()[key]]
    if key in _places_of_news():
        return ["places"]
    if key in never_written():
        return []
    found = [name for name, words in news().items() if key in words]
    if found:
        return found
    if key in proper():
        return [proper()[key]]
    if key not in grammatical and word.isupper() and len(word) > 1:
        return ["organisations"]
    return []


def may_stay(
    words: Sequence[str],
    counts: NDArray[np.float64],
    may: Mask,
    grammar: frozenset[str],
) -> tuple[Mask, Mask]:
    """Return which of the words that may be outputs stay so, and which must be: (V,).

    may (V,), by all other rules; counts (V,), by which the commonest of news are told.
    """
    keys = [key_of(word) for word in words]
    wanted = {
        key_of(word)
        for name, group in closed_classes(ENGLISH).items()
        if name in (NAMES, UNKNOWN, *SEALED)
        for word in group
    }
    must = np.array([key in wanted for key in keys])
    months = {key for key, name in proper().items() if name == "months"}
    barred = never_written() | months
    stay = may & np.array([key not in barred for key in keys])
    capital = np.array([word[:1].isupper() for word in words])
    spoken = np.array([key in grammar and key not in _LABELS for key in keys])
    stay &= ~capital | spoken | np.array(["<" in word for word in words])
    for group in news().values():
        rows = np.flatnonzero(may & [key in group for key in keys])
        rows = rows[np.argsort(-counts[rows], kind="stable")]
        stay[rows[_NEWS_OUTPUTS:]] = False
    return stay | must, must
