"""Files of `dptext words`: words that many people wrote, and how they were chosen.

It is a text file: a first line, facts as `name: value`, an empty line, then a line for
each word, such as `+ firmware 91.2`, sorted by noisy weight. Marks show whether a word
is copied: `+` a word of the public dictionary, added automatically, `-` the same,
removed; `?` any other word, offered, and `!` the same, confirmed. A checksum covers all
but these choices, as a signature does, so that both hold after words are confirmed or
removed. The checksum detects edits by hand; only a signature detects forgeries.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec

from dptext import noise, partition, signatures, streams
from dptext.errors import UsageError
from dptext.run.interface import option
from dptext.settings import digest_of_bytes
from dptext.types import JsonObject

JOINED, REMOVED, OFFERED, CONFIRMED = "+-?!"
_FIRST = "dptext words 1"


def _name(spelled: str) -> str:
    """Parse a field name, written as a JSON string."""
    name = json.loads(spelled)
    if not isinstance(name, str):
        raise ValueError
    return name


# Facts of a file and how each is read, in order.
_FACTS: dict[str, Callable[[str], Any]] = {
    "epsilon": float,
    "delta": float,
    "unit": str,
    "subject": _name,
    "persons": int,
    "cap": int,
    "sigma": float,
    "rho": float,
    "lists": str,
    "profile": str,
    "version": str,
    "key": str,
    "draw": str,
}
_OPTIONAL = ("subject",)
# Lines that are no facts of the draw.
_SIGNED, _CHECKED = "signature", "checksum"
_SIGNATURE = re.compile(r"([0-9a-f]{16}) ([0-9a-f]{128})")
_WORD = re.compile(r"([-+?!]) (\S{1,80}) (-?\d+(?:\.\d+)?)")
_CHOSEN = {JOINED: True, CONFIRMED: True, REMOVED: False, OFFERED: False}
_WITH = {REMOVED: JOINED, OFFERED: CONFIRMED}
_WITHOUT = {JOINED: REMOVED, CONFIRMED: OFFERED}
_KEYS = ("system", "key-file", "seed")
#: One unit of privacy each.
PERSON, RECORD = "person", "record"


@dataclass(frozen=True, slots=True)
class Entry:
    """A released word."""

    mark: str
    word: str
    #: Noisy weight, as written.
    weight: str

    @property
    def is_copied(self) -> bool:
        """Return whether the word is copied."""
        return _CHOSEN[self.mark]


@dataclass(frozen=True, kw_only=True)
class WordFile:
    """Words that many people wrote, and how they were chosen."""

    epsilon: float
    delta: float
    #: "person": a value of the field of subjects; "record": each record is one.
    unit: str
    #: The field of subjects, "" without one.
    subject: str = ""
    #: Number of persons, which is public.
    persons: int
    #: Most words of a person that count.
    cap: int
    sigma: float
    rho: float
    #: Digest of the public lists by which words were candidates.
    lists: str
    #: Digest of the settings of the profile.
    profile: str
    #: Version of dptext.
    version: str
    #: Source of randomness: "system", "key-file" or "seed".
    key: str
    #: Digest of the draw; equal for equal draws.
    draw: str
    entries: tuple[Entry, ...]
    #: Id of the key and signature in hexadecimal digits; "" without one.
    signature: str = ""
    #: Path of the file, for messages and settings.
    path: str = ""
    #: The sha256 of the file as it was read.
    digest: str = ""

    @cached_property
    def copied(self) -> frozenset[str]:
        """Return the words that are copied."""
        return frozenset(each.word for each in self.entries if each.is_copied)

    @property
    def is_private(self) -> bool:
        """Return whether the choice of words is private; not if it was seeded."""
        return self.key != "seed"

    @property
    def stated(self) -> float:
        """Return the epsilon of the guarantee."""
        return partition.stated(self.epsilon, self.delta)

    @property
    def law(self) -> partition.Law:
        """Return the noise and threshold that the list was drawn with."""
        steps = round(self.rho * noise.WIDTH / self.sigma)
        return partition.Law(self.epsilon, self.delta, self.sigma, steps)

    def count(self, mark: str) -> int:
        """Return the number of words with a mark."""
        return sum(each.mark == mark for each in self.entries)

    def settings(self) -> JsonObject:
        """Return the file's settings for profiles and reports, without its words."""
        return {
            "file": self.path,
            "digest": self.digest,
            "epsilon": self.stated,
            "delta": self.delta,
            "unit": self.unit,
            "subject": self.subject,
            "key": self.key,
            "joined": self.count(JOINED),
            "confirmed": self.count(CONFIRMED),
        }

    def changed(self, words: Sequence[str], *, copied: bool) -> WordFile:
        """Return the file with words confirmed or removed. Raises UsageError."""
        known = {each.word for each in self.entries}
        marks = _WITH if copied else _WITHOUT
        for word in words:
            if word not in known:
                raise UsageError(_unlisted(word, self.path, known, copied=copied))
        entries = tuple(
            replace(each, mark=marks.get(each.mark, each.mark))
            if each.word in words
            else each
            for each in self.entries
        )
        return replace(self, entries=entries)

    def signed(self, key: signatures.Key) -> WordFile:
        """Return the file with its draw signed."""
        assert key.private is not None
        value = key.private.sign(self.drawn_bytes()).hex()
        return replace(self, signature=f"{key.id} {value}")

    def signature_problem(self, keys: Iterable[signatures.Key]) -> str:
        """Explain why none of the keys verifies the signature, "" if one does."""
        match = _SIGNATURE.fullmatch(self.signature)
        if match is None:
            return "it is not signed"
        named = [key for key in keys if key.id == match[1]]
        if not named:
            return "it is signed with another key"
        value = bytes.fromhex(match[2])
        if any(key.holds(self.drawn_bytes(), value) for key in named):
            return ""
        return "it was changed: the signature is invalid"

    def drawn_bytes(self) -> bytes:
        """Return the facts and words as drawn, without the owner's choices."""
        first = {REMOVED: JOINED, CONFIRMED: OFFERED}
        entries = (
            replace(each, mark=first.get(each.mark, each.mark)) for each in self.entries
        )
        return _encode(replace(self, entries=tuple(entries), signature=""))


