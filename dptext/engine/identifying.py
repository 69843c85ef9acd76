"""Detects fields that identify people, by their values and their names.

Only counts of values are kept, in an amount of memory that does not grow with
them. Messages name kinds and counts, never a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from dptext.run.interface import option
from dptext.run.selection import REPLACEMENT
from dptext.tokens import form_finder, forms, language_data, names
from dptext.tokens.policy import Form

_CHARACTERS = 20_000  # of a text, to count words in


class Kind(StrEnum):
    """How a field identifies people."""

    NAME = "names of people"
    EMAIL = "e-mail addresses"
    PHONE = "telephone numbers"
    ACCOUNT = "bank accounts or cards"
    NUMBER = "personal numbers"
    ADDRESS = "addresses"
    BIRTH = "dates of birth"
    PERSON = "names or codes of people"


# A value of each kind that may stand in a text.
_ONE = {
    Kind.EMAIL: "an e-mail address",
    Kind.PHONE: "a telephone number",
    Kind.ACCOUNT: "a bank account or card",
    Kind.NUMBER: "a personal number",
}


TEXT = "text"  # what a field holds
FEW_VALUES = "few values"
_SHORT = 200  # characters of a value that tell what it is
_MOST = 0.5  # of the values must look like a kind
_FEW = 3  # different values tell that they are no states of few
_DIFFERENT = 0.7  # of the values must differ where they hold no digits
_LONG = 4  # words make a value a text, unless all are of few
_TEXTS = 0.2  # of the values must be texts
_REPEATED = 0.2  # of the values differ at most where they are a few states
_OF_STATES = 8  # words that states have at most, on average; texts may be few, too
_NEARLY_ALL = 0.9  # of the values are numbers or dates
# So many different values, and this share of them, are names of the public list where
# nothing else tells that a field holds names: few cities and products are such.
_MANY, _MOSTLY = 10, 0.6
_NAME_WORDS = 3  # that a listed name has at most
# Different values of a field that are remembered, so that a field of any length takes
# little memory. How many of its values differ is told by those that come before more.
_REMEMBERED = 2048
# These kinds are certain enough where so many values hold one, whatever the others are:
# an address in one of many notes identifies somebody.
_CERTAIN = {Kind.EMAIL: 1, Kind.ACCOUNT: 1, Kind.NUMBER: 1, Kind.PHONE: 3}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
WORD = re.compile(r"[^\W\d_]\S*")  # from its first letter on
_LOOKS = {
    "numbers": re.compile(r"[-+]?[0-9][0-9.,' ]*%?"),
    "dates": re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:.]+.*)?"),
    "amounts": re.compile(r"[-+]?[0-9]*\.[0-9]*[1-9][0-9]*(?:[eE][-+]?[0-9]+)?"),
    "long numbers": re.compile(r"(?s:(?:[^0-9]*[0-9]){6}.*)"),
    "codes": re.compile(r"[\w.@-]+"),
    "codes with digits": re.compile(r"(?=\D*\d)[\w.@-]+"),
    # Two to four words, each with a capital; initials, and particles as in "van der".
    "full names": re.compile(
        r"[^\W\d_a-z][\w'’.-]*"
        r"(?:,? (?:[^\W\d_a-z][\w'’.-]*|de|da|van|von|der|bin|al)){1,3}"
    ),
}
# Those that values without letters, without digits, and with both may have.
_OF_DIGITS = "numbers", "amounts", "dates", "codes", "codes with digits", "long numbers"
_OF_LETTERS = "codes", "full names"
_OF_BOTH = "dates", "codes", "codes with digits", "full names", "long numbers"
# A card's number follows from its digits with a chance of one in ten: other long
# numbers, such as those of orders and times, tell whether that is all.
_CARD_LIKE, _CARD = "card numbers or others", "card numbers"
# Values that hold one among other text, in a layout that little else has.
_INSIDE = {kind: f"{kind} inside" for kind in _CERTAIN}
# Each word is a name of people that is no other word.
_LISTED = "listed names"
_STATES = frozenset("true false yes no y n t f 0 1 none null n/a na - ?".split())


class FieldValues:
    """Counts a field's texts, their words, and how many match each pattern."""

    def __init__(self) -> None:
        self.texts = self.words = 0
        # Of the first values, how many there are, and how many differ.
        self.first = self.different = 0
        # By the looks of a value: how many values have them, and how many different.
        self._looks, self._different = Counter[_ValueLooks](), Counter[_ValueLooks]()
        self._known: dict[int, tuple[_ValueLooks, int]] = {}
        self._states = True

    def add(self, text: str) -> None:
        """Count a value, "" for a missing text."""
        value = text.strip()
        if not value:
            return
        self.texts += 1
        key, is_full = hash(value), len(self._known) >= _REMEMBERED
        known = self._known.get(key)
        if known is None:
            words = len(WORD.findall(value[:_CHARACTERS]))
            known = _looks(value, words), words
            self._states = self._states and value.lower() in _STATES
            if not is_full:
                self._known[key] = known
                self.different += 1
                self._different[known[0]] += 1
        self.first += not is_full
        self.words += known[1]
        self._looks[known[0]] += 1

    def count(self, *looks: str) -> int:
        """Return the number of texts that match at least one of these patterns."""
        wanted = {*looks}
        return sum(n for each, n in self._looks.items() if not wanted.isdisjoint(each))

    def share(self, look: str) -> float:
        """Return the share of texts that match a pattern, 0 without texts.

        Distinct texts are used if their share is larger, since a placeholder for "none"
        may be repeated.
        """
        of_all = self.count(look) / max(self.texts, 1)
        if self.different < _FEW:
            return of_all
        matching = sum(n for each, n in self._different.items() if look in each)
        return max(of_all, matching / self.different)

    def looks(self) -> str:
        """Describe how the values look."""
        if not self.texts:
            return "not text"
        for look in ("dates", "numbers"):
            if self.count(look) >= _NEARLY_ALL * self.texts:
                return look
        are_short = self.words <= _OF_STATES * self.texts
        if self.different <= _REPEATED * self.first and are_short:
            return FEW_VALUES
        if self.count("long") >= _TEXTS * self.texts:
            return TEXT
        every = self.different == self.first > 2
        return "different in each record" if every else "short values"

    @property
    def are_states(self) -> bool:
        """Return whether all values are states such as "open"."""
        return self._states

    def kind(self, name: str) -> Kind | None:
        """Return how a field with this name identifies people, or None."""
        how = self.identifies(name)
        return None if how is None else how.kind

    def identifies(self, name: str, *, by_name: bool = True) -> Identifying | None:
        """Return how the field identifies people and how many values do, or None.

        Decided by the values, or else, unless by_name is False, by the name.
        """
        for kind in (Kind.EMAIL, Kind.ACCOUNT, Kind.PHONE, Kind.NUMBER, Kind.NAME):
            if matching := self._matching(kind):
                looks = (kind, _INSIDE.get(kind, kind))
                inside = kind in _ONE and max(map(self.share, looks)) < _MOST
                return Identifying(kind, matching, self.texts, inside=inside)
        named = self._by_name(name) if by_name else None
        if named is None or (self.texts and not self._may_be(named)):
            return None
        return Identifying(named, self.texts, self.texts, by_name=True)

    def _may_be(self, kind: Kind) -> bool:
        """Return whether values are more than states or amounts."""
        if self._states or self.count("amounts") >= _MOST * self.texts:
            return False
        return kind is not Kind.PHONE or self.count("long numbers") > 0

    def _matching(self, kind: Kind) -> int:
        """Return how many values are of a kind, 0 if there are too few to decide."""
        if self.share(kind) >= _MOST:
            return self.count(kind)
        if kind is Kind.NAME:
            is_list = self.different >= _MANY and self.share(_LISTED) >= _MOSTLY
            return self.count(_LISTED, kind) if is_list else 0
        if kind is Kind.ACCOUNT:
            cards = self.count(_CARD)
            if cards >= _FEW and cards >= _MOST * self.count(_CARD_LIKE):
                return self.count(_CARD, _INSIDE[kind])
        inside = self.count(_INSIDE[kind]) if kind in _CERTAIN else 0
        return inside if inside >= _CERTAIN.get(kind, 1) else 0

    def _by_name(self, name: str) -> Kind | None:
        """Return the kind implied by a name; for people's names, values count too."""
        words = words_of_name(name)
        sections = _sections()
        for end in {"".join(words[-2:]), *words[-1:]}:
            for kind in (each for each in Kind if each is not Kind.PERSON):
                if end in sections[kind.name.lower()]:
                    return kind
        of_person = not sections["person"].isdisjoint(words[:-1])
        if of_person and words[-1] in sections["number of"]:
            return Kind.NUMBER
        if (of_person and words[-1] == "name") or sections["person"] & {*words[-1:]}:
            return self._kind_of_person()
        is_list = self.different >= _FEW and self.share(_LISTED) >= _MOST
        return Kind.NAME if is_list and words[-1:] == ["name"] else None

    def _kind_of_person(self) -> Kind | None:
        """Return the kind of values in a field named after people."""
        if max(map(self.share, ("full names", "known names", _LISTED))) >= _MOST:
            return Kind.NAME
        if self.different < _FEW:
            return None
        if self.share("codes with digits") >= _MOST:
            return Kind.NUMBER
        varied = self.different >= _DIFFERENT * self.first
        return Kind.PERSON if varied and self.share("codes") >= _MOST else None


