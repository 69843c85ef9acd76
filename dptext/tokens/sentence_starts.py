"""Sentence beginnings, and other positions where words are copied.

dptext.tokens.common classifies words by spelling. Here marks and
neighbouring copied words decide, and visible capitals and numbers, never a
replaced word.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from dptext.tokens import kinds, language_data
from dptext.tokens.common import (
    BEFORE_MARKS,
    BEHIND_MARKS,
    BEHIND_VERB,
    COUNTED,
    DOT,
    GREETS,
    HEADED,
    LETTER,
    LITTLE,
    LOG_KEY,
    NAMED,
    OPENS,
    STARTS,
    TITLES,
    UNITS,
    VERB,
)
from dptext.types import ENGLISH, Ints, Mask

_DASHES = frozenset((" -", " –", " —"))
_QUOTES = frozenset("\"'“‘„«")
# Most words from a greeting to its comma, and before the colon of a speaker.
_GREETED, _SPEAKERS = 4, 3
# Keys behind which names stand: no sentence begins there.
_NO_SPEAKERS = frozenset(
    "company employer bank firm shop store school vendor supplier merchant seller "
    "brand organisation organization hospital hotel product model at by".split()
)
# Marks behind which a cell of a table, or a part of a list, begins.
_CELLS = frozenset((" |", "|", "\t", ";"))
# Copied words in small letters before a room: "in our Room".
_BEFORE_ROOMS = LITTLE | frozenset(
    "our your their his her my this that each every any no".split()
)
# Most words with a capital from "The" to a room: "The Shop Floor".
_ARTICLE, _OF_TITLES = frozenset(("The",)), 3
# Kinds of pieces that are no marks.
_SPOKEN = kinds.LETTERED.copy()
_SPOKEN[kinds.NUMBER] = True


class Shown(NamedTuple):
    """The places that a policy shows."""

    #: Places of numbers, and of capitals.
    numbers: bool
    capitals: bool


def settle(codes: Ints, ends: Ints, pieces: Sequence[str], shown: Shown) -> None:
    """Make pieces common where their position allows it, in place.

    The codes (p,) are of all pieces of a batch, and ends (r,) those of its texts.
    """
    candidates = np.flatnonzero(codes & (STARTS | LETTER | VERB | LOG_KEY))
    if not len(candidates):
        return
    here = codes[candidates]
    text = np.searchsorted(ends, candidates, "right")
    begins = np.concatenate(([0], ends))[text]
    is_begin = begin(codes, candidates, begins)
    places = _Places(codes, pieces)
    # Behind another word most open no sentence (_Places.opens).
    before = codes[np.maximum(candidates - 1, 0)]
    greeted = (here & VERB != 0) & (before & GREETS != 0)
    inside = is_begin | (_SPOKEN[before & kinds.KIND] & ~greeted)
    other = np.flatnonzero((here & (STARTS | VERB) != 0) & ~inside)
    for at in other.tolist():
        is_begin[at] = places.opens(int(candidates[at]), int(begins[at]))
    last = candidates + 1 == ends[text]
    after = codes[np.minimum(candidates + 1, len(codes) - 1)]
    copied = (here & STARTS != 0) & is_begin
    copied |= _verbs(codes, pieces, candidates, is_begin=is_begin, last=last)
    copied |= (here & LETTER != 0) & (here & STARTS == 0)
    # "AP - A former boxer", "AP - A German": behind a mark and before a word.
    marked = ~kinds.WORDLIKE[codes[np.maximum(candidates - 1, 0)] & kinds.KIND]
    plain = (after & kinds.KIND == kinds.COMMON) & (after & kinds.LEAD != 0) & ~last
    copied |= (here & LETTER != 0) & marked & plain & (after & kinds.TITLE == 0)
    word = kinds.WORDLIKE[after & kinds.KIND] & (after & kinds.LEAD != 0) & ~last
    for at in np.flatnonzero((here & LETTER != 0) & marked & word).tolist():
        copied[at] |= pieces[max(candidates[at] - 1, 0)] in _DASHES
    # "WHAT A SHAME", "I WILL NOT": between copied words in capitals.
    shouted = _are_shouted(before)
    behind = shouted & (before & kinds.KIND == kinds.COMMON)
    behind &= (candidates > begins) & (here & kinds.LEAD != 0)
    between = behind & plain & _are_shouted(after)
    copied |= (here & LETTER != 0) & between
    for at in np.flatnonzero(here & LOG_KEY != 0).tolist():
        position = int(candidates[at])
        first, end = int(begins[at]), int(ends[text[at]])
        body = pieces[position].removeprefix(" ")
        if at and copied[at - 1] and candidates[at - 1] == position - 1:
            behind[at] |= here[at - 1] & kinds.UPPER != 0
        if body in _rooms():
            copied[at] |= not all(shown) or places.is_room(position, first, end)
        copied[at] |= (
            _is_beside_marks(pieces, position, first, end)
            or (behind[at] and body in _shouted("behind"))
            or (between[at] and body in _shouted("between"))
            or (
                (is_begin[at] or marked[at])
                and plain[at]
                and _is_asked(body, pieces[position + 1])
            )
            or (shown.capitals and _is_before_name(codes, pieces, position, end))
            or _is_opinion(codes, pieces, at=position, begin=first, end=end)
            or (
                shown.numbers
                and position > first
                and codes[position - 1] & kinds.KIND == kinds.NUMBER
                and (body in UNITS or body in COUNTED)
            )
        )
    # "SOLD ME A LAMP"
    shouted &= (before & kinds.KIND == kinds.COMMON) | np.append(
        False, copied[:-1] & (np.diff(candidates) == 1)
    )
    shouted &= (here & LETTER != 0) & (candidates > begins) & ~copied & ~last
    for at in np.flatnonzero(shouted & _are_shouted(after)).tolist():
        is_replaced = kinds.LETTERED[after[at] & kinds.KIND]
        is_word = plain[at] or (shown.capitals and is_replaced)
        copied[at] = is_word and _is_function(pieces[candidates[at] - 1])
    initial = (here & LETTER != 0) & (after & DOT != 0) & ~last
    common = candidates[copied & ~initial]
    codes[common] = codes[common] & ~(kinds.KIND | NAMED) | kinds.COMMON
    other = candidates[initial]
    was_common = other[codes[other] & kinds.KIND == kinds.COMMON]
    codes[was_common] = codes[was_common] & ~kinds.KIND | kinds.UNKNOWN


def _verbs(
    codes: Ints,
    pieces: Sequence[str],
    candidates: Ints,
    *,
    is_begin: Mask,
    last: Mask,
) -> Mask:
    """Return which candidates are verbs that begin a sentence: "Will you"."""
    here = codes[candidates]
    after = codes[np.minimum(candidates + 1, len(codes) - 1)]
    behind = (after & BEHIND_VERB != 0) & (after & kinds.LEAD != 0) & ~last
    behind &= after & kinds.KIND == kinds.COMMON
    second = codes[np.minimum(candidates + 2, len(codes) - 1)]
    behind &= (after & LETTER == 0) | (second & DOT == 0)  # "Will A. Smith"
    verb = (here & VERB != 0) & is_begin
    copied: Mask = verb & behind & ~_is_month(here, pieces, candidates)
    for at in np.flatnonzero(verb & ~behind & ~last).tolist():
        copied[at] |= _is_modal(codes, pieces, int(candidates[at]))
    return copied


@cache
def _shouted(side: str) -> frozenset[str]:
    """Return words copied in capitals after a copied word, or between two."""
    return language_data.short_forms(ENGLISH)[f"shouted {side}"]


@cache
def _rooms() -> frozenset[str]:
    """Return parts of an address with a capital."""
    return frozenset(map(str.capitalize, language_data.short_forms(ENGLISH)["rooms"]))


def _are_shouted(codes: Ints) -> Mask:
    """Return which pieces are words in capitals, or an unchanged I."""
    letter = codes & (kinds.KIND | LETTER) == kinds.COMMON | LETTER
    return np.asarray((codes & kinds.UPPER != 0) | letter)


@cache
def _of_places() -> frozenset[str]:
    """Return words such as "City", copied before "of" and a word with a capital."""
    words = language_data.short_forms(ENGLISH)["before of"]
    return frozenset(map(str.capitalize, words))


def _is_before_name(codes: Ints, pieces: Sequence[str], at: int, end: int) -> bool:
    """Return whether "of" and a replaced word with a capital are behind "City"."""
    after = at + 2
    if after >= end or pieces[at + 1] != " of":
        return False
    if pieces[at].strip(" ") not in _of_places():
        return False
    after += after + 1 < end and pieces[after] == " the"
    code = int(codes[after])
    is_word = kinds.LETTERED[code & kinds.KIND]
    return bool(is_word and code & kinds.TITLE and code & kinds.LEAD)


def _is_opinion(
    codes: Ints, pieces: Sequence[str], at: int, begin: int, end: int
) -> bool:
    """Return whether "patient" is an adjective, by the copied words beside it."""
    lists = language_data.short_forms(ENGLISH)
    if at == begin or pieces[at].strip(" ") not in lists["as opinions"]:
        return False
    degree, behind = pieces[at - 1].strip(" ").lower(), at + 1
    if degree not in lists["degrees"] or codes[at - 1] & kinds.KIND != kinds.COMMON:
        return False
    if behind >= end or not kinds.WORDLIKE[codes[behind] & kinds.KIND]:
        return True
    is_copied = codes[behind] & kinds.KIND == kinds.COMMON
    return bool(is_copied and pieces[behind].strip(" ") in lists["behind opinions"])


def _is_asked(body: str, behind: str) -> bool:
    """Return whether WHO, WILL or CAN is a pronoun or modal where a sentence begins."""
    if body not in _shouted("between") or behind.upper() != behind:
        return False
    word = behind.strip(" ").lower()
    lists = language_data.short_forms(ENGLISH)
    return body == "WHO" or word in lists["behind verbs"] | lists["behind modals"]


def _is_function(piece: str) -> bool:
    return piece.strip(" ").lower() in language_data.stop_words(ENGLISH)


def _is_beside_marks(pieces: Sequence[str], at: int, begin: int, end: int) -> bool:
    """Return whether a key precedes "=", or a letter is next to its marks."""
    body = pieces[at].strip(" ")
    behind = pieces[at + 1] if at + 1 < end else ""
    if body not in BEHIND_MARKS and body not in BEFORE_MARKS:
        return len(body) > 1 and behind == "=" and not body.isupper()
    before = pieces[at - 1].strip(" ") if at > begin else ""
    is_behind = BEHIND_MARKS.get(body, before) == before
    return is_behind and BEFORE_MARKS.get(body, behind) == behind


def _is_modal(codes: Ints, pieces: Sequence[str], at: int) -> bool:
    """Return whether a piece is a modal before a copied verb: "Will buy again"."""
    modals, verbs = _modals()
    if pieces[at].strip(" ") not in modals or pieces[at + 1] not in verbs:
        return False
    return bool(codes[at + 1] & kinds.KIND == kinds.COMMON)


@cache
def _modals() -> tuple[frozenset[str], frozenset[str]]:
    """Return capitalised modals, and the pieces before which they are copied."""
    lists = language_data.short_forms(ENGLISH)
    behind = frozenset(f" {each}" for each in lists["behind modals"])
    return frozenset(map(str.capitalize, lists["modals"])), behind


def _is_month(here: Ints, pieces: Sequence[str], candidates: Ints) -> Mask:
    """Return a mask of candidates that are months: "May to June", not "Hope to"."""
    month = here & kinds.KIND == kinds.CALENDAR
    for at in np.flatnonzero(month).tolist():
        month[at] = pieces[min(candidates[at] + 1, len(pieces) - 1)] == " to"
    return np.asarray(month, bool)


class _Places:
    """Positions that begin a sentence, judging by marks and preceding copied words."""

    def __init__(self, codes: Ints, pieces: Sequence[str]) -> None:
        self._codes, self._pieces = codes, pieces

    def opens(self, at: int, begin: int) -> bool:
        """Return whether a sentence begins at a piece; the text begins at `begin`.

        It does after a dash between spaces, the comma of a greeting, the colon of a
        speaker, a quotation mark after a comma or colon, a semicolon, and the mark
        before a cell of a table.
        """
        before = at - 1
        mark = self._pieces[before]
        if mark in _CELLS:
            return True
        no_noun = bool(self._codes[at] & (HEADED | VERB))
        if self._codes[at] & kinds.LEAD:
            if mark in _DASHES:
                return no_noun
            if mark == "-" and self._pieces[before - 1] == " -" and before > begin:
                return no_noun
            if self._codes[at] & VERB and self._codes[before] & GREETS:
                return bool(self._codes[before] & kinds.KIND == kinds.COMMON)
        elif mark.strip(" ") in _QUOTES and before - 1 > begin:
            return no_noun and self._pieces[before - 1] in (",", ":")
        else:
            return False
        if mark == ",":
            return self._greets(before, begin)
        return mark == ":" and self._speaks(before, begin)

    def is_room(self, at: int, begin: int, end: int) -> bool:
        """Return whether a part of an address is no name by what is shown beside it.

        It is one behind "The" inside a sentence ("saw The Room"), and without a number
        or a word with a capital beside it where no little word is before it.
        """
        first = at
        while first > max(begin, at - _OF_TITLES) and self._shows(first - 1):
            first -= 1
            if first > begin and self._is_copied(first, _ARTICLE):
                return not kinds.WORDLIKE[int(self._codes[first - 1]) & kinds.KIND]
        if first < at or at == begin or self._is_copied(at - 1, _BEFORE_ROOMS):
            return True
        if not kinds.WORDLIKE[int(self._codes[at - 1]) & kinds.KIND]:
            return True
        return at + 1 < end and self._shows(at + 1)

    def _shows(self, at: int) -> bool:
        """Return whether a piece is a number, a form or a word with a capital."""
        code = int(self._codes[at])
        is_number = code & kinds.KIND in (kinds.NUMBER, kinds.FORMED)
        return is_number or bool(code & kinds.TITLE)

    def _is_copied(self, at: int, words: frozenset[str]) -> bool:
        """Return whether a piece is one of some copied words."""
        is_one = self._pieces[at].removeprefix(" ") in words
        return is_one and int(self._codes[at]) & kinds.KIND == kinds.COMMON

    def _greets(self, comma: int, begin: int) -> bool:
        for at in range(comma - 1, max(comma - _GREETED - 2, begin - 1), -1):
            code = int(self._codes[at])
            if code & GREETS and code & kinds.KIND == kinds.COMMON:
                return True
            if not kinds.WORDLIKE[code & kinds.KIND]:
                return False
        return False

    def _speaks(self, colon: int, begin: int) -> bool:
        at, words = colon - 1, 0
        while at >= begin:
            code = int(self._codes[at])
            if code & (OPENS | kinds.ENDER):
                break
            kind = code & kinds.KIND
            if not kinds.WORDLIKE[kind] or kind == kinds.FORMED:
                return False
            if kind == kinds.COMMON and at == colon - 1:
                if self._pieces[at].strip(" ").lower() in _NO_SPEAKERS:
                    return False
            at, words = at - 1, words + 1
        return 0 < words <= _SPEAKERS


def begin(codes: Ints, candidates: Ints, begins: Ints) -> Mask:
    """Return a mask of candidates that begin a text, line or sentence: (m,).

    begins (m,) is the start of each candidate's text.
    """
    kind = codes & kinds.KIND
    ends_here = (codes & kinds.ENDER) != 0
    # Pieces that may stand between a mark and the first word of a sentence.
    passed = (codes & OPENS) != 0
    layout = (kind == kinds.SPACE) | (kind == kinds.MARKUP)
    passed |= layout & ~ends_here
    # For each candidate the last other piece before it.
    latest = np.maximum.accumulate(np.where(passed, -1, np.arange(len(codes))))
    before = np.concatenate(([-1], latest[:-1]))[candidates]
    first = before < begins
    mark = np.maximum(before, 0)
    # Whether there is a space between that piece and the word.
    gaps = np.cumsum(((codes & kinds.LEAD) != 0) | (kind == kinds.SPACE))
    spaced = gaps[candidates] > gaps[mark]
    titled = (codes[np.maximum(mark - 1, 0)] & TITLES) != 0
    titled &= (mark > begins) & ((codes[mark] & DOT) != 0)
    after_line = layout[mark]
    return np.asarray(first | (ends_here[mark] & (after_line | (spaced & ~titled))))
