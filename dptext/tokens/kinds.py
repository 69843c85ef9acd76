"""Kinds of pieces, and the flags of each piece in a batch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD = 0  # a word; after the look-up: a word that the vocabulary knows
NUMBER = 1  # digits with inner separators; ordinals and decades: 3rd, 1990s
IDENTIFIER = 2  # URL, e-mail, @handle, #tag, emoji and others (dptext.tokens.symbols)
PUNCTUATION = 3  # a mark, as dptext.tokens.symbols has them
SPACE = 4
STOP_WORD = 5  # a known word of the stop list, after the look-up
UNKNOWN = 6  # a word outside the vocabulary
KEPT = 7  # named by the keep list
MASKED = 8  # named by the mask list
FORMED = 9  # a card number, date, ... with a public form (dptext.tokens.forms)
MARKUP = 10  # a tag, an entity, code: layout, not a word (dptext.tokens.markup)
COMMON = 11  # a common word that is copied (dptext.tokens.common)
# Words of closed classes that are drawn independently of the text (policy `classes`);
# CALENDAR has months and weekdays.
PERSON, PLACE, ORGANISATION, CALENDAR = range(12, 16)

NAMES = tuple(
    "word number identifier punctuation space stop_word unknown kept masked formed "
    "markup common person place organisation calendar".split()
)

# Names of kinds that exist only if a policy asks for them.
OPTIONAL = NAMES[COMMON : CALENDAR + 1]

# Flags of a piece: four bits of kind, then one bit each.
KIND = 15
COUNT = KIND + 1  # most kinds
# Kinds that are not words of a text.
MARKS = (PUNCTUATION, SPACE, MARKUP)
MARK_NAMES = frozenset(NAMES[kind] for kind in MARKS)


def mask(some: Iterable[int]) -> NDArray[np.bool_]:
    """Return a table of all kinds, True for some: (COUNT,)."""
    table = np.zeros(COUNT, bool)
    table[[*some]] = True
    return table


# (COUNT,), True for the other kinds.
WORDLIKE = ~mask(MARKS)
# (COUNT,), True for words of letters, copied or replaced.
LETTERED = mask(
    (WORD, STOP_WORD, UNKNOWN, COMMON, PERSON, PLACE, ORGANISATION, CALENDAR)
)
LEAD = 16  # a single space stands in front
ENDER = 32  # ends a sentence or a line
TITLE = 64  # first letter capital
UPPER = 128  # more than one letter, all capital

_ENDERS = frozenset(".!?…。！？")


def find_flags(kind: int, lead: int, body: str) -> int:
    """Return a piece's kind and flags from its body; lead: LEAD or 0."""
    flags = kind | lead
    if body.islower():  # as most are
        return flags
    if kind == PUNCTUATION and body in _ENDERS:
        flags |= ENDER
    if kind == SPACE and ("\n" in body or "\r" in body):
        flags |= ENDER
    if body[:1].isupper():
        flags |= TITLE
        if body.isupper() and sum(map(str.isalpha, body)) > 1:
            flags |= UPPER
    return flags
