"""CSV: fields are chosen by the names in the header row, rows may span lines.

A field that is not selected keeps its bytes. A selected one is spelled anew whether it
changed or not, so that the spelling does not tell: quoted where its column's name in
the header is, else only if it must be. Without quoting, a delimiter or a line break in
a new text becomes a space, because nothing else could keep the row whole.

A field is quoted if it begins with a quote; it ends at the next single quote that
stands before a delimiter or a line end. So a text with quotes that are not doubled
swallows rows into one fault rather than leave its lines to be read as rows, whose other
columns would pass as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import formats
from dptext.errors import InputError, UsageError
from dptext.formats import BOM, Item, Regular, _fields
from dptext.formats._lines import (
    LineWriter,
    Unreadable,
    decode,
    regular_lines,
    skipped,
    too_long,
)
from dptext.types import Fault, Record, Selection, Verbatim

QUOTE = b'"'
_ENDS = (b"", b"\r", b"\n", b"\r\n", b"\r\r\n")
_SEP = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=([^\"\r\n])\"?\r?\n?")  # of Excel
_BARE = "carriage return outside quotes; convert the line ends to line feeds"
_AHEAD = 6  # bytes after a quote that decide what it means (a delimiter has up to 4)


class FileRow(NamedTuple):
    """One row: its first line, its fields with their quotes, and what is wrong."""

    line: int
    fields: list[bytes]
    end: bytes
    raw: bytes
    trouble: str | None = None


class RowLayout(NamedTuple):
    """How rows are laid out; location is the file's name for messages."""

    delimiter: bytes
    quoting: bool
    limit: int
    location: str


def rows(
    stream: BinaryIO, layout: RowLayout, line: int = 1, first: bytes = b""
) -> Iterator[FileRow]:
    """Give every row; a blank one has no fields, a byte order mark counts as one.

    line is the number of the first line, which first holds if it is read already.
    Raises InputError for a quoted field that the end of the file leaves open.
    """
    delimiter, quoting, limit, _ = layout
    number = line
    while piece := first or stream.readline(limit + 2):
        first = b""
        cut = len(piece) > limit and not piece.endswith(b"\n")
        if number == 1 and piece.startswith(BOM):
            yield FileRow(1, [], b"", BOM)
            piece = piece[len(BOM) :]
        body = piece.rstrip(b"\r\n")
        if cut or len(body) > limit or (quoting and QUOTE in body):
            cutter = _Cutter(stream, layout, number, piece)
            yield from cutter.row()
            number = cutter.line + 1
            continue
        trouble = _BARE if quoting and b"\r" in body else None
        fields = body.split(delimiter) if body else []
        yield FileRow(number, fields, piece[len(body) :], piece, trouble)
        number += 1


def regular_rows(delimiter: bytes, limit: int) -> Regular:
    """Take rows for records that are quoted by the book and no longer than limit."""
    mark = re.escape(delimiter)
    quoted = rb'"(?:[^"]++|"")*+"'
    field = rb'(?:%b|(?!")[^%b\r\n]*+)' % (quoted, mark)
    row = re.compile(rb"%b(?:%b%b)*+\r?\n" % (field, mark, field))

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = records = 0
        for match in row.finditer(data):
            begin, after = match.span()
            if begin != end or after - begin > limit:
                break
            end = after
            records += after - begin > 2 or data[begin : begin + 1] not in b"\r\n"
        return end, records

    return regular


