"""What CSV and TSV share: columns, texts, and writing fields back.

A field that is not selected keeps its bytes. A selected one is spelled anew whether it
changed or not, so that the spelling does not tell: quoted where its column's name in
the header is, else only if it must be. Without quoting, a delimiter or a line break in
a new text becomes a space, because nothing else could keep the row whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import formats
from dptext.errors import InputError, UsageError
from dptext.formats import BOM, Item, _pieces, _subjects
from dptext.formats._columns import (
    Columns,
    Header,
    by_name,
    by_number,
    names_of,
    text_of,
)
from dptext.formats._line_writer import LineWriter
from dptext.formats._lines import Unreadable, decode
from dptext.formats._pieces import Regular
from dptext.formats._rows import QUOTE, Layout, Row, rows
from dptext.types import Fault, Record, Selection, Verbatim


class Rest(NamedTuple):
    """What is kept of a row to write it back."""

    fields: list[bytes]
    columns: Columns
    end: bytes


class Format(formats.Format):
    """Rows of fields; DELIMITER is used unless another is selected."""

    DELIMITER: ClassVar[str]

    def read(
        self,
        stream: BinaryIO,
        selection: Selection,
        location: str,
        start: int = 0,
        line: int = 1,
    ) -> Iterator[Item]:
        """Read one record per row, after the header if there is one."""
        layout = self._layout(selection, location)
        columns: Columns | None = None
        ordinal = start
        for row in rows(stream, layout, line):
            where = f"{location}:{row.line}"
            if not row.fields and row.trouble is None:
                yield Verbatim(row.raw, header=row.raw == BOM)
                continue
            if columns is None and selection.header:
                names = names_of(row, selection, location)
                columns = by_name(names, selection, row.raw, where)
                quoted = tuple(field.startswith(QUOTE) for field in row.fields)
                yield Verbatim(Header(row.raw, names, quoted), header=True)
                continue
            if columns is None and row.trouble is None:
                columns = by_number(len(row.fields), selection, where)
            try:
                yield _record(row, columns, selection, ordinal)
            except Unreadable as error:
                yield Fault(where, str(error), row.raw)
            ordinal += 1

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, selection, self._layout(selection, "").delimiter)

    def regular(self, selection: Selection) -> Regular | None:
        """Return what finds rows; without a header the first one must be known."""
        layout = self._layout(selection, "")
        if not selection.header or len(layout.delimiter) > 1:
            return None
        if not layout.quoting:
            return _pieces.lines(b"\r\n")
        return _pieces.rows(layout.delimiter, layout.limit)

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return the header."""
        return next(each.rest.raw for each in before if isinstance(each.rest, Header))

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the names of the columns that are not selected; else their numbers.

        Raises InputError when a selected column is not there.
        """
        layout = self._layout(selection, "file")
        row = next((row for row in rows(stream, layout) if row.fields), None)
        if row is None:
            return
        if selection.header:
            names = names_of(row, selection, "file")
            columns = by_name(names, selection, row.raw, "file")
        else:
            columns = by_number(len(row.fields), selection, "file")
        for index, name in enumerate(columns.names):
            if index not in columns.texts:
                yield name

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Rest)
        fields, columns, _ = record.rest
        selected = {*columns.texts, columns.identity, columns.subject}
        for index, (name, field) in enumerate(zip(columns.names, fields, strict=True)):
            if index not in selected:
                yield name, text_of(field, selection.quoting)

    def _layout(self, selection: Selection, location: str) -> Layout:
        delimiter = selection.delimiter or self.DELIMITER
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise UsageError(
                "the delimiter must be one character, not a quote or a line end"
            )
        limit = selection.max_record_bytes
        return Layout(delimiter.encode(), selection.quoting, limit, location)


def _record(
    row: Row, columns: Columns | None, selection: Selection, ordinal: int
) -> Record:
    fields = row.fields
    if columns is None or row.trouble is not None:
        raise Unreadable(row.trouble or "")
    if len(fields) != len(columns.names):
        first = "header" if selection.header else "first row"
        raise Unreadable(
            f"{len(fields)} fields where the {first} has {len(columns.names)}"
        )
    decode(row.raw)
    texts = tuple(text_of(fields[index], selection.quoting) for index in columns.texts)
    identity = None
    if columns.identity is not None:
        identity = text_of(fields[columns.identity], selection.quoting)
    subject = None
    if columns.subject is not None:
        value = text_of(fields[columns.subject], selection.quoting)
        subject = _subjects.of_text(value, selection.subject_field or "")
    rest = Rest(fields, columns, row.end)
    return Record(ordinal, texts, rest, identity, selection.fields, subject)


class Writer(LineWriter):
    """Writes rows back, and the header once."""

    def __init__(
        self, stream: BinaryIO, selection: Selection, delimiter: bytes
    ) -> None:
        super().__init__(stream)
        self._delimiter = delimiter
        self._quoting = selection.quoting
        self._names: tuple[str, ...] | None = None
        self._private = selection.fields
        self._quoted: tuple[bool, ...] = ()
        line_break = rb"\r\n|[\r\n]|" + re.escape(self._delimiter)
        self._break = re.compile(line_break)
        self._special = re.compile(line_break + b'|"')

    @property
    def copied(self) -> tuple[str, ...] | None:
        """Return the names of the columns that are copied, None without a header."""
        if self._names is None:
            return None
        return tuple(name for name in self._names if name not in self._private)

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a row with its new texts in it."""
        rest = record.rest
        assert isinstance(rest, Rest)
        fields = rest.fields.copy()
        for index, text in zip(rest.columns.texts, texts, strict=True):
            fields[index] = self._spell(text.encode(), index, len(fields))
        self.put(self._delimiter.join(fields) + rest.end)

    def _spell(self, text: bytes, index: int, count: int) -> bytes:
        if not self._quoting:
            return self._break.sub(b" ", text)
        # An empty field alone on its line would read as a blank line.
        alone = count == 1 and not text
        quoted = bool(self._quoted) and self._quoted[index]
        if quoted or alone or self._special.search(text):
            return QUOTE + text.replace(QUOTE, b'""') + QUOTE
        return text

    def verbatim(self, item: Verbatim) -> None:
        """Write what stands between rows; a header equal to the first is left out.

        Raises InputError when a second input has other columns than the first.
        """
        header = item.rest
        if not isinstance(header, Header):
            super().verbatim(item)
        elif self._names is None:
            self._names, self._quoted = header.names, header.quoted
            self.put(header.raw)
        elif header.names != self._names:
            raise InputError(
                "the columns of the inputs differ, so that one output cannot hold "
                "them; write each input to its own output"
            )