class Identifying(NamedTuple):
    """How a field identifies people: the kind, and how many values are of it."""

    kind: Kind
    #: How many values are so.
    matching: int
    #: How many values the field has that are not empty.
    values: int
    #: Whether its name tells, and not what its values look like.
    by_name: bool = False
    #: Whether such stand in values that may hold other text, too.
    inside: bool = False

    @property
    def look(self) -> str:
        """Return the text that follows "it looks like", without any value."""
        return f"texts with {self.kind}" if self.inside else str(self.kind)

    def __str__(self) -> str:
        """Return the text that follows "the field ...": kind and count, no value."""
        if self.inside:
            where = f"in {self.matching:,} of {self.values:,} values"
            return f"holds {_ONE[self.kind]} {where}"
        if self.by_name:
            return f"looks like {self.kind}, by its name ({self.values:,} values)"
        return f"looks like {self.kind} ({self.matching:,} of {self.values:,} values)"


# The looks of one value, in a fixed order.
_ValueLooks = tuple[str, ...]


def _looks(value: str, words: int) -> _ValueLooks:
    """Return all patterns that a value with this many words matches.

    Called for every row of a file, so quick checks come first.
    """
    short = value[:_SHORT]
    if not words and "@" not in value:  # no letters
        looks = [name for name in _OF_DIGITS if _LOOKS[name].fullmatch(short)]
    else:
        names = _OF_BOTH if _DIGIT.search(short) is not None else _OF_LETTERS
        looks = [name for name in names if _LOOKS[name].fullmatch(short)]
        if words >= _LONG:
            looks.append("long")
        # "Keller, Martha" begins with the name of the family.
        known = _given_names()
        if any(_first_word(part) in known for part in short.split(",", 2)[:2]):
            looks.append("known names")
            if "full names" in looks:
                looks.append(Kind.NAME)
        if words <= _NAME_WORDS and _is_listed(value):
            looks.append(_LISTED)
    looks += _kinds(value, short)
    return tuple(looks)