class _Cutter:
    """Cuts one row that holds quotes, or is too long, into its fields."""

    def __init__(
        self, stream: BinaryIO, layout: RowLayout, line: int, piece: bytes
    ) -> None:
        self._stream = stream
        self._layout = layout
        self._first = line
        self._buffer = bytearray(piece)
        self._at = 0
        self._over = False
        self._line_over = piece.endswith(b"\n")
        self._at_end = False
        self._skipped: Iterator[bytes] = iter(())
        self._trouble: str | None = None
        self._fields: list[bytes] = []
        self._too_long = FileRow(line, [], b"", b"", too_long(layout.limit))
        self.line = line

    def row(self) -> Iterator[FileRow]:
        """Read to the end of the row, and give it.

        One that is too long is given before its rest is read: a reader may stop there.
        """
        delimiter, quoting, limit, _ = self._layout
        while True:
            if self._at == len(self._buffer):
                yield from self._more()
            begin = self._at
            is_quoted = quoting and self._buffer.startswith(QUOTE, begin)
            yield from self._quoted() if is_quoted else self._plain()
            if not self._over:
                field = bytes(self._buffer[begin : self._at])
                if quoting and not is_quoted and b"\r" in field:
                    self._trouble = self._trouble or _BARE
                self._fields.append(field)
            if not self._buffer.startswith(delimiter, self._at):
                break
            self._at += len(delimiter)
        if self._over:
            return
        if self._at > limit:
            yield self._too_long
            return
        raw = bytes(self._buffer)
        yield FileRow(self._first, self._fields, raw[self._at :], raw, self._trouble)

    def _quoted(self) -> Iterator[FileRow]:
        """Go past the quote that closes the field."""
        opened, delimiter = self.line, self._layout.delimiter
        self._at += 1
        while True:
            at = self._buffer.find(QUOTE, self._at)
            if at < 0 or (self._open() and len(self._buffer) - at < _AHEAD):
                self._at = len(self._buffer) if at < 0 else at
                more = yield from self._more()
                if not more and at < 0:
                    raise InputError(
                        f"{self._layout.location}:{opened}: a quoted field begins here "
                        "and is never closed; close it, or read quotes as ordinary "
                        "characters with --no-quoting"
                    )
            elif self._buffer.startswith(QUOTE, at + 1):
                self._at = at + 2
            else:
                self._at = at + 1
                if self._buffer.startswith(delimiter, self._at):
                    return
                if bytes(self._buffer[self._at : self._at + 4]) in _ENDS:
                    return
                self._trouble = (
                    f"text after the closing quote of the field that begins on line "
                    f"{opened}; double the quotes inside quoted fields, or read quotes "
                    f"as ordinary characters with --no-quoting"
                )

    def _plain(self) -> Iterator[FileRow]:
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
            yield from self._more()

    def _open(self) -> bool:
        """Tell whether the line that is read goes on beyond the buffer."""
        return not (self._line_over or self._at_end)

    def _more(self) -> Generator[FileRow, None, bool]:
        """Read on; of a row that is too long only the part still needed is kept."""
        limit = self._layout.limit
        if len(self._buffer) > limit and not self._over:
            self._over = True
            self._skipped = skipped(self._stream, self._layout.location)
            yield self._too_long
        if self._over:
            del self._buffer[: self._at]
            self._at = 0
            piece = next(self._skipped, b"")
        else:
            piece = self._stream.readline(limit + 2 - len(self._buffer))
        if not piece:
            self._at_end = True
            return False
        self.line += self._line_over
        self._line_over = piece.endswith(b"\n")
        self._buffer += piece
        return True


# Each as it is typed in a shell.
_DELIMITERS = {";": "';'", "\t": "$'\\t'", "|": "'|'", ",": "','"}


class Header(NamedTuple):
    """The header row of one input, the names in it, and which of them are quoted."""

    raw: bytes
    delimiter: bytes
    names: tuple[str, ...]
    quoted: tuple[bool, ...]


class HeaderColumns(NamedTuple):
    """Where the selected fields stand, from 0; every row must have as many fields.

    names are those of the header, or numbers from 1.
    """

    names: tuple[str, ...]
    texts: tuple[int, ...]
    identity: int | None
    subject: int | None = None


def names_of(row: FileRow, selection: Selection, location: str) -> tuple[str, ...]:
    """Return the names of a header. Raises InputError where it cannot be read."""
    try:
        decode(row.raw)
        if row.trouble is not None:
            raise Unreadable(row.trouble)
    except Unreadable as error:
        msg = f"{location}:{row.line}: header: {error}"
        msg += f"; {error.advice}" if error.advice else ""
        first = row.raw.partition(b"\n")[0].decode("utf-8", "replace")
        for name in selection.fields:
            if (delimiter := other_delimiter(first, name)) is not None:
                msg += f"; did you mean --delimiter {_DELIMITERS[delimiter]}?"
        raise InputError(msg) from None
    return tuple(text_of(field, selection.quoting) for field in row.fields)


def by_name(
    names: tuple[str, ...], selection: Selection, raw: bytes, where: str
) -> HeaderColumns:
    """Find the selected columns by name; raw is the header."""

    def index_of(name: str) -> int:
        if names.count(name) == 1:
            return names.index(name)
        if name in names:
            raise InputError(
                f"{where}: the header has column {name!r} twice; rename one of them"
            )
        raise InputError(
            f"{where}: no column {name!r} among the {len(names)} of the header; "
            f"{_hint(name, names, raw.decode())} (a file without header needs "
            "--no-header)"
        )

    return _selected(names, index_of, selection)


