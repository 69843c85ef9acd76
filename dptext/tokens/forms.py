"""Identifiers known from their form, dates too, and random ones of the same layout.

A layout is all that is shown of one: the writer is given a layout and random bits and
never the identifier, and the statement says of each form what its layouts hold
(dptext.guarantees.not_covered). An e-mail address has no layout: it becomes one of a
name that nobody can own (".example", RFC 2606).

The layout of a date is a row of fields, d or dd for a day (dth for one with an ending),
n or nn for a month, mmm for a short name of one and mmmm for any longer one, in
capitals as it has them, yy or yyyy, and what stands between them. Of "May" nobody can
tell which it is: a name of three letters is a short one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from dptext.tokens import language_data
from dptext.tokens.policy import Form
from dptext.tokens.regex import EMAIL


class Integers:
    """Integers one after the other, from an iterator of 64-bit integers."""

    def __init__(self, integers: Iterator[int]) -> None:
        self._integers = integers

    def below(self, bound: int) -> int:
        """Return an integer from 0 to bound - 1, each within bound / 2^64."""
        return next(self._integers) * bound >> 64

    def between(self, first: int, last: int) -> int:
        """Return an integer from first to last."""
        return first + self.below(last - first + 1)

    def of(self, choices: str, count: int = 1) -> str:
        """Return some characters of these."""
        return "".join(choices[self.below(len(choices))] for _ in range(count))


_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_NAME = f"(?P<name>{_NAME})"
_DAY = "(?P<day>[0-9]{1,2}(?:st|nd|rd|th)?)"
_YEAR = "(?P<year>[0-9]{4})"
# In numbers, which is day and which is month is known from a dot or a first year only.
_LAYOUTS = (
    rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})",
    r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4}|[0-9]{2})",
    r"(?P<either>[0-9]{1,2})(?P<mark>[-/])(?P<month>[0-9]{1,2})(?P=mark)"
    r"(?P<year>[0-9]{4}|[0-9]{2})",
    rf"{_DAY} (?:of )?{_NAME},? {_YEAR}",
    rf"{_NAME} {_DAY},? {_YEAR}",
)
PATTERNS = tuple(re.compile(layout, re.IGNORECASE) for layout in _LAYOUTS)
_FIELDS = re.compile("[Mm]{3,4}|d{1,2}(?:th)?|n{1,2}|yyyy|yy")
# A layout in words.
SHOWN = (
    "the order of its parts, what stands between them, how many digits each has, "
    "whether an ending (as in 3rd) follows the day, whether the name of the month has "
    "three letters (as May has) or more, and its capitals"
)


def is_date(text: str) -> bool:
    """Tell whether a text is a date of a known layout, with a month and a day."""
    match = next(filter(None, (each.fullmatch(text) for each in PATTERNS)), None)
    if match is None:
        return False
    parts = match.groupdict()
    day, month, either = (
        int(_digits(parts.get(key, "1"))) for key in ("day", "month", "either")
    )
    if "either" in parts:
        month, day = sorted((month, either))
    return 1 <= day <= 31 and 1 <= month <= 12


def shown(text: str) -> str:
    """Return the layout of a date."""
    match = next(filter(None, (pattern.fullmatch(text) for pattern in PATTERNS)))
    out, end = "", 0
    groups = [(match.span(key), key) for key in match.groupdict() if key != "mark"]
    for (begin, after), key in sorted(groups):
        out += text[end:begin] + _field(key, match[key])
        end = after
    return out


def _field(key: str, part: str) -> str:
    if key == "name":
        return _cased("mmm" if len(part) == 3 else "mmmm", part)
    width = sum(map(str.isdigit, part))
    letter = {"day": "d", "year": "y"}.get(key, "n")
    return letter * width + "th" * (len(part) > width)


def _cased(name: str, like: str) -> str:
    """Write a name with the capitals of another."""
    if like.isupper():
        return name.upper()
    return name.capitalize() if like[:1].isupper() else name


def _drawn(field: str, draws: Integers) -> str:
    """Return what stands for one field."""
    width = len(field.removesuffix("th"))
    if field[0] in "Mm":
        return _cased(_MONTHS[draws.below(12)][: 3 if width == 3 else None], field)
    if field[0] == "y":
        return f"{draws.between(1950, 2029) if width == 4 else draws.below(100):02d}"
    if width == 1:
        value = draws.between(1, 9)
    else:
        value = draws.between(10, 28) if field[0] == "d" else draws.between(1, 12)
    ending = ""
    if field[-1] == "h":
        of_last = {1: "st", 2: "nd", 3: "rd"}
        ending = "th" if 10 < value < 14 else of_last.get(value % 10, "th")
    return f"{value:0{width}d}{ending}"


# 64-bit integers that no identifier needs more of.
INTEGERS = 40
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class FormLayout(NamedTuple):
    """The public part of an identifier: its form, and the characters that stay."""

    form: Form
    shown: str


class FormRule(NamedTuple):
    """How a form is named, found, checked and written anew, and what its layouts hold.

    said names in words what `shown` returns of an identifier; `written` takes that.
    """

    named: str
    said: str
    shown: Callable[[str], str]
    written: Callable[[str, Integers], str]
    is_one: Callable[[str], bool]
    patterns: tuple[str, ...]


def spans(form: Form, text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each identifier of a form; they may overlap."""
    rule = RULES[form]
    for pattern in _compiled(form):
        for match in pattern.finditer(text):
            one = match[0]
            # Words in capitals may stand behind a form that spaces divide.
            while one and not (pattern.fullmatch(one) and rule.is_one(one)):
                one = one.rpartition(" ")[0]
            if one:
                yield match.start(), match.start() + len(one)


