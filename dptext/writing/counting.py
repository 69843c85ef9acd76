"""Public rules for whether the words after a number imply one or several.

They use copied words, marks and, with `grammar: show`, the shown form of
replaced words. These are the same in all texts that the statement compares, so a
number may be written to fit them; the digits of the text are not used.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum

from dptext.tokens import grammar, kinds, language_data
from dptext.tokens.regex import key_of
from dptext.types import Lexicon, Words
from dptext.writing.agreement import plural
from dptext.writing.articles import ARTICLES


class Count(Enum):
    """How many a single digit may mean."""

    ANY = "any"
    #: Before a count unit in the singular, as in "1 day".
    ONE = "one"
    #: Before a plural, as in "3 days", "2 new phones", "4 were late".
    SEVERAL = "several"


_DIGIT = re.compile(r" ?\d")
_PLURAL_VERBS = frozenset({"are", "were", "have"})
# Forms of words that may stand between a number and its noun.
_BEFORE_NOUNS = frozenset({grammar.NOUN, grammar.ADJECTIVE})
# Forms of copied words behind a noun that stands alone: "1 person came".
_AFTER_NOUNS = frozenset({grammar.PAST, grammar.ADVERB})
_WORDS_BEFORE_NOUNS = frozenset({"more", "other", "such", "own"})
# Shorter nouns are often abbreviations, which have no plural: "5 min".
_SHORT = 3
# Most words from a number to its noun.
_REACH = 3


def is_number(words: Words, at: int) -> bool:
    """Return whether a piece is a number."""
    return words.flag[at] & kinds.KIND == kinds.NUMBER


def copied(words: Words, at: int) -> str:
    """Return a copied word or mark in small letters, "" for all else."""
    kind = words.flag[at] & kinds.KIND
    if kind in (kinds.COMMON, kinds.PUNCTUATION):
        return words.pieces[at].strip(" ").lower()
    return ""


class Counting:
    """Reads the words after numbers, with an English lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._rows, self._forms = lexicon.row_of, grammar.forms_of_rows(lexicon)
        nouns = dict(language_data.sections("english_inflections"))["nouns"]
        self._plurals = frozenset(nouns[1::2])
        self._irregular = dict(zip(nouns[::2], nouns[1::2], strict=True))
        lists = language_data.common_lists(lexicon.language)
        self._units = lists.get("count units", frozenset())
        stop_words = language_data.stop_words(lexicon.language)
        self._after_units = stop_words | lists.get("after count units", frozenset())

    def find(self, words: Words, position: int) -> Count:
        """Return how many a number at a position may be: ANY for several digits."""
        if not _DIGIT.fullmatch(words.pieces[position]):
            return Count.ANY
        begin, end = words.bounds_at(position)
        if self._is_one(words, position, begin, end):
            return Count.ONE
        for at in range(position + 1, min(end, position + 1 + _REACH)):
            word, form = self.shown(words, at)
            if form == grammar.PLURAL or (at == position + 1 and word in _PLURAL_VERBS):
                return Count.SEVERAL
            if form not in _BEFORE_NOUNS and word not in _WORDS_BEFORE_NOUNS:
                break
        return Count.ANY

    def _is_one(self, words: Words, position: int, begin: int, end: int) -> bool:
        """Return whether a singular count unit follows, without a noun after it."""
        before = position - 1
        if before >= begin and self.shown(words, before)[0] in ARTICLES:
            return False  # "a 5 minute walk"
        unit = position + 1
        while unit < min(end, position + _REACH) and self._describes(words, unit):
            unit += 1
        after = unit + 1
        if unit >= end:
            return False
        word, form = self.shown(words, unit)
        if word not in self._units and not (
            # After a name a number counts nothing: "Pentium 4".
            before >= begin
            and (before == begin or words.pieces[before].islower())
            and self.shown(words, before)[0]
            and form == grammar.NOUN
            and self._has_plural(word)
        ):
            return False
        if after >= end or words.flag[after] & kinds.KIND == kinds.SPACE:
            return True
        if words.flag[after] & kinds.KIND == kinds.PUNCTUATION:
            return words.pieces[after].strip(" ")[:1] in ".,;:!?)"
        word, form = self.shown(words, after)
        return word in self._after_units or (bool(word) and form in _AFTER_NOUNS)

    def _has_plural(self, word: str) -> bool:
        """Return whether a copied noun has a plural in the lexicon (ordered 1 lamp)."""
        many = self._irregular.get(word) or plural(word)
        return len(word) > _SHORT and many in self._rows

    def _describes(self, words: Words, at: int) -> bool:
        """Return whether a copied word is an adjective before a noun."""
        word, form = self.shown(words, at)
        is_unit = word in self._units
        return word in _WORDS_BEFORE_NOUNS or (
            bool(word) and form == grammar.ADJECTIVE and not is_unit
        )

    def shown(self, words: Words, at: int) -> tuple[str, int]:
        """Return a copied word's key and a word's form, else "" and OTHER."""
        kind = words.flag[at] & kinds.KIND
        if kind == kinds.COMMON:
            key = key_of(words.pieces[at].strip(" "))
            row = self._rows.get(key, -1)
            form = int(self._forms[row]) if row >= 0 else grammar.OTHER
            return key, grammar.PLURAL if key in self._plurals else form
        if words.grammar is not None:
            index = bisect_left(words.positions, at)
            if index < len(words.positions) and words.positions[index] == at:
                return "", int(words.grammar[index])
        return "", grammar.OTHER