def _hint(name: str, names: tuple[str, ...], header: str) -> str:
    """Say what may have been meant, without names: they may be the first record."""
    delimiter = other_delimiter(header, name)
    near = _fields.nearest(name, names)
    if delimiter is None and near is not None:
        return f"did you mean that of column {names.index(near) + 1}?"
    if delimiter is None and len(names) == 1:
        delimiter = other_delimiter(header)
    if delimiter is not None:
        return f"did you mean --delimiter {_DELIMITERS[delimiter]}?"
    return "name the columns with --field, another delimiter with --delimiter"


def other_delimiter(header: str, name: str | None = None) -> str | None:
    """Return what delimits a header so that it has a column of a name, or several."""
    for delimiter in _DELIMITERS:
        names = [part.strip().strip('"') for part in header.split(delimiter)]
        if len(names) > 1 and (name is None or name in names):
            return delimiter
    return None


def by_number(count: int, selection: Selection, where: str) -> HeaderColumns:
    """Find the selected columns by number, from 1."""

    def index_of(name: str) -> int:
        if not re.fullmatch(r"[1-9][0-9]{0,8}", name):
            raise UsageError(
                f"field {name!r}: without header, fields are column numbers from 1"
            )
        if int(name) > count:
            raise InputError(f"{where}: no column {name}; the first row has {count}")
        return int(name) - 1

    return _selected(tuple(map(str, range(1, count + 1))), index_of, selection)


def _selected(
    names: tuple[str, ...], index_of: Callable[[str], int], selection: Selection
) -> HeaderColumns:
    texts = tuple(sorted({index_of(name) for name in selection.fields}))
    named: list[int | None] = []
    for name, what in (
        (selection.id_field, "id"),
        (selection.subject_field, "subject"),
    ):
        named.append(None if name is None else index_of(name))
        if named[-1] in texts:
            raise UsageError(f"field {name!r} cannot be both a text and the {what}")
    return HeaderColumns(names, texts, *named)


def text_of(field: bytes, quoting: bool) -> str:
    """Return what a field says; its bytes are known to be UTF-8."""
    if quoting and field.startswith(QUOTE):
        field = field[1:-1].replace(b'""', QUOTE)
    return field.decode()


class RowRest(NamedTuple):
    """What is kept of a row to write it back."""

    fields: list[bytes]
    columns: HeaderColumns
    end: bytes


