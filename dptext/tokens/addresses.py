"""Street addresses with a house number, recognised by the word for a street.

"12 may street", "high street north 14": the number and the street word decide,
whatever the words between them are, unless a function word or a word of a public list
("5 minute drive") is among them. The layout has 1 for each digit and {P} for the name.

Network addresses are here as well; they are replaced by documentation addresses.
"""

from __future__ import annotations

import re
from functools import cache

from dptext.tokens import language_data
from dptext.tokens.draws import DIGITS, Integers, draw_numbers, numeric_shape
from dptext.tokens.regex import guarded
from dptext.types import ENGLISH

_LISTS = dict(language_data.sections("form_words"))
#: Words for streets, in small letters.
STREETS = frozenset(_LISTS["streets"])


def _any(words: list[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_STREET = rf"(?P<street>{_any(_LISTS['streets'])}(?: (?:north|south|east|west)\b)?)"
_FUNCTION = (
    language_data.stop_words(ENGLISH) - language_data.common_lists(ENGLISH)["names"]
)
_NO_NAME = _any([*_LISTS["no-streets"], *sorted(_FUNCTION - {"may"})])
_WORD = rf"(?!{_NO_NAME}\b)[^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME = rf"(?:st\.|[0-9]{{1,3}}(?:st|nd|rd|th)|{_WORD})"
_HOUSE = "[0-9]{1,5}(?:[a-z]|-[0-9]{1,5})?"
# "2 main road closures" are closures.
_NO_NOUN = rf"(?! {_any(_LISTS['after-streets'])}\b)"
# A number behind a street must not count something: "wall street 500 points".
_NO_COUNT = r"(?= *(?:[,.;:)!?\n]|$|in |near |at |and |apt))"
PATTERNS = (
    rf"(?P<first>{_HOUSE},? )(?:{_NAME} ){{1,3}}{_STREET}{_NO_NOUN}",
    rf"{_NAME} {_STREET}(?P<last>,? {_HOUSE}){_NO_COUNT}",
)
#: The text after an address.
GUARD = r"(?![\w@])"
SHOWS = (
    "whether the number is first or last, how many digits and which letter or range it "
    "has, the word of the street (street, road), its capitals, a side such as north, "
    "and commas"
)
#: A number of an IPv4 address.
OCTET = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
_PLACES = language_data.closed_classes(ENGLISH)["places"]


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(guarded(each, GUARD, ascii_only=False) for each in PATTERNS)


def find_layout(text: str) -> str:
    """Return the layout of an address."""
    match = next(filter(None, (each.fullmatch(text) for each in _compiled())))
    groups = match.groupdict(default="")
    first, last = (
        re.sub("[0-9]", "1", groups.get(key, "")) for key in ("first", "last")
    )
    return f"{first}{{P}} {match['street']}{last}"


def write(layout: str, draws: Integers) -> str:
    """Return a random address with a layout; no number begins with 0."""
    out, begins = [], True
    for each in layout:
        if each == "1":
            each = draws.characters(DIGITS[1:] if begins else DIGITS)
            begins = False
        else:
            begins = True
        out.append(each)
    name = _PLACES[draws.below(len(_PLACES))]
    if layout.partition("{P}")[2].isupper():
        name = name.upper()
    return "".join(out).replace("{P}", name)


def find_machine_layout(text: str) -> str:
    """Return the layout of a network address."""
    if "::" in text or text.count(":") > 1:
        return ":"
    behind = re.search(r"[:/][0-9]+$", text)
    return "." if behind is None else f".{numeric_shape(behind[0])}"


def write_machine(layout: str, draws: Integers) -> str:
    """Return a random network address."""
    if layout == ":":
        return f"2001:db8::{draws.below(65_535) + 1:x}"
    host = f"{_NETWORKS[draws.below(3)]}.{draws.between(1, 254)}"
    if layout[1:2] == "/":
        few = len(layout) == len("./1")
        return f"{host}/{draws.between(1, 9) if few else draws.between(10, 32)}"
    return host + draw_numbers(layout[1:], draws)
