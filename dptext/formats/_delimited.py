"""What CSV and TSV share: columns, texts, and writing fields back.

A field that is not selected keeps its bytes. A selected one is spelled anew whether it
changed or not, so that the spelling does not tell: quoted where its column's name in
the header is, else only if it must be. Without quoting, a delimiter or a line break in
a new text becomes a space, because nothing else could keep the row whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import formats
from dptext.errors import InputError, UsageError
from dptext.formats import BOM, Item, _fields
from dptext.formats._line_writer import LineWriter
from dptext.formats._lines import Unreadable, decode
from dptext.formats._rows import QUOTE, Layout, Row, rows
from dptext.types import Fault, Record, Selection, Verbatim

# Each as it is typed in a shell.
_DELIMITERS = {";": "';'", "\t": "$'\\t'", "|": "'|'", ",": "','"}


class Header(NamedTuple):
    """The header row of one input, the names in it, and which of them are quoted."""

    raw: bytes
    names: tuple[str, ...]
    quoted: tuple[bool, ...]


class Columns(NamedTuple):
    """Where the selected fields stand, from 0; every row must have as many fields.

    names are those of the header, or numbers from 1.
    """

    names: tuple[str, ...]
    texts: tuple[int, ...]
    identity: int | None


class Rest(NamedTuple):
    """What is kept of a row to write it back."""

    fields: list[bytes]
    columns: Columns
    end: bytes


class Format(formats.Format):
    """Rows of fields; DELIMITER is used unless another is selected."""

    DELIMITER: ClassVar[str]

    def read(
        self, stream: BinaryIO, selection: Selection, location: str, start: int = 0
    ) -> Iterator[Item]:
        """Read one record per row, after the header if there is one."""
        layout = self._layout(selection, location)
        columns: Columns | None = None
        ordinal = start
        for row in rows(stream, layout):
            where = f"{location}:{row.line}"
            if not row.fields and row.trouble is None:
                yield Verbatim(row.raw, header=row.raw == BOM)
                continue
            if columns is None and selection.header:
                names = _names(row, selection, location)
                columns = _named(names, selection, row.raw, where)
                quoted = tuple(field.startswith(QUOTE) for field in row.fields)
                yield Verbatim(Header(row.raw, names, quoted), header=True)
                continue
            if columns is None and row.trouble is None:
                columns = _numbered(len(row.fields), selection, where)
            try:
                yield _record(row, columns, selection, ordinal)
            except Unreadable as error:
                yield Fault(where, str(error), row.raw)
            ordinal += 1

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, selection, self._layout(selection, "").delimiter)

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the names of the columns that are not selected; else their numbers.

        Raises InputError when a selected column is not there.
        """
        layout = self._layout(selection, "file")
        row = next((row for row in rows(stream, layout) if row.fields), None)
        if row is None:
            return
        if selection.header:
            names = _names(row, selection, "file")
            columns = _named(names, selection, row.raw, "file")
        else:
            columns = _numbered(len(row.fields), selection, "file")
        for index, name in enumerate(columns.names):
            if index not in columns.texts:
                yield name

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Rest)
        fields, columns, _ = record.rest
        selected = {*columns.texts, columns.identity}
        for index, (name, field) in enumerate(zip(columns.names, fields, strict=True)):
            if index not in selected:
                yield name, _text(field, selection.quoting)

    def _layout(self, selection: Selection, location: str) -> Layout:
        delimiter = selection.delimiter or self.DELIMITER
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise UsageError(
                "the delimiter must be one character, not a quote or a line end"
            )
        limit = selection.max_record_bytes
        return Layout(delimiter.encode(), selection.quoting, limit, location)


def _names(row: Row, selection: Selection, location: str) -> tuple[str, ...]:
    try:
        if row.trouble is not None:
            raise Unreadable(row.trouble)
        decode(row.raw)
    except Unreadable as error:
        msg = f"{location}:{row.line}: header: {error}"
        first = row.raw.partition(b"\n")[0].decode("utf-8", "replace")
        for name in selection.fields:
            if (delimiter := other_delimiter(first, name)) is not None:
                msg += f"; did you mean --delimiter {_DELIMITERS[delimiter]}?"
        raise InputError(msg) from None
    return tuple(_text(field, selection.quoting) for field in row.fields)


def _named(
    names: tuple[str, ...], selection: Selection, raw: bytes, where: str
) -> Columns:
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

    return _columns(names, index_of, selection)


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


def _numbered(count: int, selection: Selection, where: str) -> Columns:
    """Find the selected columns by number, from 1."""

    def index_of(name: str) -> int:
        if not re.fullmatch(r"[1-9][0-9]{0,8}", name):
            raise UsageError(
                f"field {name!r}: without header, fields are column numbers from 1"
            )
        if int(name) > count:
            raise InputError(f"{where}: no column {name}; the first row has {count}")
        return int(name) - 1

    return _columns(tuple(map(str, range(1, count + 1))), index_of, selection)


def _columns(
    names: tuple[str, ...], index_of: Callable[[str], int], selection: Selection
) -> Columns:
    texts = tuple(sorted({index_of(name) for name in selection.fields}))
    identity = None if selection.id_field is None else index_of(selection.id_field)
    if identity in texts:
        raise UsageError(
            f"field {selection.id_field!r} cannot be both a text and the id"
        )
    return Columns(names, texts, identity)


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
    texts = tuple(_text(fields[index], selection.quoting) for index in columns.texts)
    identity = None
    if columns.identity is not None:
        identity = _text(fields[columns.identity], selection.quoting)
    rest = Rest(fields, columns, row.end)
    return Record(ordinal, texts, rest, identity, selection.fields)


def _text(field: bytes, quoting: bool) -> str:
    """Return what a field says; its bytes are known to be UTF-8."""
    if quoting and field.startswith(QUOTE):
        field = field[1:-1].replace(b'""', QUOTE)
    return field.decode()


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
