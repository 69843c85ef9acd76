"""Ratings: their scales, and which of them copied words tell: public rules.

Where opinions are copied, ratings that are told are copied, too. They are told by their
own spelling, by copied words and marks beside them, and by the shown form of the word
behind a scale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from dptext.tokens import grammar, kinds, language_data
from dptext.tokens.languages import language_lists
from dptext.types import ENGLISH, Words
from dptext.writing.counting import Counting, copied, is_number

#: The most stars that are drawn.
STARS = 5
# A fraction that stands for a half behind a number of stars.
_HALF = re.compile(r" \d/\d")
_SCALES = frozenset({"5", "10", "100"})
_RATING = re.compile(r"([1-9]\d?|10)(?:\.(\d))?/(5|10|100)")
# The most stars, and pieces before and behind a rating among which a word may tell it.
_MOST_STARS, _BEFORE_RATING, _BEHIND_RATING = 10, 3, 2
_OF_STARS = re.compile(r"10|\d(?:\.\d)?")
# Marks that may stand between a rating and an opinion.
_BESIDE_OPINIONS = frozenset(",:;-–—(")
# Characters of the longest rating, "99.9/100", and of the number before a scale.
_LONGEST, _LONGEST_NUMBER = 8, 4
_NOUNS = frozenset((grammar.NOUN, grammar.PLURAL))


class Scale(NamedTuple):
    """A rating: digits of the number before the point, and behind it, and the scale."""

    digits: int
    part: int
    scale: int


@lru_cache(maxsize=4096)
def rating(body: str) -> Scale | None:
    """Return the layout of a rating such as 4/5, None for other numbers."""
    match = _RATING.fullmatch(body)
    if match is None:
        return None
    number, part, scale = match[1], match[2] or "", int(match[3])
    if int(number) > scale or (int(number) == scale and part.strip("0")):
        return None
    return Scale(len(number), len(part), scale)


class Ratings:
    """Reads the words beside ratings."""

    def __init__(self, counting: Counting, language: str) -> None:
        self._counting = counting
        lists = dict(language_data.sections("number_frames"))
        self._lists = {name: frozenset(words) for name, words in lists.items()}
        self._opinions = language_data.opinion_words(language)

    def is_before_half(self, words: Words, position: int, end: int) -> bool:
        """Return whether a fraction and stars are behind a number: "2 1/2 stars"."""
        stars = position + 2
        if stars >= end or not is_number(words, position + 1):
            return False
        is_half = _HALF.fullmatch(words.pieces[position + 1]) is not None
        return is_half and copied(words, stars) in self._lists["stars"]

    def scale_of(self, words: Words, position: int) -> int:
        """Return the scale that stands behind a number ("8 out of 10"), 0 for none."""
        out, end = position + 1, words.bounds_at(position)[1]
        if out < end and copied(words, out) in self._lists["stars"]:
            out += 1  # "4 stars out of 5"
        scale_at = out + 2
        if scale_at >= end or copied(words, out) != "out":
            return 0
        here, scale = (words.pieces[at].strip(" ") for at in (position, scale_at))
        is_scale = copied(words, out + 1) == "of"
        is_scale = is_scale and is_number(words, scale_at)
        return int(scale) if is_scale and rating(f"{here}/{scale}") else 0

    def is_scale(self, words: Words, position: int) -> bool:
        """Return whether a number is the scale of the rating before it."""
        if words.pieces[position].strip(" ") not in _SCALES:
            return False
        begin = words.bounds_at(position)[0]
        return any(
            first >= begin
            and is_number(words, first)
            and bool(self.scale_of(words, first))
            for first in (position - 3, position - 4)
        )

    def is_rating(self, words: Words, position: int) -> bool:
        """Return whether a number is a rating, by its spelling and copied words.

        Stars ("4 stars", "4.5-star", "4 of 5 stars"); a part of a scale ("8 out of
        10", but no people or times); 4/5 and the like beside a word such as rated or
        beside an opinion, or in a sentence of its own, but not behind a word of dates
        ("on 4/5"); and numbers up to 10 right behind "rated" and the like; and the 3 of
        "<3".
        """
        body = words.pieces[position].strip(" ")
        if len(body) > (_LONGEST if "/" in body else _LONGEST_NUMBER):
            return False
        begin, end = words.bounds_at(position)
        if body == "3" and self._is_heart(words, position, begin, end):
            return True
        if _OF_STARS.fullmatch(body) and float(body) <= _MOST_STARS:
            if (
                self._is_of_stars(words, position, end)
                or self._is_part_of_stars(words, position, end)
                or self.is_before_half(words, position, end)
                or self._is_rated(words, position, begin)
            ):
                return True
        if "/" not in body:
            is_part = bool(self.scale_of(words, position))
            return is_part and self._is_of_scale(words, position, end)
        return rating(body) is not None and self._is_told(words, position, begin, end)

    def _is_heart(self, words: Words, position: int, begin: int, end: int) -> bool:
        """Return whether a 3 is a part of "<3", with no noun behind: "<3 days"."""
        if position == begin or copied(words, position - 1) != "<":
            return False
        after = position + 1
        return words.pieces[position] == "3" and (
            after >= end or self._counting.shown(words, after)[1] not in _NOUNS
        )

    def _is_of_stars(self, words: Words, position: int, end: int) -> bool:
        """Return whether stars are behind a number, also in "5-star"; not "5 * 3"."""
        after = position + 1
        after += after + 1 < end and copied(words, after) == "-"
        if after >= end or words.pieces[after] == " *":
            return False
        return copied(words, after) in self._lists["stars"]

    def _is_part_of_stars(self, words: Words, position: int, end: int) -> bool:
        """Return whether "of" and a number of stars are behind one that is no more."""
        most = position + 2
        if most >= end or copied(words, position + 1) != "of":
            return False
        here, scale = (words.pieces[at].strip(" ") for at in (position, most))
        is_part = rating(f"{here}/{scale}") is not None
        return is_part and self._is_of_stars(words, most, end)

    def _is_told(self, words: Words, position: int, begin: int, end: int) -> bool:
        """Return whether 4/5 is a rating, by its point or the words beside it."""
        before = _sentence(words, range(position - 1, begin - 1, -1))[:_BEFORE_RATING]
        after = _sentence(words, range(position + 1, end))[:_BEHIND_RATING]
        if after[:1] == ["of"]:
            return False
        if "." in words.pieces[position]:
            return True
        if before and before[0] in self._lists["dates"]:
            return False
        return (
            not self._lists["ratings"].isdisjoint((*before, *after))
            or not self._lists["raters"].isdisjoint(after)
            or self._is_opinion(before, words.language_at(position))
            or self._is_opinion(after, words.language_at(position))
            or not (before or after)
        )

    def _is_rated(self, words: Words, position: int, begin: int) -> bool:
        """Return whether "rated", "rating:" and the like are right before a number."""
        at = position - 1
        passed = self._lists["before-ratings"]
        while at >= begin and (copied(words, at) in passed or is_number(words, at)):
            at -= 1  # "on a scale of 1 to 10"
        if at < begin or copied(words, at) not in self._lists["rates"]:
            return False
        after, end = position + 1, words.bounds_at(position)[1]
        return after >= end or self._counting.shown(words, after)[1] not in _NOUNS

    def _is_of_scale(self, words: Words, position: int, end: int) -> bool:
        """Return whether no noun but stars is behind a scale: "4 out of 5 people"."""
        at = position + 3
        at += copied(words, position + 1) != "out"
        if at + 1 >= end:
            return True
        if copied(words, at + 1) in self._lists["stars"] | self._lists["raters"]:
            return True
        return self._counting.shown(words, at + 1)[1] not in _NOUNS

    def _is_opinion(self, beside: Sequence[str], language: str) -> bool:
        """Return whether a word of opinion is first, or behind a mark."""
        first = beside[:1]
        if first and first[0] in _BESIDE_OPINIONS:
            first = beside[1:2]
        is_english = language in ("", ENGLISH)
        opinions = self._opinions if is_english else language_lists(language).opinions
        return not opinions.isdisjoint(first)


def _sentence(words: Words, places: Iterable[int]) -> list[str]:
    """Return the copied words and marks at places, up to the end of a sentence."""
    within = takewhile(lambda at: not words.flag[at] & kinds.ENDER, places)
    return [copied(words, at) for at in within]
