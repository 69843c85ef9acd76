"""Candidates for a list of words that many people wrote.

A candidate is a word that a policy replaces, of 2 to 40 letters with apostrophes or
hyphens inside, and in no public list of names of persons, places, organisations, months
and weekdays, or of special categories of personal data; neither is any part of it. This
depends only on its spelling and position. It counts as written; the first word of a
sentence counts in lower case if the dictionary has it so and a lower-case word follows,
unlike in a signature. Words that the dictionary has in lower case may join without
confirmation. The dictionary is English: in runs without English texts no word joins
that way, and with other languages the lists of names and special categories of all of
them count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.settings import digest_of_data
from dptext.tokens import (
    common,
    kinds,
    language_data,
    languages,
    names,
    word_reading,
    written_classes,
)
from dptext.tokens.policy import Policy, WordClass
from dptext.tokens.regex import key_of
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import ENGLISH, Ints, Lexicon

_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_LEAST, _MOST = 2, 40  # characters
_PARTS = re.compile("[-']")
# Lists of dptext/data/words/common_words.txt with words that never join.
_LISTS = (
    "names",
    "family names",
    "cities",
    "places",
    "organisations",
    "months",
    "weekdays",
    "places in capitals",
    "organisations in small letters",
    "fragments",
)
_NO_WORDS: frozenset[str] = frozenset()
# (p,), of each piece.
Flags = NDArray[np.uint8]
# Distinct pieces that are remembered.
_REMEMBERED = 200_000
_COUNTED = kinds.LETTERED.copy()
_COUNTED[[kinds.COMMON, kinds.CALENDAR]] = False


class Candidates:
    """Finds candidates in texts, and decides which may join without confirmation."""

    def __init__(self, policy: Policy, lexicon: Lexicon, base: Lexicon) -> None:
        """Prepare for a policy and its lexicon; base: the lexicon with a dictionary.

        Raises UsageError for a policy without common words.
        """
        if not policy.common:
            raise UsageError(
                "word lists are only for profiles that copy common words: use the "
                "profile readable"
            )
        self._tokenizer = Tokenizer(lexicon, policy, every_text=True)
        self._language = lexicon.language
        self._languages = policy.languages
        self._may_join = ENGLISH in (policy.languages or (lexicon.language,))
        lists = language_data.common_lists(self._language)
        self._excluded = language_data.special_words(self._language).union(
            *(lists.get(name, _NO_WORDS) for name in _LISTS),
            *(written_classes.keys_of_class(lexicon, each) for each in WordClass),
            *(written_classes.keys_of_class(base, each) for each in WordClass),
            *(_excluded(each) for each in policy.languages if each != ENGLISH),
        )
        self._dictionary = frozenset(
            word for word in base.words if word.islower() and _WORD.fullmatch(word)
        )
        self._known: dict[tuple[str, bool], str] = {}

    @property
    def digest(self) -> str:
        """Return a digest of the public lists."""
        lists = [sorted(self._excluded), sorted(self._dictionary)]
        digests = [language_data.digest()]
        if self._languages:
            digests.append(languages.digest())
        return digest_of_data([*digests, lists])

    def joins(self, word: str) -> bool:
        """Return whether a candidate may join without confirmation."""
        return self._may_join and word in self._dictionary

    def find(
        self, texts: Sequence[str], records: Ints | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield the candidates in texts with their text numbers.

        records (r,): the record of each text, from 0 on; None if each text is a record.
        """
        words = self._tokenizer.words(texts, records)
        flags, pieces, ends = words.flags.copy(), words.pieces, words.ends
        for at, (form, _) in words.formed.items():
            if form == word_reading.WORD:  # of a language other than English
                flags[at] = int(flags[at]) & ~kinds.KIND | kinds.UNKNOWN
        counted = np.flatnonzero(_COUNTED[flags & kinds.KIND])
        text_of = np.searchsorted(ends, counted, side="right")
        begin_of = np.concatenate(([0], ends))
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        joined = -1  # the last piece of a word with hyphens that was found
        for at, text in zip(counted.tolist(), text_of.tolist(), strict=True):
            if at <= joined:
                continue
            begin, end = int(begin_of[text]), int(ends[text])
            first, last = self._ends(pieces, flags, at, begin=begin, end=end)
            joined = last
            body = "".join(pieces[first : last + 1]).lstrip(" ")
            title = bool(int(flags[first]) & kinds.TITLE)
            opens = title and self._goes_on(flags, last + 1, end)
            opens = opens and self._opens(pieces, flags, first, begin)
            if word := self._candidate(body, opens):
                yield text, word

    @staticmethod
    def _ends(
        pieces: Sequence[str],
        flags: Flags,
        at: int,
        *,
        begin: int,
        end: int,
    ) -> tuple[int, int]:
        """Return the first and last piece of the word around a piece."""

        def is_hyphen(mark: int) -> bool:
            """Return whether a hyphen joins the pieces before and after it."""
            beside = flags[[mark - 1, mark + 1]].tolist()
            return (
                pieces[mark] == "-"
                and not beside[1] & kinds.LEAD
                and all(kinds.WORDLIKE[each & kinds.KIND] for each in beside)
            )

        first = last = at
        while first - 2 >= begin and is_hyphen(first - 1):
            first -= 2
        while last + 2 < end and is_hyphen(last + 1):
            last += 2
        return first, last

    @staticmethod
    def _goes_on(flags: Flags, after: int, end: int) -> bool:
        """Return whether a lower-case word follows, which rules out a signature."""
        if after == end:
            return False
        flag = int(flags[after])
        is_word = bool(flag & kinds.LEAD) and bool(kinds.WORDLIKE[flag & kinds.KIND])
        return is_word and not flag & kinds.TITLE

    @staticmethod
    def _opens(pieces: Sequence[str], flags: Flags, at: int, begin: int) -> bool:
        """Return whether a piece is the first word of a text, line or sentence."""
        for before in range(at - 1, begin - 1, -1):
            flag = int(flags[before])
            if flag & kinds.ENDER:
                return True
            is_space = flag & kinds.KIND == kinds.SPACE
            if not (is_space or pieces[before].strip(" ") in common.OPENING):
                return False
        return True

    def _candidate(self, body: str, opens: bool) -> str:
        """Return a candidate in the form that counts, "" for other words."""
        known = self._known.get((body, opens))
        if known is None:
            known = self._known[body, opens] = self._judge(common.spelled(body), opens)
        return known

    def _judge(self, word: str, opens: bool) -> str:
        if not _LEAST <= len(word) <= _MOST or _WORD.fullmatch(word) is None:
            return ""
        if any(map(self._is_listed, {word, *_PARTS.split(word)})):
            return ""
        lower = key_of(word)
        if opens and word[1:].islower() and lower in self._dictionary:
            return lower
        return word

    def _is_listed(self, word: str) -> bool:
        """Return whether a public list contains a word, ignoring case."""
        key = key_of(word)
        title = key.capitalize()
        persons = language_data.person_names(self._language)
        return (
            key in self._excluded
            or key.removesuffix("'s") in self._excluded
            or names.fold(key) in persons
            or names.known_is_name(title, self._language)
        )


def _excluded(language: str) -> frozenset[str]:
    """Return a language's words that are never candidates, as keys."""
    lists = languages.language_lists(language)
    calendar = frozenset(map(key_of, (*lists.months, *lists.weekdays)))
    people = lists.names | lists.demonyms | lists.special | calendar
    return people | lists.places | lists.strong | lists.bodies | lists.organisations
