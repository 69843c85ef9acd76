"""Checks whether a lexicon knows the words of the first records.

If not, the language is probably another: all unknown words are one input of a
mechanism, so that the output is private and means nothing. Warnings hold no word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np

from dptext.engine.fields import CHARACTERS, SAMPLE
from dptext.errors import UsageError
from dptext.lexicons.public_rows import PublicRows
from dptext.run.interface import option
from dptext.tokens import kinds, languages
from dptext.tokens.policy import Policy
from dptext.tokens.regex import key_of
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import ENGLISH, Ints, Lexicon, Record, Words
from dptext.writing.whole_texts import WholeTexts

# A language of fewer texts than one of so many is not proposed.
_PROPOSED = 20
_UNKNOWN = 1 / 3  # of the words make a warning
_FEWEST = 6  # unknown words below which nothing is said
_FEWEST_OF_TEXT = 3  # unknown words below which nothing is said of one text
_FEWEST_WORDS = 4  # of a text without capitals that is counted
# Persons of docs/tokens.md that are unchanged in texts without capitals.
_LOWER_SHARE = "1 to 4%"
_LOWER = 1 / 10  # of the texts without capitals make a warning
_COUNTED = [kinds.WORD, kinds.STOP_WORD, kinds.COMMON, kinds.UNKNOWN]
_NAMES = [kinds.PERSON, kinds.PLACE, kinds.ORGANISATION, kinds.CALENDAR]
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese syllables, Han.
_UNSPACED = (
    "[\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af]"
)
_LETTER = re.compile(r"[^\W\d_]")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(_UNSPACED)


class Language:
    """Warns once if the lexicon does not fit the language of the first records.

    tokenizer finds words using the named lexicon; without one, only `public` inspects
    texts, to recognise texts that topics were built from.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None = None,
        lexicon: str = "",
        warn: Callable[[str], None] = lambda line: None,
        public: PublicRows | None = None,
    ) -> None:
        # Where whole texts are drawn, the words that their topic follows from.
        self._is_whole = isinstance(tokenizer, WholeTexts)
        if isinstance(tokenizer, WholeTexts):
            tokenizer = tokenizer.inner
        self._tokenizer, self._lexicon, self._warn = tokenizer, lexicon, warn
        self._public = public
        self._records = self._letters = self._unspaced = 0
        # Texts that are not blank; of another language; without spaces; without
        # capitals, where common words stay.
        self._texts = self._foreign = self._solid = self._lower = 0
        # Texts that become a mark.
        self._marked = 0
        self._pieces = np.zeros(kinds.COUNT, np.int64)
        # Whether texts may be in other languages, of which nothing was measured.
        self._has_languages = False

    def look(self, records: Iterable[Record]) -> None:
        """Inspect the next records before they are written.

        Raises UsageError for texts in a script without spaces between words, in which
        a whole sentence counts as one word, and for texts that topics were built from.
        """
        if self._public is not None:
            records = list(records)
            self._public.look(records)
        if self._tokenizer is None or self._records >= SAMPLE:
            return
        real = (record for record in records if record.texts)
        first = list(islice(real, SAMPLE - self._records))
        texts = [text[:CHARACTERS] for record in first for text in record.texts]
        words = self._tokenizer.words(texts)
        kind = _kinds(words, self._tokenizer)
        self._pieces += np.bincount(kind, minlength=kinds.COUNT)
        for text, code in zip(texts, words.languages or (), strict=False):
            self._has_languages |= code not in ("", ENGLISH)
            if not code:
                self._marked += 1
                self._pieces[kinds.UNKNOWN] += len(text.split())
        self._texts += sum(bool(text.strip()) for text in texts)
        self._foreign += _count_foreign(kind, words)
        self._lower += _count_lower(words)
        for text in texts:
            letters = len(_LETTER.findall(text))
            unspaced = 0 if text.isascii() else len(_unspaced().findall(text))
            self._letters += letters
            self._unspaced += unspaced
            self._solid += unspaced > letters / 2
        self._records += len(first)
        is_unspaced = self._unspaced > _UNKNOWN * self._letters and self._are_unknown
        if is_unspaced and not self._is_whole:
            raise UsageError(
                "the first records are in a script without spaces between words "
                f"(Chinese, Japanese, Thai, ...), and lexicon {self._lexicon} does not "
                "know their words; put spaces between words and give a lexicon of the "
                f"language ({option('lexicon')}), or choose a treatment for unknown "
                f"words: {option('set', 'tokens.unknown=mask')} (or drop, perturb, "
                "keep)"
            )
        if self._records == SAMPLE:
            self._say()

    def close(self) -> None:
        """Warn now if there were fewer records than the sample size."""
        if self._records < SAMPLE:
            self._say()
        if self._public is not None and self._public.warning:
            self._warn(self._public.warning)

    @property
    def _are_unknown(self) -> bool:
        words = self._pieces[_COUNTED].sum()
        return bool(self._pieces[kinds.UNKNOWN] > _UNKNOWN * words)

    def _say(self) -> None:
        is_known = self._pieces[kinds.UNKNOWN] < _FEWEST or not self._are_unknown
        if is_known or self._marked:
            if not self._is_whole:
                self._say_of_texts()
        elif self._is_whole:
            self._warn(
                f"{self._lexicon} were built with a lexicon that lacks over a third of "
                "the first words, so they describe these texts badly; for texts in "
                "another language, build topics with a lexicon of that language "
                "(dptext topics build)"
            )
        else:
            self._warn(
                f"over a third of the first words are not in lexicon {self._lexicon}: "
                "for texts in another language, build a lexicon from public texts: "
                "dptext lexicon adapt"
            )

    def _say_of_texts(self) -> None:
        """Warn about single texts whose output is meaningless."""
        of_all = f"of the first {self._texts:,} texts"
        lost = "such texts lose their meaning; remove them"
        if self._marked:
            self._warn(
                f"{self._marked} {of_all}: in another language, so nothing of them is "
                f"written; name the language, as in {option('language', 'de')}"
            )
        if self._foreign:
            self._warn(
                f"{self._foreign} {of_all}: over a third of the words are not in "
                f"lexicon {self._lexicon}, perhaps because of another language; {lost}"
            )
        if self._solid:
            self._warn(
                f"{self._solid} {of_all}: a script without spaces (Chinese, Japanese, "
                f"Thai, ...), in which a sentence counts as one word: {lost}"
            )
        if self._lower > _LOWER * self._texts:
            measured = f" ({_LOWER_SHARE} of the persons in public corpora)"
            self._warn(
                f"{self._lower} {of_all}: no capital letters, so names that are also "
                'common words ("mark") may be left unchanged'
                f"{'' if self._has_languages else measured}"
            )


