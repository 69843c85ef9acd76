"""Classes of sensitive, closed and vulgar words over the rows of any lexicon.

The lists are public data (dptext/data/words/english_classes.txt): special categories
of personal data, words that should never be outputs, and the words of news. A word
belongs to a class by its spelling alone, in every lexicon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.settings import digest_of_data
from dptext.tokens import language_data
from dptext.tokens.language_data import closed_classes, word_classes
from dptext.tokens.languages import language_lists, languages
from dptext.tokens.regex import key_of, keys_of_words
from dptext.types import (
    ENGLISH,
    Ids,
    Ints,
    Lexicon,
    Mask,
    Record,
    Words,
    records_of_texts,
)

# The special categories of personal data that classes name: those of articles 9 and 10
# of the GDPR, and money.
SPECIAL = (
    "health",
    "religion",
    "origin",
    "sexuality",
    "politics",
    "crime",
    "money",
)
# Closed classes that affect reading, not writing.
_READING = ("peoples",)
# The nouns that unknown words become are other words' replacements, too.
_OPEN = ("unknown",)
_NAMED = 20  # records with a word of a special category
# Of so many replacements the commonest: one that is near, and says little.
_FIRST = 12


class SpecialRecords(NamedTuple):
    """Counts of all records, and of those with words of special categories."""

    #: Numbers of the first ones, from 1.
    first: tuple[int, ...] = ()
    #: Number of those with such a word, and of all.
    special: int = 0
    records: int = 0

    def then(self, other: SpecialRecords) -> SpecialRecords:
        """Combine the counts of two groups, in order."""
        behind = (self.records + number for number in other.first)
        return SpecialRecords(
            first=(*self.first, *behind)[:_NAMED],
            special=self.special + other.special,
            records=self.records + other.records,
        )


@dataclass(frozen=True, slots=True)
class RowClasses:
    """The classes of a lexicon's rows: arrays (V,)."""

    special: NDArray[np.uint8]
    """The special categories of each word: bit i is set for SPECIAL[i]."""
    never: Mask
    """Whether a word should never be written in the place of another."""
    news: Mask
    """Whether a word belongs to a class of news."""

    @property
    def delicate(self) -> Mask:
        """Return a mask of words that a decoder writes only where they were drawn."""
        return self.never | self.news | (self.special > 0)

    def in_category(self, category: str) -> Mask:
        """Return a mask of words in a special category, one of SPECIAL."""
        return (self.special >> SPECIAL.index(category) & 1).astype(bool)


def classes_of_words(words: Sequence[str], language: str = ENGLISH) -> RowClasses:
    """Return the classes of words by their spelling, ignoring case.

    No word has a class in a language without lists. Words that represent numbers
    ("<number 1>") have none.
    """
    return _classes(tuple(words), language)


def classes_of_lexicon(lexicon: Lexicon) -> RowClasses:
    """Return the classes of a lexicon's words, from the lists of its language.

    A lexicon of unknown language uses the English lists.
    """
    return classes_of_words(lexicon.words, language_of_lists(lexicon))


def language_of_lists(lexicon: Lexicon) -> str:
    """Return the language of the lists used for a lexicon."""
    return ENGLISH if lexicon.language == "unknown" else lexicon.language


def has_special_words(words: Words, redrawn: Ints, lexicon: Lexicon) -> Mask:
    """Return a mask of texts with a replaced special-category word: (r,).

    redrawn: positions of the pieces that will be drawn anew.
    """
    special_texts = np.zeros(len(words.ends), bool)
    special_texts[words.texts[_special_rows(lexicon)[words.ids]]] = True
    rest = np.concatenate((words.positions[words.ids < 0], redrawn)).tolist()
    own = language_of_lists(lexicon)
    codes = [own if each in ("", ENGLISH) else each for each in words.languages or ()]
    every = _special(own).union(*map(_special, {*codes}))
    for position in rest:
        key = words.pieces[position].strip(" ").lower()
        if (key if key.isascii() else key_of(key)) in every:
            text = words.text_at(position)
            special_texts[text] |= not codes or key_of(key) in _special(codes[text])
    return special_texts


@lru_cache(maxsize=2)
def _special_rows(lexicon: Lexicon) -> Mask:
    """Return a mask of rows with special-category words: (V + 1,), last False."""
    rows = np.zeros(len(lexicon.words) + 1, bool)
    listed = _special(language_of_lists(lexicon))
    rows[[row for word, row in lexicon.row_of.items() if word in listed]] = True
    return rows


