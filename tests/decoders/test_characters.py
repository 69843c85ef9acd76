"""Text of a third party holds characters that people see, of all that Unicode has."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from dptext import lexicons
from dptext.decoders.endpoint import are_allowed, is_allowed

# Unicode's property Default_Ignorable_Code_Point, as DerivedCoreProperties.txt of
# Unicode 16 has it, and characters that are seen as nothing without it.
IGNORABLE = {
    0xAD,
    0x34F,
    0x61C,
    *range(0x115F, 0x1161),
    0x17B4,
    0x17B5,
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0x3164,
    *range(0xFE00, 0xFE10),
    0xFEFF,
    0xFFA0,
    *range(0xFFF0, 0xFFF9),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE1000),
}
BLANK = {0x2800, 0x1D159, 0x16FE4, 0xFFFC, 0xFFFD}
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me")


def test_nothing_that_is_not_seen_is_allowed() -> None:
    """Over all of Unicode: no control, no format, no filler, no space but one."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        kind = unicodedata.category(character)
        hidden = kind in HIDDEN or code in IGNORABLE or code in BLANK
        if hidden or (kind == "Zs" and character != " "):
            assert not is_allowed(character), hex(code)


def test_what_is_seen_is_allowed() -> None:
    """Letters, figures, punctuation and symbols of all scripts, with few exceptions."""
    refused = {
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code))[0] in "LNPS" and not is_allowed(chr(code))
    }
    assert len(refused) < 30
    assert not refused & set(map(chr, range(0x20, 0x7F)))
    for character in "äß€©°✓½三界한ไटعא😀“…—":
        assert is_allowed(character), character
    words = "".join(lexicons.find("builtin").words)
    assert are_allowed("".join(sorted(set(words))))


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("می‌خواهم", True),
        ("क्‍ष", True),
        ("👩‍🔬 and 👩🏽‍🔬", True),
        ("a\u200db", False),
        ("a\u200cb", False),
        ("a \u200d b", False),
        ("\u200dab", False),
        ("ab\u200d", False),
        ("می\u200c\u200cخواهم", False),
        ("👩\u200d\u200d🔬", False),
        ("👩\u200c🔬", False),
        ("^\u200d^", False),
        ("❤\ufe0f", False),
        ("a\U000e0061b", False),
        ("a\u0301\u0302b", True),
        ("a" + "\u0301" * 5, False),
        (" \u0301", False),
        ("\u0301a", False),
        ("", True),
    ],
)
def test_joiners_and_marks_have_their_place(line: str, allowed: bool) -> None:
    """Between letters of scripts that need them, or symbols, and never in a row."""
    assert are_allowed(line) is allowed
