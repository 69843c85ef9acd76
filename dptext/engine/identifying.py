"""Fields that look as if they identify people, by their names and first values.

What a run copies leaves as it is: a field of names beside a private text names whom the
text is about. Names of fields are looked up in a list, values by the forms of
identifiers (dptext.tokens.forms) and by a list of common English names. Results name
fields and kinds, never a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from dptext.tokens import forms, language_data
from dptext.tokens.policy import Form


class Kind(StrEnum):
    """How a field identifies people."""

    NAME = "names of people"
    EMAIL = "e-mail addresses"
    PHONE = "telephone numbers"
    ACCOUNT = "bank accounts or cards"
    NUMBER = "personal numbers"
    ADDRESS = "addresses"
    BIRTH = "dates of birth"


_LONGEST = 200  # characters of a value that are looked at
_FIELDS = 500  # fields of which values are looked at
_CONTAINED = 0.2  # of the values must hold an address, among other text
_MOST = 0.5  # of the values must be of another kind
_FULL_NAMES = 0.5  # of the values must be full names that begin with a known one
_FEW = 3  # different values tell that they are no states of few
_DIFFERENT = 0.7  # of the values must differ where they hold no digits
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
# Two to four words, each with a capital; initials, and particles such as "van der".
_FULL_NAME = re.compile(
    r"[^\W\d_a-z][\w'’.-]*(?:,? (?:[^\W\d_a-z][\w'’.-]*|de|da|van|von|der|bin|al)){1,3}"
)
_SOCIAL_SECURITY = re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}")
_CODE = re.compile(r"[\w.@-]+")


@dataclass(slots=True)
class _Values:
    """What is counted of the values of a field."""

    number: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    full_names: int = 0
    known_names: int = 0
    known_full_names: int = 0
    codes: int = 0
    numbered: int = 0
    distinct: set[int] = field(default_factory=set)

    def add(self, text: str) -> None:
        """Count a value, "" for one of no text."""
        value = text.strip()[:_LONGEST]
        if not value:
            return
        self.number += 1
        self.distinct.add(hash(value))
        self.kinds.update(_kinds(value))
        is_code = _CODE.fullmatch(value) is not None
        self.codes += is_code
        self.numbered += is_code and any(map(str.isdigit, value))
        is_known = value.replace(",", " ").split(" ")[0].capitalize() in _names()
        is_full = _FULL_NAME.fullmatch(value) is not None
        self.known_names += is_known
        self.full_names += is_full
        self.known_full_names += is_known and is_full

    def share(self, number: int) -> float:
        """Return how many of the values a number is."""
        return number / self.number if self.number else 0.0

    def kind(self) -> Kind | None:
        """Return the kind that values are of, whatever the name of the field."""
        if self.share(self.kinds[Kind.EMAIL]) >= _CONTAINED:
            return Kind.EMAIL
        for kind in (Kind.ACCOUNT, Kind.PHONE, Kind.NUMBER):
            if self.share(self.kinds[kind]) >= _MOST:
                return kind
        known = self.share(self.known_full_names) >= _FULL_NAMES
        return Kind.NAME if known else None

    def kind_of_person(self) -> Kind | None:
        """Return the kind of the values of a field that is named after people."""
        if self.share(max(self.full_names, self.known_names)) >= _MOST:
            return Kind.NAME
        different = self.share(len(self.distinct)) >= _DIFFERENT
        of_codes = different and self.share(self.codes) >= _MOST
        of_numbers = self.share(self.numbered) >= _MOST
        several = len(self.distinct) >= _FEW
        return Kind.NUMBER if several and (of_codes or of_numbers) else None


class Identifying:
    """Looks at the fields of records."""

    def __init__(self) -> None:
        self._values: dict[str, _Values] = {}

    def add(self, fields: Iterable[tuple[str, str]]) -> None:
        """Take in names and texts of the fields of a record, "" where there is none."""
        for name, text in fields:
            if name not in self._values and len(self._values) >= _FIELDS:
                continue
            self._values.setdefault(name, _Values()).add(text)

    def kinds(self, names: Iterable[str]) -> dict[str, Kind]:
        """Return the kind of each of these fields that looks identifying."""
        kinds = {}
        for name in names:
            values = self._values.get(name, _Values())
            kind = values.kind() or _by_name(name, values)
            if kind is not None:
                kinds[name] = kind
        return kinds


def warning(kinds: Mapping[str, Kind], option: str = "--field") -> str:
    """Say which copied fields look identifying, and what to do.

    option is what names private fields.
    """
    named = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
    return f"copied, but looks identifying: {named}; add {option}, or leave it out"


def _kinds(value: str) -> Iterable[Kind]:
    """Give the kinds of which the characters of a value are."""
    if any(forms.spans(Form.EMAIL, value)):
        yield Kind.EMAIL
    elif forms.layout_of(value, (Form.CARD, Form.IBAN)):
        yield Kind.ACCOUNT
    elif _SOCIAL_SECURITY.fullmatch(value):
        yield Kind.NUMBER
    elif not value.isdigit() and forms.layout_of(value, (Form.PHONE,)):
        yield Kind.PHONE


def _by_name(name: str, values: _Values) -> Kind | None:
    """Return the kind that the name of a field tells, with its values or alone."""
    words = [word.lower() for word in _HUMP.split(name) if word]
    sections = _sections()
    for end in {"".join(words[-2:]), *words[-1:]}:
        for kind in Kind:
            if end in sections[kind.name.lower()]:
                return kind
    of_person = [word for word in words[:-1] if word in sections["person"]]
    if of_person and words[-1] in sections["number of"]:
        return Kind.NUMBER
    is_name = bool(of_person) and words[-1] == "name"
    if is_name or (words and words[-1] in sections["person"]):
        return values.kind_of_person()
    return None


@cache
def _sections() -> Mapping[str, frozenset[str]]:
    return {
        heading: frozenset(words)
        for heading, words in language_data.sections("identifying_fields")
    }


@cache
def _names() -> frozenset[str]:
    """Return common English given names."""
    sections = dict(language_data.sections("english_names"))
    return frozenset(sections["man"] + sections["woman"])