def layout_of(text: str, forms: Iterable[Form]) -> FormLayout | None:
    """Return the layout of a text: in the first form that it is of, None if of none."""
    for form, rule in RULES.items():
        patterns = _compiled(form) if form in forms else ()
        if any(each.fullmatch(text) for each in patterns) and rule.is_one(text):
            return FormLayout(form, rule.shown(text))
    return None


def written(layout: FormLayout, integers: Iterator[int]) -> str:
    """Return a random identifier of a layout; INTEGERS are enough."""
    return RULES[layout.form].written(layout.shown, Integers(integers))


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _shape(text: str) -> str:
    """Return 1 for each digit, A for each letter, and other characters as they are."""
    return re.sub("[A-Za-z]", "A", re.sub("[0-9]", "1", text))


def _filled(shown: str, characters: str) -> str:
    """Put characters in the places of letters and digits."""
    fill = iter(characters)
    return re.sub("[A0-1]", lambda _: next(fill), shown)


def is_card(text: str) -> bool:
    """Tell whether the last digit of a number is right (Luhn; ISO/IEC 7812-1)."""
    digits = _digits(text)
    doubled = (2 * int(each) for each in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(n - 9 * (n > 9) for n in doubled)
    return total % 10 == 0


def _card(shown: str, draws: Integers) -> str:
    digits = draws.of("3456") + draws.of(_DIGITS, len(_digits(shown)) - 2)
    last = next(each for each in _DIGITS if is_card(digits + each))
    return _filled(shown, digits + last)


@cache
def _iban_countries() -> Mapping[int, list[str]]:
    """Return the countries whose IBANs have so many characters."""
    rows = language_data.sections("iban_lengths")
    return {int(length): countries for length, countries in rows}


def is_iban(text: str) -> bool:
    """Tell whether length and check digits of an IBAN are right (ISO 13616)."""
    plain = text.replace(" ", "")
    right = plain.isascii() and plain[:2] in _iban_countries().get(len(plain), ())
    return right and _remainder(plain) == 1


def _remainder(plain: str) -> int:
    return int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97


def _iban(shown: str, draws: Integers) -> str:
    plain = shown.replace(" ", "")
    countries = _iban_countries()[len(plain)]
    country = countries[draws.below(len(countries))]
    signs = (_DIGITS if each.isdigit() else _LETTERS for each in plain[4:])
    account = "".join(map(draws.of, signs))
    check = 98 - _remainder(f"{country}00{account}")
    return _filled(shown, f"{country}{check:02d}{account}")


def _phone_shown(text: str) -> str:
    shape = _shape(text)
    return shape.replace("1", "0", 1) if _digits(text)[0] == "0" else shape


def _phone(shown: str, draws: Integers) -> str:
    digits = _digits(shown)
    first = "0" if digits[0] == "0" else draws.of(_DIGITS[1:])
    return _filled(shown, first + draws.of(_DIGITS, len(digits) - 1))


@cache
def _compiled(form: Form) -> tuple[re.Pattern[str], ...]:
    """Compile patterns; nothing that a form might go on with stands beside them."""
    return tuple(
        re.compile(rf"(?<![\w@])(?:{each})(?![\w@]|[-.,/:][0-9])", re.IGNORECASE)
        for each in RULES[form].patterns
    )


# In the order in which they are tried.
RULES = {
    Form.CARD: FormRule(
        "payment card numbers (13 to 19 digits, the last one right by Luhn's rule)",
        "how many digits it has, and the spaces or hyphens between groups of them",
        _shape,
        _card,
        is_card,
        (
            r"[0-9]{13,19}",
            r"[0-9]{4}([ -])(?:[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{6}\1[0-9]{4,5})",
        ),
    ),
    Form.IBAN: FormRule(
        "IBANs (with the length of their country and right check digits)",
        "which of its characters are letters, which are digits, and the spaces between "
        "them",
        _shape,
        _iban,
        is_iban,
        (
            r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,27}",
            r"[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,6}(?: [A-Z0-9]{1,4})?",
        ),
    ),
    Form.EMAIL: FormRule(
        "e-mail addresses",
        "",
        lambda text: "",
        lambda layout, draws: (
            f"{draws.of(_LETTERS, 8)}@{draws.of(_LETTERS, 8)}.example".lower()
        ),
        lambda text: True,
        (EMAIL,),
    ),
    Form.DATE: FormRule(
        "dates (of day, month and year)",
        SHOWN,
        shown,
        lambda layout, draws: _FIELDS.sub(lambda each: _drawn(each[0], draws), layout),
        is_date,
        _LAYOUTS,
    ),
    Form.PHONE: FormRule(
        "telephone numbers (8 to 15 digits in the layout of such)",
        "how many digits it has, the marks and spaces between them, and whether it "
        "begins with 0",
        _phone_shown,
        _phone,
        lambda text: 8 <= len(_digits(text)) <= 15 and not is_date(text),
        (
            r"\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,6}",
            r"(?:\(0[0-9]{1,4}\)|0[0-9]{1,4})(?:[ -]?[0-9]{2,4}){2,4}",
            r"(?:\([0-9]{3}\) ?|[0-9]{3}[-. ])[0-9]{3}[-. ][0-9]{4}",
        ),
    ),
}
