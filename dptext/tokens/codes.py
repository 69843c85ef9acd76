"""Codes of letters and digits, such as order numbers, recognised by spelling."""

from __future__ import annotations

import re

from dptext.tokens.draws import (
    CONSONANTS,
    DIGITS,
    Integers,
    draw_numbers,
    numeric_shape,
    put,
    shape,
)

#: Pattern of names with dots between them, as programs have.
DOTTED = r"[a-z_]\w+(?:\.[a-z_]\w+){2,}"
_DOTTED = re.compile(f"(?a:{DOTTED})", re.IGNORECASE)
#: Codes of states of the USA, in capitals before a postcode.
STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE "
    "NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC"
).split()
#: Patterns of postcodes with a space, of Britain, Canada and behind the code of a state
#: of the USA. "M1 8GB" is a size.
POSTCODES = (
    "[A-Z]{1,2}[0-9][A-Z0-9]? [0-9](?!GB|TB)[ABD-HJLN-UW-Z]{2}",
    "[A-Z][0-9][A-Z] [0-9][A-Z][0-9]",
    f"(?-i:{'|'.join(STATES)}) [0-9]{{5}}(?:-[0-9]{{4}})?",
)
# Letters that are written behind the space of one: all that its pattern has there.
_BEHIND = "".join(letter for letter in CONSONANTS if letter not in "BCKMV")
# Small ones, none of which ends an ordinal ("2nd").
_BEHIND_SMALL = "".join(letter for letter in _BEHIND.lower() if letter not in "dht")
_OF_STATE = re.compile("AA (?=1)")
# The letters of each such name that is written.
_LETTERS = 5
_PARTS = re.compile(r"[-_/.]")
_SEGMENT = re.compile("[A-Za-z]+|[0-9]+")
_YEARS = re.compile(r"(?:1[89]|20)[0-9]{2}(?:-(?:(?:1[89]|20)[0-9]{2}|[0-9]{2}))?")
_NO_CODE = re.compile(r"[0-9]+(?:st|nd|rd|th|s)", re.IGNORECASE)

# Social security numbers of the USA, none of which begins with 666.
_SOCIAL_SECURITY, _NO_AREA = "111-11-1111", "666"


def is_code(text: str) -> bool:
    """Return whether a piece is a code, such as an order or serial number.

    These are codes: "#" with digits; a part of letters and digits with three digits, or
    with two if it has no small letters or changes twice between letters and digits;
    separate letters and numbers with five digits, or three if all letters are capitals;
    seven digits, except for two years; three names with dots between them; postcodes,
    which "Q1 2nd" is not.
    """
    if " " in text:
        return text.isupper() or not _NO_CODE.fullmatch(text.rpartition(" ")[2])
    return _is_dotted(text) or _is_code(text)


def _is_dotted(text: str) -> bool:
    return "." in text and _DOTTED.fullmatch(text) is not None


def _is_code(text: str) -> bool:
    if text[0] == "#":
        if text[1:].isdigit():
            return True
        text = text[1:]
    if _NO_CODE.fullmatch(text):
        return False
    digits = sum(map(str.isdigit, text))
    parts = _PARTS.split(text)
    if digits == len(text) - len(parts) + 1:
        return digits >= 7 and "." not in text and not _YEARS.fullmatch(text)
    for part in parts:
        changes = len(_SEGMENT.findall(part)) - 1
        inside = sum(map(str.isdigit, part))
        if changes and not _NO_CODE.fullmatch(part):
            few = inside == 2 and len(part) >= 4 and (part.isupper() or changes > 1)
            if inside >= 3 or few:
                return True
    letters = "".join(filter(str.isalpha, text))
    return digits >= 5 or (digits >= 3 and letters.isupper())


def find_layout(text: str) -> str:
    """Return the layout of a code; names with dots are five letters each."""
    if _is_dotted(text) and not _is_code(text):
        names = ("A" if name[0].isupper() else "a" for name in text.split("."))
        return ".".join(first + "a" * (_LETTERS - 1) for first in names)
    return shape(text) if re.search("[A-Za-z#]", text) else numeric_shape(text)


def write(layout: str, draws: Integers) -> str:
    """Return a random code with a layout."""
    if _OF_STATE.match(layout):
        state = STATES[draws.below(len(STATES))]
        digits = draws.characters(DIGITS, layout.count("1"))
        return put(layout, state + digits)
    if layout == _SOCIAL_SECURITY:
        return put(layout, _NO_AREA + draws.characters(DIGITS, 6))
    if not re.search("[Aa#]", layout):
        # With a first zero some would become telephone numbers.
        return draw_numbers(layout, draws)
    kinds = {"A": CONSONANTS, "a": CONSONANTS.lower(), "1": DIGITS}
    drawn = []
    if layout[:2] == "#1":  # as a plain number
        drawn, layout = ["#", draws.characters(DIGITS[1:])], layout[2:]
    for each in layout:
        if each == " ":
            kinds |= {"A": _BEHIND, "a": _BEHIND_SMALL}
        drawn.append(draws.characters(kinds[each]) if each in kinds else each)
    return "".join(drawn)