def _count_lower(words: Words) -> int:
    """Count texts with common kept words but no capital letter."""
    kind = words.flags & kinds.KIND
    texts = np.repeat(np.arange(len(words.ends)), np.diff(words.ends, prepend=0))
    size = len(words.ends)
    common = np.bincount(texts[kind == kinds.COMMON], minlength=size)
    capital = np.bincount(texts[(words.flags & kinds.TITLE) != 0], minlength=size)
    return int(((common >= _FEWEST_WORDS) & (capital == 0)).sum())


def _kinds(words: Words, tokenizer: Tokenizer) -> Ints:
    """Return the kinds of pieces; names count as words, known or not: (n,).

    Capitalised nouns of other languages may otherwise be tokenized as names.
    """
    kind: Ints = (words.flags & kinds.KIND).astype(np.int64)
    if words.languages is not None:  # others are read by lists
        by_lists = [code not in ("", ENGLISH) for code in words.languages]
        kind[np.repeat(by_lists, np.diff(words.ends, prepend=0))] = kinds.SPACE
    for position in np.flatnonzero(np.isin(kind, _NAMES)):
        is_known = tokenizer.lookup(key_of(words.pieces[position].strip())) >= 0
        kind[position] = kinds.WORD if is_known else kinds.UNKNOWN
    return kind


def _count_foreign(kind: Ints, words: Words) -> int:
    """Count texts in which more than a third of the words are unknown."""
    starts = np.r_[0, words.ends[:-1]]
    totals = [
        np.r_[0, np.cumsum(each)]
        for each in (kind == kinds.UNKNOWN, np.isin(kind, _COUNTED))
    ]
    unknown, every = (total[words.ends] - total[starts] for total in totals)
    return int(((unknown >= _FEWEST_OF_TEXT) & (unknown > _UNKNOWN * every)).sum())


def is_asked_for(overrides: Mapping[str, object]) -> bool:
    """Return whether overrides set the treatment of unknown words."""
    tokens = overrides.get("tokens")
    return isinstance(tokens, Mapping) and "unknown" in tokens


def languages_in(texts: Sequence[str], policy: Policy, lexicon: Lexicon) -> list[str]:
    """Return languages with at least 5% of the longer texts, [] for English only."""
    every = replace(policy, languages=(ENGLISH, *languages.languages()))
    long = [text for text in texts if len(text.split()) >= languages.MANY]
    read = Counter(Tokenizer(lexicon, every).words(long).languages)
    least = max(1, len(long) / _PROPOSED)
    codes = [code for code in every.languages if read[code] >= least]
    return [] if codes in ([], [ENGLISH]) else codes
