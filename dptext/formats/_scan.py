"""Finds the selected values in a line of JSON.

The line is known to be valid JSON, so the scanner checks no grammar. It exists
because parsing and rewriting would not preserve the bytes of other fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

import msgspec

from dptext.formats import Unreadable
from dptext.formats import _fields as subjects
from dptext.formats._fields import (
    PathNode,
    is_plain,
    joined,
    leaves,
    listed,
    nearest,
    value_of_json,
)
from dptext.run.interface import noun, option

_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
# Key and value of most members: no escapes, and no value that holds others.
_MEMBER = re.compile(
    r'[ \t\r\n]*+"([^"\\]*+)"[ \t\r\n]*+:[ \t\r\n]*+'
    r'("[^"\\]*+"|[^"{\[,}\] \t\r\n]++)'
)
_LONGEST = 2**16  # characters of a record, to list its fields
HALF = re.compile("[\ud800-\udfff]")
_OTHERS = "fields with strings"
_NULL = "is null"
_BRACKET = re.compile(r'["{}\[\]]')
_SCALAR = re.compile(r"[^,\]} \t\r\n]+")
_KINDS = {"{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}


def flat_line(root: PathNode) -> re.Pattern[str] | None:
    """Return a pattern for the simplest lines, with the text as its group.

    These are flat objects with the one selected field, a text without
    escapes; a Scan finds the same, several times slower.
    None if anything else is selected.
    """
    (name, node), *others = root.below.items() or [("", root)]
    if others or not node.is_only_text or {*name} & {*'"\\'}:
        return None
    space, string = r"[ \t\r\n]*+", r'"(?:[^"\\]++|\\.)*+"'
    value = rf'{space}:{space}(?:{string}|[^"{{\[,}}\] \t\r\n]++){space}'
    other = rf'{space}"(?!{re.escape(name)}")[^"\\]*+"{value}'
    text = rf'{space}"{re.escape(name)}"{space}:{space}"([^"\\]*+)"{space}'
    return re.compile(rf"{space}\{{(?:{other},)*+{text}(?:,{other})*+\}}{space}")


class Change(NamedTuple):
    """A left-out part of a line, or a value to be replaced."""

    begin: int
    end: int
    #: The value as `replacement_input` spells it, None where the part is left out.
    value: str | None = None


class Scan:
    """The selected values in a line: spans, texts, names, and present fields.

    An element of a list may lack a field that another element of the record has.
    """

    __slots__ = (
        "_elements",
        "_found",
        "_lacking",
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
        # The elements of lists that the scanner is in, from the outermost.
        self._elements: list[tuple[str, int]] = []
        # Fields that an element lacks: the paths of which one must be found elsewhere.
        self._lacking: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._found: set[str] = set()
        at = _after_space(line, 0)
        if line[at] != "{":
            advice = f"{option('format', 'json')} reads an array of objects"
            raise Unreadable(
                f"the record is a JSON {kind(line[at])}, not an object",
                advice if line[at] == "[" else "",
            )
        self._object(at, root)
        for path, (reason, paths) in self._lacking.items():
            if self._found.isdisjoint(paths):
                raise _absent(reason, _absent_advice(line, path, reason))

    @property
    def present(self) -> tuple[str, ...]:
        """Return the paths of texts and changed fields present, even if null."""
        paths = self._present
        return tuple(paths if len(paths) < 2 else dict.fromkeys(paths))

    def _object(self, at: int, node: PathNode) -> int:
        """Scan the object that begins at `at`; return its end."""
        line, below = self._line, node.below
        keys: set[str] = set()
        # Where each member begins and ends, and whether it is left out.
        members: list[tuple[int, int, bool]] = []
        partly = node.is_partly_dropped
        at = _after_space(line, at + 1)
        while line[at] != "}":
            begin = _after_space(line, at) if partly else at
            key, at, end = _key(line, at)
            child = below.get(key)
            if child is None:
                at = end or skip(line, at)
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
                self._check_may_lack(child, "is absent")

    def _value(self, at: int, node: PathNode) -> int:
        """Scan a node's value at `at`; return its end."""
        line = self._line
        first = line[at]
        if node.is_text or node.is_dropped or node.is_replaced:
            self._present.append(node.path)
        if node.is_name:
            end = self._name(at, node)
            return self._replaced(at, node) if node.is_replaced else end
        if node.is_dropped and not node.below:
            return skip(line, at)
        if first == "[":
            return self._array(at, node)
        if node.is_replaced:
            return self._replaced(at, node)
        if first == "n":
            self._check_may_lack(node, _NULL)
            return at + 4
        if node.below and first == "{":
            return self._object(at, node)
        if not node.is_text:
            advice = f"drop all of it with {option('drop', node.path)}"
            if node.holds_text:
                advice = f"if it is private, also name it: {option('field', node.path)}"
            raise Unreadable(
                f"{self._where(node)} is a {kind(first)}, not an object",
                advice if first == '"' else "",
            )
        return self._text(at, node)

    def _text(self, at: int, node: PathNode) -> int:
        """Record the text at `at`, or reject another value."""
        line = self._line
        first = line[at]
        if first != '"':
            inner = first == "{" and node.path
            raise Unreadable(
                f"{self._where(node)} is a JSON {kind(first)}, not text",
                f"name the fields in it, as in {option('field', f'{inner}.NAME')}"
                if inner
                else "",
            )
        if node.below:  # of texts: one of them is enough
            self._present += node.texts
        text, end = scanstring(line, at + 1)
        if line.find("\\u", at, end) >= 0 and HALF.search(text):
            raise Unreadable(
                f"{self._where(node)} contains half of a surrogate pair, which is not "
                "a character"
            )
        if self._elements:
            self._found.add(node.path)
        self.spans.append((at, end))
        self.texts.append(text)
        return int(end)

    def _replaced(self, at: int, node: PathNode) -> int:
        """Take a value to be replaced; return where it ends."""
        line = self._line
        end = skip(line, at)
        try:
            value = value_of_json(line[at:end])
        except msgspec.DecodeError:
            raise Unreadable(
                f"{self._where(node)} contains half of a surrogate pair, which is not "
                "a character"
            ) from None
        if (spelled := subjects.replacement_input(value, node.path)) is not None:
            self.changes.append(Change(at, end, spelled))
        return end

    def _array(self, at: int, node: PathNode) -> int:
        line = self._line
        at = _after_space(line, at + 1)
        number = 0
        while line[at] != "]":
            number += 1
            self._elements.append((node.path, number))
            at = _after_space(line, self._value(at, node))
            self._elements.pop()
            if line[at] == ",":
                at = _after_space(line, at + 1)
        return at + 1

    def _name(self, at: int, node: PathNode) -> int:
        """Record the value of an id or subject."""
        end = skip(self._line, at)
        kind_of_value = kind(self._line[at])
        named = "id" if node.is_identity else "subject"
        if kind_of_value == "null":
            raise Unreadable(f"field {node.path!r} is null")
        if kind_of_value in ("object", "array"):
            raise Unreadable(
                f"{named} field {node.path!r} is a JSON {kind_of_value}; it must be "
                "one value"
            )
        if (self.identity if node.is_identity else self.subject) is not None:
            raise Unreadable(
                f"{named} field {node.path!r} occurs more than once in the record"
            )
        if node.is_identity:
            self.identity = self._line[at:end]
        if node.is_subject:
            self.subject = subjects.subject_from_json(self._line[at:end], node.path)
        return end

    def _check_may_lack(self, node: PathNode, problem: str) -> None:
        """Raise Unreadable for a missing text, unless missing is "pass".

        In list elements, this is decided at the end of the record.
        """
        reason = f"{self._where(node)} {problem}"
        if node.holds_name:
            advice = _advice(self._line, node.path, "id", "subject")
            raise _absent(reason, advice)
        if self._pass_missing or not node.holds_text:
            return
        if not self._elements:
            advice = _absent_advice(self._line, node.path, reason)
            raise _absent(reason, advice)
        self._lacking.setdefault(node.path, (reason, node.texts))

    def _where(self, node: PathNode) -> str:
        """Describe a field and the list elements around it."""
        inside = (f"element {number} of {path!r}" for path, number in self._elements)
        places = ", ".join(inside)
        return f"field {node.path!r}" + (f" ({places})" if places else "")


