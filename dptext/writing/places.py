"""The places that fit behind copied words: "the UK", "City of Boston"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dptext.tokens import kinds, language_data, written_classes
from dptext.tokens.grammar import PAST, THIRD
from dptext.tokens.policy import Form
from dptext.tokens.regex import key_of
from dptext.types import Lexicon, Mask, Words
from dptext.writing.counting import Counting

# Copied words before "of" and a town, and before other places.
_TOWNS = frozenset(("city", "town", "port", "village"))
_STATES = frozenset(("state", "republic", "kingdom", "government"))


class Places:
    """Chooses places of a lexicon by the pieces before and behind them."""

    def __init__(
        self, lexicon: Lexicon, is_copied: Mask, counting: Counting | None
    ) -> None:
        """Take the kinds of copied words, and what reads the forms of words."""
        self._is_copied, self._counting = is_copied, counting
        self._towns, self._countries = written_classes.towns_and_others(lexicon)
        self._with_the = written_classes.places_with_the(lexicon)
        self._functions = language_data.stop_words(lexicon.language)

    def find(
        self, words: Words, position: int, begins: Collection[int]
    ) -> Sequence[str]:
        """Return the places one of which fits at a position, () for any."""
        if fitting := self._behind(words, position, begins):
            return fitting
        is_behind = self._is_behind_the(words, position, begins)
        return self._with_the if is_behind else ()

    def _behind(
        self, words: Words, position: int, begins: Collection[int]
    ) -> Sequence[str]:
        """Return towns behind "City of" or a street and a comma, () for any places."""
        at, mark = position - 2, words.pieces[position - 1].strip(" ")
        if at < 0 or position in begins or position - 1 in begins:
            return ()
        if mark == "," and at in words.formed:
            return self._towns if words.formed[at][0] is Form.ADDRESS else ()
        if mark != "of" or words.flag[at] & kinds.KIND != kinds.COMMON:
            return ()
        word = words.pieces[at].strip(" ").lower()
        if word in _STATES:
            return self._countries
        return self._towns if word in _TOWNS else ()

    def _is_behind_the(
        self, words: Words, position: int, begins: Collection[int]
    ) -> bool:
        """Return whether "the" is before a place and no noun behind: "the UK has"."""
        before, after = position - 1, position + 1
        if before < 0 or position in begins or not self._with_the:
            return False
        if words.pieces[before].strip(" ").lower() != "the":
            return False
        if not self._is_copied[words.flag[before] & kinds.KIND]:
            return False
        if after >= len(words.pieces) or after in begins:
            return True
        kind = words.flag[after] & kinds.KIND
        is_function = key_of(words.pieces[after].strip(" ")) in self._functions
        if self._counting is not None:  # "the UK said"
            is_function |= self._counting.shown(words, after)[1] in (PAST, THIRD)
        return not kinds.WORDLIKE[kind] or bool(is_function & self._is_copied[kind])
