"""Logical rows of a delimited file, as raw bytes of fields.

A field is quoted if it begins with a quote; it ends at the next single quote that
stands before a delimiter or a line end. So a text with quotes that are not doubled
swallows rows into one fault rather than leave its lines to be read as rows, whose other
columns would pass as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from dptext.errors import InputError
from dptext.formats import BOM
from dptext.formats._lines import CHUNK, too_long

QUOTE = b'"'
_ENDS = (b"", b"\r", b"\n", b"\r\n", b"\r\r\n")
_BARE = "carriage return outside quotes; convert the line ends to line feeds"
_AHEAD = 6  # bytes after a quote that decide what it means (a delimiter has up to 4)


class Row(NamedTuple):
    """One row: its first line, its fields with their quotes, and what is wrong."""

    line: int
    fields: list[bytes]
    end: bytes
    raw: bytes
    trouble: str | None = None


class Layout(NamedTuple):
    """How rows are laid out; location is the file's name for messages."""

    delimiter: bytes
    quoting: bool
    limit: int
    location: str


def rows(stream: BinaryIO, layout: Layout, line: int = 1) -> Iterator[Row]:
    """Give every row; a blank one has no fields, a byte order mark counts as one.

    line is the number of the first line.
    Raises InputError for a quoted field that the end of the file leaves open.
    """
    delimiter, quoting, limit, _ = layout
    number = line
    while piece := stream.readline(limit + 2):
        cut = len(piece) > limit and not piece.endswith(b"\n")
        if number == 1 and piece.startswith(BOM):
            yield Row(1, [], b"", BOM)
            piece = piece[len(BOM) :]
        body = piece.rstrip(b"\r\n")
        if cut or len(body) > limit or (quoting and QUOTE in body):
            cutter = _Cutter(stream, layout, number, piece)
            yield cutter.row()
            number = cutter.line + 1
            continue
        trouble = _BARE if quoting and b"\r" in body else None
        fields = body.split(delimiter) if body else []
        yield Row(number, fields, piece[len(body) :], piece, trouble)
        number += 1


class _Cutter:
    """Cuts one row that holds quotes, or is too long, into its fields."""

    def __init__(
        self, stream: BinaryIO, layout: Layout, line: int, piece: bytes
    ) -> None:
        self._stream = stream
        self._layout = layout
        self._first = line
        self._buffer = bytearray(piece)
        self._at = 0
        self._over = False
        self._line_over = piece.endswith(b"\n")
        self._at_end = False
        self._trouble: str | None = None
        self._fields: list[bytes] = []
        self.line = line

    def row(self) -> Row:
        """Read to the end of the row."""
        delimiter = self._layout.delimiter
        while True:
            if self._at == len(self._buffer):
                self._more()
            self._field()
            if not self._buffer.startswith(delimiter, self._at):
                break
            self._at += len(delimiter)
        if self._over or self._at > self._layout.limit:
            return Row(self._first, [], b"", b"", too_long(self._layout.limit))
        raw = bytes(self._buffer)
        return Row(self._first, self._fields, raw[self._at :], raw, self._trouble)

    def _field(self) -> None:
        begin = self._at
        if self._layout.quoting and self._buffer.startswith(QUOTE, begin):
            self._at += 1
            self._quoted()
        else:
            self._plain()
            if self._layout.quoting and not self._over:
                bare = b"\r" in self._buffer[begin : self._at]
                self._trouble = self._trouble or (_BARE if bare else None)
        if not self._over:
            self._fields.append(bytes(self._buffer[begin : self._at]))

    def _quoted(self) -> None:
        """Go past the quote that closes the field."""
        opened = self.line
        while True:
            at = self._buffer.find(QUOTE, self._at)
            if at < 0 or (self._open() and len(self._buffer) - at < _AHEAD):
                self._at = len(self._buffer) if at < 0 else at
                if not self._more() and at < 0:
                    raise InputError(self._unclosed(opened))
            elif self._buffer.startswith(QUOTE, at + 1):
                self._at = at + 2
            else:
                self._at = at + 1
                if self._field_ends():
                    return
                self._trouble = (
                    f"text after the closing quote of the field that begins on line "
                    f"{opened}; double the quotes inside quoted fields, or read quotes "
                    f"as ordinary characters with --no-quoting"
                )

    def _plain(self) -> None:
        """Go to the delimiter or the line end that closes an unquoted field."""
        delimiter = self._layout.delimiter
        while True:
            at = self._buffer.find(delimiter, self._at)
            if at >= 0:
                self._at = at
                return
            if not self._open():
                self._at = len(self._buffer)
                while self._at > 0 and self._buffer[self._at - 1] in b"\r\n":
                    self._at -= 1
                return
            # A delimiter may be cut in two by the end of what is read so far.
            self._at = max(self._at, len(self._buffer) - len(delimiter) + 1)
            self._more()

    def _field_ends(self) -> bool:
        if self._buffer.startswith(self._layout.delimiter, self._at):
            return True
        return bytes(self._buffer[self._at : self._at + 4]) in _ENDS

    def _open(self) -> bool:
        """Tell whether the line that is read goes on beyond the buffer."""
        return not (self._line_over or self._at_end)

    def _more(self) -> bool:
        """Read on; of a row that is too long only what is still needed is kept."""
        limit = self._layout.limit
        if len(self._buffer) > limit:
            self._over = True
        if self._over:
            del self._buffer[: self._at]
            self._at = 0
        size = CHUNK if self._over else limit + 2 - len(self._buffer)
        piece = self._stream.readline(size)
        if not piece:
            self._at_end = True
            return False
        self.line += self._line_over
        self._line_over = piece.endswith(b"\n")
        self._buffer += piece
        return True

    def _unclosed(self, opened: int) -> str:
        return (
            f"{self._layout.location}:{opened}: a quoted field begins here and is "
            "never closed; close it, or read quotes as ordinary characters with "
            "--no-quoting"
        )