def _is_listed(value: str) -> bool:
    """Return whether all words are listed public names or initials."""
    words = value.replace(",", " ").replace(".", " ").split()
    named = [each for each in words if len(each) > 1]
    if not named or not all(each[0].isupper() for each in words):
        return False
    if any(each.isupper() for each in named):
        return False
    listed, common = language_data.person_names("en"), _given_names()
    return all(names.fold(each.lower()) in listed or each in common for each in named)


def _first_word(text: str) -> str:
    return text.strip().partition(" ")[0].capitalize()


def _kinds(value: str, short: str) -> Iterator[str]:
    """Yield the kinds of a value and of its parts."""
    if "@" in value and _has_email(value):
        yield _INSIDE[Kind.EMAIL]
    if _NUMBERED.search(value):
        yield from _accounts(value)
        yield from _numbers(value, short)


def _accounts(value: str) -> Iterator[str]:
    cards = [each[0] for each in _CARDS.finditer(value)]
    if cards:
        yield _CARD_LIKE
        if any(map(forms.is_card, cards)):
            yield _CARD
            if cards == [value]:
                yield Kind.ACCOUNT
    if _IBAN.search(value) and any(form_finder.spans(Form.IBAN, value)):
        yield _INSIDE[Kind.ACCOUNT]


def _numbers(value: str, short: str) -> Iterator[str]:
    if _SOCIAL_SECURITY.fullmatch(short):
        yield Kind.NUMBER
    elif (
        len(short) <= _LONGEST_PHONE
        and short[0] in "+(0123456789"
        and not short.isdigit()
        and forms.find_layout(short, (Form.PHONE,))
    ):
        yield Kind.PHONE
    if _SOCIAL_SECURITY.search(value):
        yield _INSIDE[Kind.NUMBER]
    if any(8 <= sum(map(str.isdigit, each[0])) for each in _PHONES.finditer(value)):
        yield _INSIDE[Kind.PHONE]


