"""Symbols by Unicode category: which are marks, which stand for a word, which vanish.

One table for the splitter, the statement of guarantees and docs/tokens.md. A mark is
copied (policy `punctuation: keep`) and belongs to no word, so that "5€" stays one
number beside one mark. A symbol that may say something by itself is replaced as an
unknown word is. Characters without width neither divide words nor are words: they are
taken out before a text is divided, since any number of them could carry a message.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple


class SymbolRule(NamedTuple):
    """A row of the table."""

    #: General categories of Unicode, as `unicodedata.category` names them.
    categories: tuple[str, ...]
    #: Ranges that alone are meant; all characters of the categories if empty.
    ranges: tuple[tuple[int, int], ...]
    #: Copied as a mark; else replaced as an unknown word.
    is_mark: bool
    #: In the words of docs and statements.
    named: str
    examples: str


_LATIN_1, _LETTERLIKE = (0x80, 0xFF), (0x2100, 0x214F)
_SKIN_TONES = (0x1F3FB, 0x1F3FF)  # of category Sk, and parts of emoji
# The first row that holds a character decides.
TABLE = (
    SymbolRule(("Sk",), (_SKIN_TONES,), False, "emoji and other symbols", "🏽"),
    SymbolRule(
        ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
        (),
        True,
        "punctuation marks",
        ". , ; ! ? … % & # / ( ) « »",
    ),
    SymbolRule(("Sc",), (), True, "currency signs", "$ € £ ¥ ₹"),
    SymbolRule(("Sm",), (), True, "mathematical signs", "+ = < > | ~ ± × → ¬"),
    SymbolRule(("Sk",), (), True, "accents that stand alone", "^ ` ¨ ´"),
    SymbolRule(
        ("So",),
        (_LATIN_1, _LETTERLIKE),
        True,
        "signs of units and law",
        "° © ® ™ № ℃",
    ),
    SymbolRule(("So",), (), False, "emoji and other symbols", "😀 ✓ ☎ ♥ Ⓐ"),
    SymbolRule(
        ("Cc", "Cf", "Cs", "Co", "Cn"),
        (),
        False,
        "control characters",
        "U+0007",
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
    """Tell whether a character is a mark by the table; letters and digits are none."""
    point = ord(character)
    for rule in _CATEGORIES.get(unicodedata.category(character), ()):
        ranges = rule.ranges
        if not ranges or any(first <= point <= last for first, last in ranges):
            return rule.is_mark
    return False


def visible(text: str) -> str:
    """Return a text without its characters that have no width."""
    return text if text.isascii() else _ANY_WITHOUT_WIDTH.sub("", text)


def names(*, marks: bool) -> tuple[str, ...]:
    """Name all that are marks, or all that are replaced."""
    rules = [rule for rule in TABLE if rule.is_mark == marks]
    return tuple(dict.fromkeys(rule.named for rule in rules))