class Format(formats.Format):
    """One record per row; the delimiter is a comma unless selected otherwise."""

    SUFFIXES: ClassVar[tuple[str, ...]] = (".csv",)
    DELIMITER: ClassVar = ","

    def read(
        self,
        stream: BinaryIO,
        selection: Selection,
        location: str,
        start: int = 0,
        line: int = 1,
    ) -> Iterator[Item]:
        """Read one record per row, after the header if there is one."""
        layout, before, first, note = self._begun(stream, selection, location)
        if before and not selection.header:
            yield Verbatim(before, header=True)
        columns: HeaderColumns | None = None
        ordinal = start
        for row in rows(stream, layout, line + bool(before), first):
            where = f"{location}:{row.line}"
            if not row.fields and row.trouble is None:
                yield Verbatim(row.raw, header=row.raw == BOM)
                continue
            if columns is None and selection.header:
                names = names_of(row, selection, location)
                columns = by_name(names, selection, row.raw, where)
                quoted = tuple(field.startswith(QUOTE) for field in row.fields)
                header = Header(before + row.raw, layout.delimiter, names, quoted)
                yield Verbatim(header, header=True, note=note)
                continue
            if columns is None and row.trouble is None:
                columns = by_number(len(row.fields), selection, where)
            try:
                yield _record(row, columns, selection, ordinal)
            except Unreadable as error:
                yield Fault(where, str(error), row.raw, error.advice)
            ordinal += 1

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, selection, self._layout(selection, b"", "").delimiter)

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return what finds rows; without a header the first one must be known."""
        layout = self._layout(selection, head, "")
        if not selection.header or len(layout.delimiter) > 1:
            return None
        if not layout.quoting:
            return regular_lines(b"\r\n")
        return regular_rows(layout.delimiter, layout.limit)

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return the header."""
        return next(each.rest.raw for each in before if isinstance(each.rest, Header))

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the names of the columns that are not selected; else their numbers.

        Raises InputError when a selected column is not there.
        """
        layout, _, first, _ = self._begun(stream, selection, "file")
        row = next((row for row in rows(stream, layout, 1, first) if row.fields), None)
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

    def candidates(self, stream: BinaryIO, selection: Selection) -> list[str]:
        """Return the names of a header; none where they may be the first record."""
        layout, _, first, _ = self._begun(stream, selection, "")
        try:
            read = rows(stream, layout, 1, first)
            row = next((row for row in read if row.fields), None)
            fields = [] if row is None else row.fields
            names = [text_of(field, layout.quoting) for field in fields]
        except (InputError, UnicodeDecodeError):
            return []
        plain = selection.header and all(map(_fields.is_identifier, names))
        return names if plain else []

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, RowRest)
        fields, columns, _ = record.rest
        selected = {*columns.texts, columns.identity, columns.subject}
        for index, (name, field) in enumerate(zip(columns.names, fields, strict=True)):
            if index not in selected:
                yield name, text_of(field, selection.quoting)

    def _begun(
        self, stream: BinaryIO, selection: Selection, location: str
    ) -> tuple[RowLayout, bytes, bytes, str]:
        """Return how rows are laid out, and Excel's line of the delimiter or b"".

        Then the first line of the first row, and a note on a guessed delimiter or "".
        """
        before, first = b"", stream.readline(selection.max_record_bytes + 2)
        layout, note = self._layout(selection, first, location), ""
        delimiter = layout.delimiter.decode()
        if _SEP.fullmatch(first):
            before, first = first, stream.readline(selection.max_record_bytes + 2)
        elif delimiter != (selection.delimiter or self.DELIMITER):
            shown = _DELIMITERS[delimiter]
            note = f"{location}: read with --delimiter {shown}, by its header"
        return layout, before, first, note

    def _layout(self, selection: Selection, head: bytes, location: str) -> RowLayout:
        """Return how rows are laid out; head is the first line, as far as known."""
        delimiter = selection.delimiter or self._guessed(selection, head)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise UsageError(
                "the delimiter must be one character, not a quote or a line end"
            )
        limit = selection.max_record_bytes
        return RowLayout(delimiter.encode(), selection.quoting, limit, location)

    def _guessed(self, selection: Selection, head: bytes) -> str:
        """Return what a line names, or a header needs to have all named fields."""
        if named_by := _SEP.match(head):
            return named_by[1].decode("utf-8", "replace")
        header = head.removeprefix(BOM).partition(b"\n")[0].decode("utf-8", "replace")
        named = {name for name in selection.named if name is not None}
        for delimiter in (self.DELIMITER, *_DELIMITERS) if selection.header else ():
            names = [part.strip().strip('"') for part in header.split(delimiter)]
            if len(names) > 1 and named <= set(names):
                return delimiter
        return self.DELIMITER


def _record(
    row: FileRow, columns: HeaderColumns | None, selection: Selection, ordinal: int
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
        subject = _fields.of_text(value, selection.subject_field or "")
    rest = RowRest(fields, columns, row.end)
    return Record(ordinal, texts, rest, identity, selection.fields, subject)


class Writer(LineWriter):
    """Writes rows back, and the header once."""

    def __init__(
        self, stream: BinaryIO, selection: Selection, delimiter: bytes
    ) -> None:
        super().__init__(stream)
        self._quoting = selection.quoting
        self._names: tuple[str, ...] | None = None
        self._private = selection.fields
        self._quoted: tuple[bool, ...] = ()
        self._is_chosen = selection.delimiter is not None
        self._divide(delimiter)

    def _divide(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        line_break = rb"\r\n|[\r\n]|" + re.escape(delimiter)
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
        assert isinstance(rest, RowRest)
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
            named = _SEP.fullmatch(header) if isinstance(header, bytes) else None
            if named and not self._is_chosen:
                self._divide(named[1])
            super().verbatim(item)
        elif self._names is None:
            self._names, self._quoted = header.names, header.quoted
            self._divide(header.delimiter)
            self.put(header.raw)
        elif header.names != self._names:
            raise InputError(
                "the columns of the inputs differ, so one output cannot hold them; "
                "write each input to its own output"
            )
