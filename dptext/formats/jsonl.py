"""JSON lines: one object per line; fields are dotted paths.

A path goes through objects by name and through every element of a list on its way; a
list of strings at its end gives one text each. All that is not a selected text is kept
as it was spelled: key order, spaces, numbers, escapes. Selected texts are spelled anew
whether they changed or not, so that the spelling does not tell which did. A field that
occurs twice in one object is a fault: the copy that is not read would leak.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from json.encoder import encode_basestring
from typing import BinaryIO, ClassVar, NamedTuple

import msgspec

from dptext import formats
from dptext.errors import InputError
from dptext.formats import BOM, Item, Regular, _fields, _lines
from dptext.formats._fields import PathNode
from dptext.formats._lines import LineWriter, Unreadable
from dptext.formats._scan import Absent, Scan
from dptext.types import Record, Selection

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LOOKED_AT = 2**16  # bytes of a record that is looked at for its fields
# Numbers beyond those of a float are copied as they stand, so they are no error here.
_values = msgspec.json.Decoder(float_hook=float).decode


class LineRest(NamedTuple):
    """What is kept of a record: its JSON, where its texts stand, and what is before."""

    line: str
    spans: list[tuple[int, int]]
    before: str = ""


class Format(formats.Format):
    """One record per line that is not blank."""

    SUFFIXES: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    def read(
        self,
        stream: BinaryIO,
        selection: Selection,
        location: str,
        start: int = 0,
        line: int = 1,
    ) -> Iterator[Item]:
        """Read one record per line that is not blank."""
        parse = Parser(selection, advises=line == 1)
        limit = selection.max_record_bytes
        return _lines.read(stream, limit, location, start, parse, line=line)

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of lines."""
        return Writer(stream)

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return what finds lines that are not blank."""
        return _lines.regular_lines(None)

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the paths of all values that are not selected, as `--field` names them.

        Raises InputError for a record that is no JSON.
        """
        texts = {_fields.parse(path) for path in selection.fields}
        above = {path[:end] for path in texts for end in range(1, len(path))}
        yielded: set[tuple[str, ...]] = set()
        limit = selection.max_record_bytes
        for number, raw in enumerate(self.raw_records(stream, limit), 1):
            try:
                record = _decode(raw.decode())
            except (ValueError, RecursionError):
                raise InputError(
                    f"record {number} is not JSON, or nested too deeply"
                ) from None
            for path, empty in _leaves(record):
                selected = path in texts or (empty and path in above)
                if path not in yielded and not selected:
                    yielded.add(path)
                    yield _fields.joined(path)

    def raw_records(self, stream: BinaryIO, limit: int) -> Iterator[bytes]:
        """Give the bytes of each record, for a look at its fields."""
        lines = (line.removeprefix(BOM) for line in stream)
        return (line for line in lines if line.strip())

    def candidates(self, stream: BinaryIO, selection: Selection) -> list[str]:
        """Return the paths of the strings of the first record that is whole."""
        with contextlib.suppress(InputError):
            for raw in islice(self.raw_records(stream, _LOOKED_AT), 3):
                with contextlib.suppress(
                    msgspec.DecodeError, UnicodeDecodeError, RecursionError
                ):
                    strings = _fields.strings(msgspec.json.decode(raw))
                    return [path for path, _ in strings if path]
        return []

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the values of a record that are copied, by paths; no strings as ""."""
        assert isinstance(record.rest, LineRest)
        values = _fields.values(_values(record.rest.line))
        for path, value in values:
            if path not in selection.named:
                yield path, value if isinstance(value, str) else ""


class Parser:
    """Turns lines into records; where the first lacks a field, it says which are."""

    def __init__(self, selection: Selection, advises: bool) -> None:
        self._root = _fields.tree(selection)
        self._pass_missing = selection.missing == "pass"
        # Raw checks the grammar and builds nothing.
        self._validate = msgspec.json.Decoder(msgspec.Raw).decode
        self._is_first = advises

    def __call__(self, line: str, ordinal: int, before: str = "") -> Record:
        """Return the record of an object. Raises Unreadable."""
        first, self._is_first = self._is_first, False
        try:
            self._validate(line)
            scan = Scan(line, self._root, self._pass_missing)
        except msgspec.DecodeError as error:
            raise Unreadable(_malformed(line, error)) from None
        except RecursionError:
            raise Unreadable("nested too deeply") from None
        except Absent as error:
            if first:
                raise Unreadable(str(error), _advice(line, error.node)) from None
            raise
        texts, rest = tuple(scan.texts), LineRest(line, scan.spans, before)
        return Record(ordinal, texts, rest, scan.identity, scan.present, scan.subject)


def _advice(line: str, absent: PathNode) -> str:
    """Say which fields there are, where the first record lacks one."""
    named = [name for name, _ in _fields.strings(_values(line))]
    advice = _fields.advice(absent.path, named)
    if absent.is_name:
        return advice
    return f"{advice}; records without it may pass with --missing pass"


def _malformed(line: str, error: msgspec.DecodeError) -> str:
    """Say why a line is no JSON; the library's messages hold offsets, never text."""
    if _SURROGATE.search(line):
        return f"not valid JSON: {error}; perhaps a lone surrogate escape"
    return f"not valid JSON: {error}"


class Writer(LineWriter):
    """Writes the line of each record with its new texts in it."""

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record."""
        assert isinstance(record.rest, LineRest)
        self.put(filled(record.rest, texts).encode())


def filled(rest: LineRest, texts: Sequence[str]) -> str:
    """Return the JSON of a record with new texts in it."""
    line, parts, at = rest.line, list[str](), 0
    for (begin, end), text in zip(rest.spans, texts, strict=True):
        parts += (line[at:begin], encode_basestring(text))
        at = end
    parts.append(line[at:])
    return "".join(parts)


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object, those that occur twice included."""


# Numbers stay as they are spelled: they may be longer than Python likes.
_decode = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=str, parse_float=str
).decode


def _leaves(record: object) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Give the path of each value, through lists, and whether it is empty or null."""
    left: list[tuple[tuple[str, ...], object]] = [((), record)]
    while left:
        path, value = left.pop()
        if isinstance(value, _Pairs) and value:
            left += [((*path, name), inner) for name, inner in reversed(value)]
        elif isinstance(value, list) and value:
            left += ((path, inner) for inner in value)
        else:
            yield path, value is None or value == []