def _unlisted(word: str, path: str, known: set[str], *, copied: bool) -> str:
    """Describe a word that is not in a file, and what to do."""
    near = [each for each in known if each.lower() == word.lower()]
    hint = f"; it has {near[0]}" if near else ""
    advice = ""
    if copied:
        advice = (
            f": words that few people wrote cannot be added; {option('keep-words')} of "
            "dptext sanitize keeps words of your choice"
        )
    return f"{word}: not in {path}{hint}{advice}"


def read(path: str) -> WordFile:
    """Read a file of words. Raises UsageError."""
    try:
        data = streams.read_small(path, "list of words")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return parse(data, path)


def is_list(path: str) -> bool:
    """Return whether a file is a word file."""
    try:
        return streams.read_small(path, "file").startswith(_FIRST.encode())
    except (OSError, UsageError):
        return False


def parse(data: bytes, path: str) -> WordFile:
    """Parse the content of a word file. Raises UsageError."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    if lines[0].strip() != _FIRST:
        raise UsageError(
            f"{path}: not a file written by dptext words build; give your own words "
            f"with {option('keep-words')}"
        )
    body = iter(enumerate(lines[1:], 2))
    facts = _facts(body, path)
    entries = tuple(_entry(line, number, path) for number, line in body if line.strip())
    if len({each.word for each in entries}) < len(entries):
        raise UsageError(f"{path}: a word is listed twice; build the list again")
    checksum, digest = facts.pop(_CHECKED, ""), digest_of_bytes(data)
    listed = WordFile(**facts, entries=entries, path=path, digest=digest)
    if problem := _problem(listed):
        raise UsageError(f"{path}: {problem}; build the list anew")
    if checksum != digest_of_bytes(listed.drawn_bytes()):
        raise UsageError(
            f"{path}: it was edited by hand, so its guarantee may no longer hold: "
            f"build it again, or give the words to {option('keep-words')}"
        )
    return listed


def _facts(body: Iterator[tuple[int, str]], path: str) -> dict[str, Any]:
    """Parse a file's facts from numbered lines, up to an empty line."""
    facts: dict[str, Any] = {}
    for number, line in body:
        name, colon, value = line.strip().partition(": ")
        if not line.strip():
            break
        kind = str if name in (_SIGNED, _CHECKED) else _FACTS.get(name)
        if not colon or kind is None or name in facts:
            raise UsageError(f"{path}: line {number}: {name!r} is not a known entry")
        try:
            facts[name] = kind(value)
        except ValueError:
            raise UsageError(f"{path}: line {number}: {name} is invalid") from None
    if missing := [name for name in _FACTS if name not in {*facts, *_OPTIONAL}]:
        raise UsageError(f"{path}: {missing[0]} is missing; build the list again")
    return facts


