"""Symbols by Unicode category: marks, unknown words, zero-width characters.

One table serves the splitter, the statement of guarantees and docs/tokens.md. A mark is
copied (policy `punctuation: keep`) and belongs to no word: "5€" is a number and a mark.
A symbol that may be meaningful alone is replaced like an unknown word. Characters
without width are removed before a text is divided, since any number of them could carry
a message.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple


class SymbolRule(NamedTuple):
    """A row in the table of symbols."""

    #: General categories of Unicode, as `unicodedata.category` names them.
    categories: tuple[str, ...]
    #: The name in docs and statements.
    name: str
    examples: str
    #: Copied as a mark; otherwise replaced as an unknown word.
    is_mark: bool
    #: Ranges of characters; all characters of the categories if empty.
    ranges: tuple[tuple[int, int], ...] = ()


_LATIN_1, _LETTERLIKE = (0x80, 0xFF), (0x2100, 0x214F)
_SKIN_TONES = (0x1F3FB, 0x1F3FF)  # of category Sk, and parts of emoji
# The first row that holds a character decides.
TABLE = (
    SymbolRule(
        categories=("Sk",),
        name="emoji and other symbols",
        examples="🏽",
        is_mark=False,
        ranges=(_SKIN_TONES,),
    ),
    SymbolRule(
        categories=("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
        name="punctuation marks",
        examples=". , ; ! ? … % & # / ( ) « »",
        is_mark=True,
    ),
    SymbolRule(
        categories=("Sc",),
        name="currency signs",
        examples="$ € £ ¥ ₹",
        is_mark=True,
    ),
    SymbolRule(
        categories=("Sm",),
        name="mathematical signs",
        examples="+ = < > | ~ ± × → ¬",
        is_mark=True,
    ),
    SymbolRule(
        categories=("Sk",),
        name="accents that stand alone",
        examples="^ ` ¨ ´",
        is_mark=True,
    ),
    SymbolRule(
        categories=("So",),
        name="signs of units and law",
        examples="° © ® ™ № ℃",
        is_mark=True,
        ranges=(_LATIN_1, _LETTERLIKE),
    ),
    SymbolRule(
        categories=("So",),
        name="emoji and other symbols",
        examples="😀 ✓ ☎ ♥ Ⓐ",
        is_mark=False,
    ),
    SymbolRule(
        categories=("Cc", "Cf", "Cs", "Co", "Cn"),
        name="control characters",
        examples="U+0007",
        is_mark=False,
    ),
)
_CATEGORIES = {
    category: [rule for rule in TABLE if category in rule.categories]
    for category in {category for rule in TABLE for category in rule.categories}
}
# Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties.txt): soft hyphen,
# joiners, spaces without width, fillers, marks of direction, variation selectors, tags.
_WITHOUT_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ANY_WITHOUT_WIDTH = re.compile(f"[{_WITHOUT_WIDTH}]+")


def is_mark(character: str) -> bool:
    """Return whether a character is a mark in the table; letters and digits are not."""
    point = ord(character)
    for rule in _CATEGORIES.get(unicodedata.category(character), ()):
        ranges = rule.ranges
        if not ranges or any(first <= point <= last for first, last in ranges):
            return rule.is_mark
    return False


def visible(text: str) -> str:
    """Return a text without zero-width characters."""
    return text if text.isascii() else _ANY_WITHOUT_WIDTH.sub("", text)


def names(*, marks: bool) -> tuple[str, ...]:
    """Return the names of all marks, or of all replaced symbols."""
    rules = [rule for rule in TABLE if rule.is_mark == marks]
    return tuple(dict.fromkeys(rule.name for rule in rules))