def words_of_name(name: str) -> list[str]:
    """Split the name of a field into words, such as firstName or first_name."""
    return [word.lower() for word in _HUMP.split(name) if word]


def _has_email(value: str) -> bool:
    """Return whether a text contains an e-mail address.

    Only text near an @ is searched, since texts may be long.
    """
    at = value.find("@")
    while at >= 0:
        near = value[max(0, at - _BEFORE_AT) : at + _BEHIND_AT]
        if any(form_finder.spans(Form.EMAIL, near)):
            return True
        at = value.find("@", at + 1)
    return False


_BEFORE_AT, _BEHIND_AT = 80, 300
_LONGEST_PHONE = 40
# No number of a person or of an account has fewer digits, or more between two of them.
_NUMBERED = re.compile(r"(?:[0-9][ ()./-]{0,3}){8}|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}")
_DIGIT = re.compile("[0-9]")
_CARDS = re.compile(
    r"(?<![\w.,+/-])(?:[2-6][0-9]{12,18}"
    r"|[2-6][0-9]{3}([ -])(?:[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{6}\1[0-9]{4,5}))"
    r"(?![\w+/-]|[.,][0-9])"
)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}")
# The parts of numbers that nobody was given are left out (Social Security
# Administration, 2011).
_SOCIAL_SECURITY = re.compile(
    r"(?<![\w.+/-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w+/-])"
)
# With the number of a country, or as numbers of North America are written.
_PHONES = re.compile(
    r"(?<![\w.+/,-])(?:\+[1-9][0-9]{0,2}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{2,4})){2,5}"
    r"|(?:\+?1[ .-])?\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[-. ][0-9]{4}"
    r"|(?:1[.-])?[2-9][0-9]{2}([-.])[2-9][0-9]{2}\1[0-9]{4})(?![\w+/-]|[.,][0-9])"
)


@cache
def _sections() -> Mapping[str, frozenset[str]]:
    sections = language_data.sections("identifying_fields")
    return {heading: frozenset(words) for heading, words in sections}


@cache
def _given_names() -> frozenset[str]:
    sections = dict(language_data.sections("english_names"))
    return frozenset(sections["man"] + sections["woman"])


def identifying(
    fields: Iterable[str], values: Mapping[str, FieldValues]
) -> dict[str, str]:
    """Describe each of these fields that looks identifying."""
    looks = {name: values.get(name, FieldValues()).identifies(name) for name in fields}
    return {name: how.look for name, how in looks.items() if how is not None}


def advise() -> str:
    """Return advice on an unchanged field that looks identifying."""
    return (
        f"make it private ({option('field')}) or a {REPLACEMENT} "
        f"({option(REPLACEMENT)}), or leave it out ({option('drop')})"
    )


def advise_on_vectors() -> str:
    """Return advice on unchanged ids of vectors, which have no other columns."""
    return f"name records by another field ({option('id')})"


def warning(kinds: Mapping[str, str], advice: str = "", *, written: bool = True) -> str:
    """Describe the unchanged fields that look identifying, and what to do.

    written: whether the output exists already or is still to come.
    """
    advice = advice or advise()
    if len(kinds) == 1:
        ((name, kind),) = kinds.items()
        copied = "was left unchanged" if written else "will be left unchanged"
        return f"column {name!r} {copied} and looks like {kind}; {advice}"
    named = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
    copied = "were left unchanged" if written else "will be left unchanged"
    advice = advice.replace("make it", "make each").replace("leave it", "leave them")
    return f"columns {copied} and look identifying: {named}; {advice}"