def from_settings(data: object) -> WordFile | None:
    """Return a placeholder for the list in settings, without its words.

    None for settings that cannot belong to a list.
    """
    try:
        named = msgspec.convert(data, _Named)
    except msgspec.ValidationError:
        return None
    return WordFile(
        epsilon=named.epsilon,
        delta=named.delta,
        unit=named.unit,
        subject=named.subject,
        persons=0,
        cap=partition.CAP,
        sigma=math.nan,
        rho=math.nan,
        lists="",
        profile="",
        version="",
        key=named.key,
        draw="",
        entries=(),
        path=named.file,
        digest=named.digest,
    )


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    """What settings contain of a list."""

    file: str
    digest: str
    epsilon: float
    delta: float
    unit: Literal["person", "record"]
    subject: str
    key: Literal["system", "key-file", "seed"]
    joined: Annotated[int, msgspec.Meta(ge=0)]
    confirmed: Annotated[int, msgspec.Meta(ge=0)]


def _entry(line: str, number: int, path: str) -> Entry:
    match = _WORD.fullmatch(line.strip())
    if match is None:
        raise UsageError(
            f"{path}: line {number}: write a mark (+, -, ? or !), a word and its "
            "weight, such as + firmware 91.2"
        )
    return Entry(*match.groups())


def _problem(listed: WordFile) -> str:
    """Explain why a file's facts do not imply its guarantee, "" if they do."""
    numbers = (listed.epsilon, listed.delta, listed.sigma, listed.rho)
    if not all(math.isfinite(each) and each > 0 for each in numbers):
        return "epsilon, delta, sigma and rho are numbers above 0"
    if listed.epsilon > partition.LARGEST_EPSILON or listed.delta >= 1:
        return "its epsilon or delta is too large"
    if listed.unit not in (PERSON, RECORD) or listed.key not in _KEYS:
        return "its unit or key is unknown"
    if (listed.unit == PERSON) != bool(listed.subject):
        return "persons need a subject field"
    if listed.cap != partition.CAP:
        return f"a person counts with at most {partition.CAP} words"
    return listed.law.problem()


def encode(listed: WordFile) -> bytes:
    """Return the content of a file of words."""
    lines = [f"{_CHECKED}: {digest_of_bytes(listed.drawn_bytes())}"]
    if listed.signature:
        lines.insert(0, f"{_SIGNED}: {listed.signature}")
    return _encode(listed, lines)


def _encode(listed: WordFile, more: Sequence[str] = ()) -> bytes:
    """Return facts and words, with more lines between them."""
    lines = [_FIRST]
    for name, kind in _FACTS.items():
        value = getattr(listed, name)
        if kind is float:
            value = float(value)
        if name == "subject" and value:
            value = json.dumps(value, ensure_ascii=not value.isprintable())
        if value != "":
            lines.append(f"{name}: {value}")
    lines += [*more, ""]
    lines += (f"{each.mark} {each.word} {each.weight}" for each in listed.entries)
    return ("\n".join(lines) + "\n").encode()
