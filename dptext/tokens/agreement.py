"""Agreement: a drawn word is written in the form that the words beside it ask for.

"he walk" becomes "he walks", "these dog" "these dogs", "to went" "to go", "me is" "I
am", "a apple" "an apple". The tables are public (dptext.tokens.agreement_rules), so
that what is written is a function of what was drawn and of what was kept. A stream is
a row of words as they will stand in texts: ids (n,) int32, V for a word of no
vocabulary; beside (n - 1,) whether a word has the one after right behind it; free (n,)
which words may be rewritten, None for all; "a" and "an" also right before one of these:
left as it stood, an article would show how the word that is gone began.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.agreement_rules import Tables
from dptext.tokens.numbers import WITH_AN
from dptext.types import Ids, Lexicon

Mask = NDArray[np.bool_]
# Words that "an" stands before, by their spelling; what is heard otherwise is listed.
_VOWEL = re.compile(
    r"(?!uni(?!n|m)|u[bkrst][aeiou]|u\.|u[ks]$|u$|eu|one|once)[aeiou]|hour|honest|hono"
    r"|heir",
    re.IGNORECASE,
)


class Articles:
    """Write "a" or "an" as the word right after it wants."""

    def __init__(self, lexicon: Lexicon) -> None:
        rows = lexicon.row_of
        self._pair = (rows.get("a", -1), rows.get("an", -1))
        self._article = np.zeros(len(lexicon.words) + 1, bool)
        if min(self._pair) >= 0:
            self._article[list(self._pair)] = True
        vowel = [
            _VOWEL.match(word) is not None or word in WITH_AN for word in lexicon.words
        ]
        self._vowel = np.array([*vowel, False])
        self._unknown = len(lexicon.words)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the articles that are free or stand before a free word in place."""
        here = self._article[ids[:-1]] & beside & (ids[1:] != self._unknown)
        if free is not None:
            here &= free[:-1] | free[1:]
        position = np.flatnonzero(here)
        vowel = self._vowel[ids[position + 1]]
        ids[position] = np.where(vowel, self._pair[1], self._pair[0])


class Inflector:
    """Write words in the forms that their neighbours ask for, then the articles."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._tables = Tables(lexicon)
        self._articles = Articles(lexicon)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the free words of a stream and the articles before them in place.

        First by the word after, then by the word before, as it then stands.
        """
        if self._tables.empty:
            self._articles.write(ids, beside, free)
            return
        tables, before = self._tables, ids[:-1]
        asked = tables.after_of.take(ids[1:])
        asked *= beside
        asked += before
        where = True if free is None else free[:-1]
        np.copyto(before, tables.after.take(asked), where=where)
        asked = np.zeros(len(ids), np.int32)
        np.multiply(tables.before_of.take(before), beside, out=asked[1:])
        asked += ids
        where = True if free is None else free
        np.copyto(ids, tables.before.take(asked), where=where)
        self._articles.write(ids, beside, free)