def special_records(words: Words, records: Sequence[Record]) -> SpecialRecords:
    """Count the records in a batch, and those with special categories."""
    # What stands between records, such as a header, has no ordinal.
    numbers = np.cumsum([record.ordinal >= 0 for record in records])
    total = int(numbers.max(initial=0))
    if words.special is None:
        return SpecialRecords(records=total)
    of_texts = numbers[records_of_texts(records)]
    special = sorted({*of_texts[words.special].tolist()})
    return SpecialRecords(tuple(special[:_NAMED]), len(special), total)


@cache
def _special(language: str) -> frozenset[str]:
    if language in languages():
        return language_lists(language).special
    return language_data.special_words(language)


@lru_cache(maxsize=8)
def _classes(words: tuple[str, ...], language: str) -> RowClasses:
    classes = word_classes(language)
    keys = keys_of_words(words)
    flags = {
        word: index
        for index, word in enumerate(set().union(*(c.words for c in classes)))
    }
    at = np.array([flags.get(key, -1) for key in keys], np.int64)
    special = np.zeros(len(flags) + 1, np.uint8)
    never, news = (np.zeros(len(flags) + 1, bool) for _ in range(2))
    for each in classes:
        rows = [flags[word] for word in each.words]
        if each.special:
            special[rows] |= np.uint8(1 << SPECIAL.index(each.special))
        never[rows] |= each.never
        news[rows] |= each.news
    # The last row, which -1 stands for, has no class.
    arrays = special[at], never[at], news[at]
    for array in arrays:
        array.setflags(write=False)
    return RowClasses(*arrays)


@cache
def digest(language: str = ENGLISH) -> str:
    """Return the digest of a language's lists, on which outputs depend."""
    return digest_of_data(
        [
            (each.name, each.special, each.never, each.news, sorted(each.words))
            for each in word_classes(language)
        ]
    )


def written_as_drawn(lexicon: Lexicon) -> Mask:
    """Return a mask of words written only where they were drawn: (V,).

    These are words of closed classes: names, the nouns that unknown words become,
    places, organisations, months, weekdays, numbers in words, negation, words of a
    gender (dptext/data/words/closed_classes.txt). A decoder that replaced
    them, or wrote them where another word was drawn, would guess at an identity,
    lose a negation or change a gender.
    """
    return _rows(lexicon.words, language_of_lists(lexicon), _READING)


def sealed_words(lexicon: Lexicon) -> Mask:
    """Return a mask of words that occur only in orders of their own class: (V,)."""
    return _rows(lexicon.words, language_of_lists(lexicon), (*_READING, *_OPEN))


@lru_cache(maxsize=8)
def _rows(words: tuple[str, ...], language: str, but: tuple[str, ...]) -> Mask:
    listed = {
        key_of(word)
        for name, group in closed_classes(language).items()
        if name not in but
        for word in group
    }
    rows = np.array([key in listed for key in keys_of_words(words)], bool)
    rows.setflags(write=False)
    return rows


def vulgar_rows(lexicon: Lexicon) -> Mask:
    """Return a mask of a lexicon's vulgar words, including unknown: (V + 1,).

    The built-in lexicon, and imports with English orders, contain them but never draw
    them; a decoder does not write them. They remain possible originals.
    """
    rows = np.zeros(len(lexicon.words) + 1, bool)
    row_of = lexicon.row_of
    vulgar = language_data.vulgar_words(ENGLISH) & row_of.keys()
    rows[[row_of[word] for word in vulgar]] = True
    return rows


@lru_cache(maxsize=2)
def neutral_for_news(lexicon: Lexicon) -> Ids:
    """Return a neutral word to write instead of each news word: (V,) int32.

    It is the most frequent of the news word's first replacements that are
    of the same part of speech and not delicate, of a closed class, vulgar or
    function words. Other words, and those without such a replacement, stay.
    """
    classes = classes_of_lexicon(lexicon)
    neutral = ~(classes.delicate | written_as_drawn(lexicon))
    neutral &= ~vulgar_rows(lexicon)[:-1]
    row_of = lexicon.row_of
    function_words = language_data.stop_words(lexicon.language) & row_of.keys()
    neutral[[row_of[word] for word in function_words]] = False
    neutral &= np.array(["<" not in word for word in lexicon.words])
    rows = np.arange(len(lexicon.words), dtype=np.int32)
    for row in np.flatnonzero(classes.news).tolist():
        listed = np.asarray(lexicon.orders[row], np.int64)
        fitting = neutral[listed] & (listed != row)
        if lexicon.parts is not None:
            fitting &= lexicon.parts[listed] == lexicon.parts[row]
        # Words stand by descending frequency.
        rows[row] = min(listed[fitting][:_FIRST].tolist(), default=row)
    rows.setflags(write=False)
    return rows