def _absent(reason: str, advice: str) -> Unreadable:
    """Return the error for a missing field, which may be misspelt."""
    return Unreadable(reason, advice, is_absent=_OTHERS in advice)


def _left_out(members: Sequence[tuple[int, int, bool]]) -> Iterator[Change]:
    """Yield the parts of an object to remove with its dropped members.

    members: start and end of each, in order, and whether it is dropped. A
    member is removed with the comma after it, the last ones with the comma before.
    """
    last = max((n for n, member in enumerate(members) if not member[2]), default=-1)
    for (begin, _, is_out), (after, _, _) in pairwise(members[: last + 1]):
        if is_out:
            yield Change(begin, after)
    if last + 1 < len(members):
        begin = members[last][1] if last >= 0 else members[0][0]
        yield Change(begin, members[-1][1])


def _absent_advice(line: str, path: str, reason: str) -> str:
    """Return advice on a missing text; for a null, the field name is right."""
    passes = (
        f"{option('missing', 'pass')} lets it be absent, {option('on-error', 'skip')} "
        "skips the record"
    )
    another = _advice(line, path, "field")
    parts = (passes, another) if reason.endswith(_NULL) else (another, passes)
    return "; ".join(parts)


def _advice(line: str, path: str, *options: str) -> str:
    """Suggest the option for a similar field, or list the fields of a record."""
    advice = f"choose another with {' or '.join(map(noun, options))}"
    if len(line) > _LONGEST:
        return advice
    names = [joined(path) for path, value in leaves(line) if isinstance(value, str)]
    return (
        advice
        + nearest(path, filter(is_plain, names), options[0])
        + listed(names, _OTHERS)
    )


def kind(first: str) -> str:
    """Name the kind of a JSON value by its first character."""
    return "string" if first == '"' else _KINDS.get(first, "number")


def skip(line: str, at: int) -> int:
    """Return the end of the value that begins at `at`."""
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


def _key(line: str, at: int) -> tuple[str, int, int]:
    """Return the key at `at`, the start of its value, and its end if known.

    The end is known for simple values, and 0 for others.
    """
    plain = _MEMBER.match(line, at)
    if plain is not None:
        return plain[1], plain.start(2), plain.end(2)
    key, at = scanstring(line, _after_space(line, at) + 1)
    return key, _end(_COLON.match(line, at)), 0


def _after_space(line: str, at: int) -> int:
    return _end(_SPACE.match(line, at))


def _end(match: re.Match[str] | None) -> int:
    assert match is not None  # the line is valid JSON
    return match.end()
