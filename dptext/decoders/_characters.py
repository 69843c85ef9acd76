"""Characters that a third party may write into a text: visible ones.

Invisible characters could carry a message that nobody sees, or change how a text is
read. Allowed characters are listed by Unicode's general category, with the exceptions
below; characters that Python does not know are not allowed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

# Letters, marks, figures, punctuation and symbols. Not Me, which encloses a character.
_CATEGORIES = frozenset(
    "Lu Ll Lt Lm Lo Mn Mc Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So".split()
)
# Invisible characters of these categories: Unicode's Default_Ignorable_Code_Point, a
# property that Python does not have.
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
# Words in the names of invisible characters, and of those for a lost character.
_UNSEEN = re.compile(
    r"\b(FILLER|BLANK|NULL|INVISIBLE|JOINER|SELECTOR|REPLACEMENT CHARACTER)\b"
)
# Joiners, which some scripts need within words. The second one also joins symbols.
_JOINERS = "\u200c\u200d"
_SYMBOL_JOINER = "\u200d"
# Scripts with joiners: the beginnings of the names of their letters.
_JOINED = tuple(
    "ARABIC SYRIAC MANDAIC NKO MONGOLIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA "
    "TAMIL TELUGU KANNADA MALAYALAM SINHALA KHMER MYANMAR TIBETAN".split()
)
# Tones of skin, which stand after a symbol.
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
# Most marks on one letter in any written language.
_MOST_MARKS = 4


@cache
def is_allowed(character: str) -> bool:
    """Tell whether a character may stand anywhere: a space, or a visible one."""
    if character == " ":
        return True
    code, name = ord(character), unicodedata.name(character, "")
    return (
        unicodedata.category(character) in _CATEGORIES
        and not any(low <= code <= high for low, high in _IGNORABLE)
        and _UNSEEN.search(name) is None
    )


def are_allowed(line: str) -> bool:
    """Tell whether a line holds only allowed characters, with joiners in their place.

    A joiner stands between two letters of a script with joiners, a zero-width joiner
    also between two symbols; two joiners never stand together. A few marks may follow
    each letter.
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
    return joiner in _SYMBOL_JOINER and all(symbols)
