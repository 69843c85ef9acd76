"""The kinds of piece, and the flags that a batch of words carries for each piece."""

from __future__ import annotations

WORD = 0  # a word; after the look-up: a word that the vocabulary knows
NUMBER = 1  # digits with inner separators; ordinals and decades: 3rd, 1990s
IDENTIFIER = 2  # URL, e-mail, @handle, #tag, emoji and other symbols with content
PUNCTUATION = 3
SPACE = 4
STOP_WORD = 5  # a known word of the stop list; only the look-up tells
UNKNOWN = 6  # a word outside the vocabulary

NAMES = ("word", "number", "identifier", "punctuation", "space", "stop_word", "unknown")

# Flags of a piece: three bits of kind, then one bit each.
KIND = 7
LEAD = 8  # a single space stands in front
ENDER = 16  # ends a sentence or a line
TITLE = 32  # first letter capital
UPPER = 64  # more than one letter, all capital
