"""Identifiers that are known by their form, and random ones of the same form.

What is written for one follows from its layout alone and from random bits, so that
nothing else of it shows; what a layout is stands in the statement
(dptext.guarantees.listed). An e-mail address becomes one of a name that nobody can own
(".example", RFC 2606), whatever its layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dptext.tokens import dates
from dptext.tokens.draws import Draws
from dptext.tokens.policy import Form
from dptext.tokens.regex import EMAIL

# 64-bit integers that no identifier needs more of.
INTEGERS = 40
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Of the IBAN registry: the number of characters of an IBAN, and the countries.
_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "PT",
    26: "IS TR",
    27: "FR GR IT MC MR SM",
    28: "AL AZ CY DO GT HU LB PL",
    29: "BR PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
}
_LENGTH = {name: size for size, row in _COUNTRIES.items() for name in row.split()}


class _Rule(NamedTuple):
    """How a form is found, checked and written anew."""

    patterns: tuple[re.Pattern[str], ...]
    is_one: Callable[[str], bool]
    written: Callable[[str, Draws], str]


def spans(form: Form, text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each identifier of a form; they may overlap."""
    rule = _RULES[form]
    for pattern in rule.patterns:
        for match in pattern.finditer(text):
            one = match[0]
            # Words in capitals may stand behind what is divided by spaces.
            while one and not (pattern.fullmatch(one) and rule.is_one(one)):
                one = one.rpartition(" ")[0]
            if one:
                yield match.start(), match.start() + len(one)


def form_of(text: str, forms: Iterable[Form]) -> Form | None:
    """Return the form that a text is of: the first of several, None if of none."""
    for form, rule in _RULES.items():
        if form in forms and rule.is_one(text):
            if any(pattern.fullmatch(text) for pattern in rule.patterns):
                return form
    return None


def written(text: str, forms: Iterable[Form], integers: Iterator[int]) -> str:
    """Return a random identifier of the form that a text has; INTEGERS are enough."""
    form = form_of(text, forms)
    assert form is not None
    return _RULES[form].written(text, Draws(integers))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _filled(text: str, characters: str) -> str:
    """Put characters in the places of letters and digits."""
    fill = iter(characters)
    return re.sub(r"[A-Za-z0-9]", lambda _: next(fill), text)


def is_card(text: str) -> bool:
    """Tell whether the last digit of a number is right (Luhn; ISO/IEC 7812-1)."""
    digits = _digits(text)
    doubled = (2 * int(each) for each in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(n - 9 * (n > 9) for n in doubled)
    return total % 10 == 0


def _card(text: str, draws: Draws) -> str:
    digits = draws.of("3456") + draws.of(_DIGITS, len(_digits(text)) - 2)
    last = next(each for each in _DIGITS if is_card(digits + each))
    return _filled(text, digits + last)


def is_iban(text: str) -> bool:
    """Tell whether length and check digits of an IBAN are right (ISO 13616)."""
    plain = text.replace(" ", "")
    return _LENGTH.get(plain[:2]) == len(plain) and _remainder(plain) == 1


def _remainder(plain: str) -> int:
    return int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97


def _iban(text: str, draws: Draws) -> str:
    plain = text.replace(" ", "")
    countries = _COUNTRIES[len(plain)].split()
    country = countries[draws.below(len(countries))]
    account = "".join(
        draws.of(_DIGITS if each.isdigit() else _LETTERS) for each in plain[4:]
    )
    check = 98 - _remainder(f"{country}00{account}")
    return _filled(text, f"{country}{check:02d}{account}")


def _email(text: str, draws: Draws) -> str:
    return f"{draws.of(_LETTERS, 8)}@{draws.of(_LETTERS, 8)}.example".lower()


def _is_phone(text: str) -> bool:
    return 8 <= len(_digits(text)) <= 15 and not dates.is_date(text)


def _phone(text: str, draws: Draws) -> str:
    digits = _digits(text)
    first = "0" if digits[0] == "0" else draws.of(_DIGITS[1:])
    return _filled(text, first + draws.of(_DIGITS, len(digits) - 1))


def _rule(
    is_one: Callable[[str], bool],
    written: Callable[[str, Draws], str],
    *patterns: str,
) -> _Rule:
    """Make a rule; nothing that a form might go on with stands beside its patterns."""
    beside = tuple(
        re.compile(rf"(?<![\w@])(?:{each})(?![\w@]|[-.,/:][0-9])", re.IGNORECASE)
        for each in patterns
    )
    return _Rule(beside, is_one, written)


# In the order in which they are tried.
_RULES = {
    Form.CARD: _rule(
        is_card,
        _card,
        r"[0-9]{13,19}",
        r"[0-9]{4}([ -])(?:[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{6}\1[0-9]{4,5})",
    ),
    Form.IBAN: _rule(
        is_iban,
        _iban,
        r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,27}",
        r"[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,6}(?: [A-Z0-9]{1,4})?",
    ),
    Form.EMAIL: _rule(lambda text: True, _email, EMAIL),
    Form.DATE: _rule(
        dates.is_date, dates.written, *(each.pattern for each in dates.PATTERNS)
    ),
    Form.PHONE: _rule(
        _is_phone,
        _phone,
        r"\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,6}",
        r"(?:\(0[0-9]{1,4}\)|0[0-9]{1,4})(?:[ -]?[0-9]{2,4}){2,4}",
        r"(?:\([0-9]{3}\) ?|[0-9]{3}[-. ])[0-9]{3}[-. ][0-9]{4}",
    ),
}
