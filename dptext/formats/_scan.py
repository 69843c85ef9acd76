"""Where the selected values stand in a line of JSON.

The line is known to be valid JSON, so that the scanner checks no grammar; it is there
because parsing and writing again would not give back the bytes of foreign fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

from dptext.formats import Unreadable
from dptext.formats import _fields as subjects
from dptext.formats._fields import PathNode, joined, leaves, listed, value_of_json

_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_KEY = re.compile(r'[ \t\r\n]*"([^"\\]*)"[ \t\r\n]*:[ \t\r\n]*')
_LONGEST = 2**16  # characters of a record whose fields are listed
_BRACKET = re.compile(r'["{}\[\]]')
_SCALAR = re.compile(r"[^,\]} \t\r\n]+")
_ARRAY = "--format json reads an array of objects"
_KINDS = {"{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}


class Change(NamedTuple):
    """A part of a line that is left out, or a value that becomes its pseudonym."""

    begin: int
    end: int
    #: The value as pseudonyms spell it, None where the part is left out.
    value: str | None = None


class Scan:
    """The selected values of one line: spans, texts, names, and which are there."""

    __slots__ = (
        "_line",
        "_pass_missing",
        "_present",
        "changes",
        "identity",
        "spans",
        "subject",
        "texts",
    )

    def __init__(self, line: str, root: PathNode, pass_missing: bool) -> None:
        self._line = line
        self._pass_missing = pass_missing
        self.spans: list[tuple[int, int]] = []
        self.texts: list[str] = []
        self.changes: list[Change] = []
        self.identity: str | None = None
        self.subject: str | None = None
        self._present: list[str] = []
        at = _after_space(line, 0)
        if line[at] != "{":
            raise Unreadable(
                f"the record is a JSON {kind(line[at])}, not an object",
                _ARRAY if line[at] == "[" else "",
            )
        self._object(at, root)

    @property
    def present(self) -> tuple[str, ...]:
        """Return the paths of texts and changed fields that it has, null or not."""
        paths = self._present
        return tuple(paths if len(paths) < 2 else dict.fromkeys(paths))

    def _object(self, at: int, node: PathNode) -> int:
        """Go through the object that begins at `at`; return where it ends."""
        line, below = self._line, node.below
        keys: set[str] = set()
        # Where each member begins and ends, and whether it is left out.
        members: list[tuple[int, int, bool]] = []
        partly = node.is_partly_dropped
        at = _after_space(line, at + 1)
        while line[at] != "}":
            begin = _after_space(line, at) if partly else at
            key, at = _key(line, at)
            child = below.get(key)
            if child is None:
                at = skip(line, at)
            elif key in keys:
                # Which of the two a reader takes is not defined: one would leak.
                raise Unreadable(f"field {child.path!r} occurs twice in one object")
            else:
                keys.add(key)
                at = self._value(at, child)
            if partly:
                members.append((begin, at, child is not None and child.is_dropped))
            if line[at] not in ",}":
                at = _after_space(line, at)
            if line[at] == ",":
                at += 1
        if len(keys) < len(below):
            self._check_absent(node, keys)
        if partly:
            self.changes += _left_out(members)
        return at + 1

    def _check_absent(self, node: PathNode, keys: set[str]) -> None:
        for key, child in node.below.items():
            if key not in keys:
                self._check_may_lack(child, f"field {child.path!r} is absent")

    def _value(self, at: int, node: PathNode) -> int:
        """Take the value at `at`, of the field of a node; return where it ends."""
        line = self._line
        first = line[at]
        if node.is_text or node.is_dropped or node.is_pseudonym:
            self._present.append(node.path)
        if node.is_name:
            end = self._name(at, node)
            return self._pseudonym(at, node) if node.is_pseudonym else end
        if node.is_dropped and not node.below:
            return skip(line, at)
        if first == "[":
            return self._array(at, node)
        if node.is_pseudonym:
            return self._pseudonym(at, node)
        if first == "n":
            self._check_may_lack(node, f"field {node.path!r} is null")
            return at + 4
        if node.below:
            if first == "{":
                return self._object(at, node)
            raise Unreadable(f"field {node.path!r} is a {kind(first)}, not an object")
        if first != '"':
            raise Unreadable(f"field {node.path!r} is a JSON {kind(first)}, not text")
        text, end = scanstring(line, at + 1)
        self.spans.append((at, end))
        self.texts.append(text)
        return int(end)

    def _pseudonym(self, at: int, node: PathNode) -> int:
        """Take a value that becomes a pseudonym; return where it ends."""
        line = self._line
        end = skip(line, at)
        value = value_of_json(line[at:end])
        if (spelled := subjects.of_pseudonym(value, node.path)) is not None:
            self.changes.append(Change(at, end, spelled))
        return end

    def _array(self, at: int, node: PathNode) -> int:
        line = self._line
        at = _after_space(line, at + 1)
        while line[at] != "]":
            at = _after_space(line, self._value(at, node))
            if line[at] == ",":
                at = _after_space(line, at + 1)
        return at + 1

    def _name(self, at: int, node: PathNode) -> int:
        """Take the value that names a record, or whom it is about."""
        end = skip(self._line, at)
        what = kind(self._line[at])
        named = "id" if node.is_identity else "subject"
        if what == "null":
            raise Unreadable(f"field {node.path!r} is null")
        if what in ("object", "array"):
            raise Unreadable(
                f"{named} field {node.path!r} is a JSON {what}; it must be one value"
            )
        if (self.identity if node.is_identity else self.subject) is not None:
            raise Unreadable(
                f"{named} field {node.path!r} occurs more than once in the record"
            )
        if node.is_identity:
            self.identity = self._line[at:end]
        if node.is_subject:
            self.subject = subjects.of_json(self._line[at:end], node.path)
        return end

    def _check_may_lack(self, node: PathNode, reason: str) -> None:
        """Refuse an absent text unless it may pass; id and subject never may."""
        if node.holds_name:
            raise Unreadable(reason, _advice(self._line, "--id or --subject"))
        if node.holds_text and not self._pass_missing:
            passes = "; --missing pass lets it be absent, --on-error skip leaves it out"
            raise Unreadable(reason, _advice(self._line, "--field") + passes)


def _advice(line: str, option: str) -> str:
    """Say with which option another field is named, and which fields a record has."""
    strings = (joined(path) for path, value in leaves(line) if isinstance(value, str))
    names = listed(strings) if len(line) <= _LONGEST else ""
    return f"choose another with {option}{names}"


def _left_out(members: Sequence[tuple[int, int, bool]]) -> Iterator[Change]:
    """Give the parts of an object that go with its members that are left out.

    members are where each begins and ends, in order, and whether it is left out. A
    member goes with the comma behind it, the last ones with the one before them.
    """
    last = max((n for n, member in enumerate(members) if not member[2]), default=-1)
    for (begin, _, is_out), (after, _, _) in pairwise(members[: last + 1]):
        if is_out:
            yield Change(begin, after)
    if last + 1 < len(members):
        begin = members[last][1] if last >= 0 else members[0][0]
        yield Change(begin, members[-1][1])


def kind(first: str) -> str:
    """Name the kind of a JSON value from its first character."""
    return "string" if first == '"' else _KINDS.get(first, "number")


def skip(line: str, at: int) -> int:
    """Return where the value that begins at `at` ends."""
    first = line[at]
    if first == '"':
        return int(scanstring(line, at + 1)[1])
    if first not in "{[":
        return _end(_SCALAR.match(line, at))
    depth = 0
    while True:
        at = _end(_BRACKET.search(line, at))
        mark = line[at - 1]
        if mark == '"':
            at = scanstring(line, at)[1]
        elif mark in "{[":
            depth += 1
        else:
            depth -= 1
            if not depth:
                return at


def _key(line: str, at: int) -> tuple[str, int]:
    """Return the key at `at` and where its value begins."""
    plain = _KEY.match(line, at)
    if plain is not None:
        return plain[1], plain.end()
    key, at = scanstring(line, _after_space(line, at) + 1)
    return key, _end(_COLON.match(line, at))


def _after_space(line: str, at: int) -> int:
    return _end(_SPACE.match(line, at))


def _end(match: re.Match[str] | None) -> int:
    assert match is not None  # the line is valid JSON
    return match.end()
