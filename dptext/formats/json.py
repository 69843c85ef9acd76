"""JSON: an array of objects, or consecutive objects; each is a record.

Like JSON lines (dptext.formats.jsonl), but records may span lines: white space and
commas between them are kept too. An array of any length is read in constant memory; a
file that is one object is one record. After damage between two records nothing can be
separated, so it ends the reading, even where faulty records are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from typing import BinaryIO, ClassVar, cast

from dptext import formats
from dptext.errors import InputError
from dptext.formats import Input, Item, Replacement, Unreadable, jsonl, no_replacement
from dptext.formats.jsonl import LineRest
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

_READ = 2**16  # bytes read at once
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\[?")
_BETWEEN = re.compile(rb"[ \t\r\n]*(?:,[ \t\r\n]*)?")
_CLOSING = re.compile(rb"\]?[ \t\r\n]*")
_BARE = re.compile(rb"[^ \t\r\n,\[\]{}\"]*")  # numbers, true, false, null
_MARK = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
_DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


class _Values:
    """Splits a stream into values and the bytes between; line is the next value's."""

    def __init__(self, stream: BinaryIO, limit: int, location: str) -> None:
        self._stream = cast(BufferedIOBase, stream)
        self._limit = limit
        self._location = location
        self._data = b""
        self._at = 0
        self.line = 1
        self.closing = b""

    def opening(self) -> bytes:
        """Return the bytes before the first value, including an array's bracket."""
        while len(self._data) < 3 and self._more():
            """A byte order mark may come in parts."""
        return self._take(_OPENING)

    def separators(self, is_array: bool) -> Iterator[bytes]:
        """Yield the bytes before each value, which the caller must read next.

        The bytes after the last value are in `closing` at the end.
        """
        comma = False
        while True:
            between = self._take(_BETWEEN)
            if self._next() in (b"", b"]"):
                break
            if (b"," in between) != comma or self._next() in b"},":
                raise self._damaged("records must have one comma between them")
            yield between
            comma = is_array
        end = self._take(_CLOSING)
        if b"," in between and end:
            raise self._damaged("there is a comma after the last record; remove it")
        if b"," in between or end.startswith(b"]") != is_array:
            raise self._damaged("it ends within an array; is the file cut off?")
        if self._next():
            raise self._damaged(
                "there is content after the end of the array; remove it"
            )
        self.closing = between + end

    def value(self) -> Iterator[bytes | None]:
        """Yield the value that begins here, or None if it is too long.

        None is yielded before the rest is read, so that a caller may stop.
        """
        parts: list[bytes] = []
        size = 0
        for part in self._parts():
            is_over = size > self._limit
            size += len(part)
            if size <= self._limit:
                parts.append(part)
            elif not is_over:
                parts.clear()
                yield None
            elif size > formats.SKIPPED:
                raise formats.endless(self._location)
        if size <= self._limit:
            yield b"".join(parts)

    def _parts(self) -> Iterator[bytes]:
        """Yield the value that begins here in chunks as it is read."""
        if self._next() not in b'{["':
            yield self._take(_BARE)
            return
        depth, is_quoted = 0, False
        while True:
            end, depth, is_quoted = _scanned(self._data, self._at, depth, is_quoted)
            yield self._past(end)
            if not (depth or is_quoted):
                return
            if not self._more():
                raise self._damaged("it ends within a record; is the file cut off?")

    def _damaged(self, reason: str) -> InputError:
        if self._data.startswith(formats.BOM, self._at):
            reason = formats.BOM_WITHIN
        return InputError(f"{self._location}:{self.line}: not valid JSON: {reason}")

    def _next(self) -> bytes:
        """Return the next byte, empty at the end."""
        if self._at == len(self._data):
            self._more()
        return self._data[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[bytes]) -> bytes:
        """Consume and return the match of a pattern, which may be empty."""
        while True:
            match = pattern.match(self._data, self._at)
            assert match is not None
            if match.end() < len(self._data) or not self._more():
                return self._past(self._at + len(match[0]))
            if len(match[0]) > self._limit:
                raise self._damaged("too much space, or too long a number")

    def _past(self, end: int) -> bytes:
        passed = self._data[self._at : end]
        self._at = end
        self.line += passed.count(b"\n")
        return passed

    def _more(self) -> bool:
        more = self._stream.read1(_READ)
        self._data = self._data[self._at :] + more
        self._at = 0
        return bool(more)


def _scanned(
    data: bytes, at: int, depth: int, is_quoted: bool
) -> tuple[int, int, bool]:
    """Return where the value or data ends, its depth, and whether in quotes."""
    end = at
    for mark in _MARK.finditer(data, at):
        end = mark.end()
        if mark[0] == b'"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += _DEPTH.get(mark[0], 0)
        if not (depth or is_quoted):
            return end, 0, False
    is_cut = end < len(data) and data.endswith(b"\\")  # its character comes next
    return len(data) - is_cut, depth, is_quoted


class Format(jsonl.Format):
    """One record per object of an array or a file."""

    SUFFIXES: ClassVar = (".json",)

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per object."""
        stream, selection, location, start = source[:4]
        values = _Values(stream, selection.max_record_bytes, location)
        parse, ordinal = jsonl.parser(selection), start
        opening = values.opening()
        yield Verbatim(opening, header=True)
        for before in values.separators(opening.endswith(b"[")):
            where = f"{location}:{values.line}: record {ordinal - start + 1}"
            for value in values.value():
                if value is None:
                    reason = formats.too_long(selection.max_record_bytes)
                    yield Fault(where, reason, b"")
                    continue
                try:
                    yield parse(formats.decode(value), ordinal, before.decode())
                except Unreadable as error:
                    yield error.fault(where, value)
            ordinal += 1
        yield Verbatim(values.closing)

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for objects."""
        return Writer(stream, replacement)

    def regular(self, selection: Selection, head: bytes = b"") -> None:
        """Return None: a single process must split the records."""


class Writer(formats.Writer):
    """Writes objects with the bytes before each; arrays are merged into one."""

    def __init__(self, stream: BinaryIO, replacement: Replacement) -> None:
        self._stream, self._replacement = stream, replacement
        self._opening: bytes | None = None
        self._closing = b""
        self._is_first = True

    def verbatim(self, item: Verbatim) -> None:
        """Write the start of a file once, and keep its end.

        Raises InputError if a second input cannot continue the first one's array.
        """
        raw = item.rest
        assert isinstance(raw, bytes)
        if not item.header:
            self._closing = raw
        elif self._opening is None:
            self._opening = raw
            self._stream.write(raw)
        elif not (raw.endswith(b"[") and self._opening.endswith(b"[")):
            raise InputError(
                "inputs that are not arrays cannot be merged into one JSON file; "
                f"write each input to its own output with {option('out-dir')}"
            )

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write an object, after a comma unless it is the first."""
        assert isinstance(record.rest, LineRest)
        before = record.rest.before
        if self._is_first:
            before = before.replace(",", "")
        elif "," not in before and (self._opening or b"").endswith(b"["):
            before = "," + before
        self._is_first = False
        filled = jsonl.filled(record.rest, texts, self._replacement)
        self._stream.write((before + filled).encode())

    def close(self) -> None:
        """Write the end of the file."""
        self._stream.write(self._closing)
