"""Which characters a third party may write into a text: those that people see.

What nobody sees could carry a message past everybody who looks at the text, or change
how it is read. So this is a list of what is allowed, by Unicode's general category, and
a character that Python does not know is not allowed. Exceptions are named below.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

# Letters, marks, figures, punctuation and symbols. Not Me: it encloses what it follows.
_CATEGORIES = frozenset(
    {
        *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"),
        *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So"),
    }
)
# Of these categories, but without a look of their own: Unicode's property
# Default_Ignorable_Code_Point, which Python does not have.
_IGNORABLE = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xE0000, 0xE0FFF),  # tags, more variation selectors
)
# Words in the names of characters that are seen as nothing, or stand for a lost one.
_UNSEEN = re.compile(
    r"\b(FILLER|BLANK|NULL|INVISIBLE|JOINER|SELECTOR|REPLACEMENT CHARACTER)\b"
)
# Joiners, which scripts need within words, and symbols to make one of several.
_JOINERS = "\u200c\u200d"
_OF_SYMBOLS = "\u200d"
# Beginnings of the names of letters that joiners may stand between.
_JOINED = (
    *("ARABIC", "SYRIAC", "MANDAIC", "NKO", "MONGOLIAN", "DEVANAGARI", "BENGALI"),
    *("GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM"),
    *("SINHALA", "KHMER", "MYANMAR", "TIBETAN"),
)
# Tones of skin, which stand after a symbol.
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
# Marks on one letter, of which no written language has more.
_MOST_MARKS = 4


@cache
def is_allowed(character: str) -> bool:
    """Tell whether a character may stand anywhere in a text: a space, or seen."""
    if character == " ":
        return True
    code, name = ord(character), unicodedata.name(character, "")
    return (
        unicodedata.category(character) in _CATEGORIES
        and not any(low <= code <= high for low, high in _IGNORABLE)
        and _UNSEEN.search(name) is None
    )


def are_allowed(line: str) -> bool:
    """Tell whether a line holds allowed characters alone, and joiners in their place.

    A joiner stands between two letters of a script that has joiners, or a zero-width
    joiner between two symbols; never two of them. Marks follow letters, a few each.
    """
    marks, before = 0, ""
    for character, after in pairwise([*line, ""]):
        if character in _JOINERS:
            if not _joins(before, character, after):
                return False
        elif not is_allowed(character):
            return False
        is_mark = unicodedata.category(character) in ("Mn", "Mc")
        marks = marks + 1 if is_mark else 0
        if marks > _MOST_MARKS or (is_mark and before in ("", " ")):
            return False
        before = character
    return True


def _joins(before: str, joiner: str, after: str) -> bool:
    """Tell whether a joiner may stand between two characters."""
    if not before or not after or not is_allowed(before) or not is_allowed(after):
        return False
    names = unicodedata.name(before, ""), unicodedata.name(after, "")
    if all(name.startswith(_JOINED) for name in names):
        return True
    symbols = [unicodedata.category(each) == "So" for each in (before, after)]
    symbols[0] = symbols[0] or before in _TONES
    return joiner in _OF_SYMBOLS and all(symbols)
