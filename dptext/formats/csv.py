"""CSV: fields are selected by header names; rows may span several lines.

A field that is not selected keeps its bytes. A selected one is always rewritten,
whether it changed or not, so that the spelling reveals nothing: quoted if its column's
name in the header is, else only if it must be. Without quoting, a delimiter or a line
break in a new text becomes a space, because nothing else could keep the row whole.

A field is quoted if it begins with a quote; it ends at the next undoubled quote that
precedes a delimiter or a line end. So a text with undoubled quotes
swallows rows into one fault rather than leave its lines to be read as rows, with other
columns that would pass unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import formats
from dptext.errors import InputError, UsageError
from dptext.formats import (
    BOM,
    Input,
    Item,
    LineWriter,
    Regular,
    Replacement,
    Unreadable,
    no_replacement,
    too_long,
)
from dptext.formats._fields import Columns, nearest, replacement_input
from dptext.run.interface import noun, option
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim

QUOTE = b'"'
_ENDS = (b"", b"\r", b"\n", b"\r\n", b"\r\r\n")
_SEP = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=([^\"\r\n])\"?\r?\n?")  # of Excel
# In the spelling of a shell.
_DELIMITERS = {";": ";", "\t": "tab", "|": "|", ",": ","}
_BARE = "carriage return outside quotes; convert the line endings to line feeds"
_NO_HEADER = "; without header, fields are the numbers of columns, from 1"
_PREAMBLE = 50  # lines that are looked at for a header
_LONGEST_HEADER = 2**16  # bytes of such a line


class FileRow(NamedTuple):
    """One row of a table."""

    #: The number of its first line.
    line: int
    #: With their quotes.
    fields: list[bytes]
    #: The bytes that end it.
    end: bytes
    raw: bytes
    #: The reason for which it cannot be read.
    trouble: str | None = None


class _Rows:
    """The rows of a stream; blank rows and a byte order mark have no fields.

    first: the first line; line: its number.
    """

    def __init__(
        self, source: Input, delimiter: bytes, line: int, first: bytes
    ) -> None:
        self._stream, selection, self._location = source[:3]
        self._limit, self._quoting = selection.max_record_bytes, selection.quotes
        self._escapes = selection.escapes == "backslash"
        self._delimiter, self._line, self._first = delimiter, line, first

    def __iter__(self) -> Iterator[FileRow]:
        """Yield all rows.

        Raises InputError for a quoted field still open at the end of the file, and
        for a row too long to find its end.
        """
        piece, line = self._first, self._line
        while piece:
            if line == 1 and piece.startswith(BOM):
                yield FileRow(1, [], b"", BOM)
                piece = piece[len(BOM) :]
            body = piece.rstrip(b"\r\n")
            if len(body) > self._limit:
                if self._quoting:
                    raise self._too_long(line)
                yield FileRow(
                    line=line,
                    fields=[],
                    end=b"",
                    raw=b"",
                    trouble=too_long(self._limit),
                )
                if not piece.endswith(b"\n"):
                    formats.skip_line(self._stream, self._location)
            elif self._quoting and QUOTE in body:
                row = self._quoted(line, piece)
                yield row
                line += row.raw.count(b"\n", 0, -1)
            else:
                split = _divided if self._escapes else bytes.split
                fields = split(body, self._delimiter) if body else []
                trouble = _BARE if self._quoting and b"\r" in body else None
                yield FileRow(
                    line=line,
                    fields=fields,
                    end=piece[len(body) :],
                    raw=piece,
                    trouble=trouble,
                )
                if not body and (empty := formats.read_empty_lines(self._stream)):
                    yield FileRow(line + 1, [], b"", empty)
                    line += empty.count(b"\n")
            line += 1
            piece = self._more()

    def _more(self) -> bytes:
        return self._stream.readline(self._limit + 2)

    def _quoted(self, line: int, piece: bytes) -> FileRow:
        """Parse a row with quotes, reading further lines if needed."""
        fields, trouble = list[bytes](), None
        row, at, opened = bytearray(piece), 0, line
        while True:
            begin = at
            if row.startswith(QUOTE, begin):
                at, is_exact = self._closed(row, begin, opened)
                if not is_exact:
                    trouble = (
                        "text after the closing quote of the field that begins "
                        f"on line {opened}; {_doubled()}"
                    )
            else:
                end = row.find(self._delimiter, begin)
                at = end if end >= 0 else len(row.rstrip(b"\r\n"))
                if b"\r" in row[begin:at]:
                    trouble = trouble or _BARE
            fields.append(bytes(row[begin:at]))
            opened += row.count(b"\n", begin, at)
            if not row.startswith(self._delimiter, at):
                raw = bytes(row)
                return FileRow(
                    line=line, fields=fields, end=raw[at:], raw=raw, trouble=trouble
                )
            at += len(self._delimiter)

    def _closed(self, row: bytearray, begin: int, opened: int) -> tuple[int, bool]:
        """Return where a quoted field ends, and whether its quotes are all doubled.

        Lines are added to the row until the field ends; opened: its first line.
        """
        at, is_exact = begin + 1, True
        while True:
            quote = row.find(QUOTE, at)
            if quote < 0:
                at = len(row)
                row += self._more()
                if len(row) == at:
                    problem = (
                        "text after the closing quote of a field that begins here; "
                        + _doubled()
                    )
                    if is_exact:
                        problem = (
                            "the quoted field that begins here is never closed; close "
                            f"it, or {_without_quoting()}"
                        )
                    raise InputError(f"{self._location}:{opened}: {problem}")
                if len(row) > self._limit + 2:
                    raise self._too_long(opened)
            elif row.startswith(QUOTE, quote + 1):
                at = quote + 2
            else:
                at = quote + 1
                if row.startswith(self._delimiter, at) or row[at : at + 4] in _ENDS:
                    return at, is_exact
                is_exact = False

    def _too_long(self, line: int) -> InputError:
        limit, _, _ = too_long(self._limit).partition(";")
        return InputError(
            f"{self._location}:{line}: a row {limit}; give a larger limit, close its "
            f"quotes, or {_without_quoting()}"
        )


def _regular_rows(delimiter: bytes, limit: int) -> Regular:
    """Return a finder of rows that are strictly quoted and within the limit."""
    mark = re.escape(delimiter)
    field = rb'(?:"(?:[^"]++|"")*+"|(?!")[^%b\r\n]*+)' % mark
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


def _divided(body: bytes, delimiter: bytes) -> list[bytes]:
    """Split a line at delimiters that no backslash precedes."""
    field = re.compile(rb"(?:\\.|[^\\%b])*" % re.escape(delimiter), re.DOTALL)
    fields, at = [], 0
    while True:
        match = field.match(body, at)
        end = len(body) if match is None else match.end()
        if body[end : end + 1] not in (b"", delimiter):  # a backslash at the end
            end = len(body)
        fields.append(body[at:end])
        if end >= len(body):
            return fields
        at = end + 1


class Header(NamedTuple):
    """The header row of an input."""

    raw: bytes
    delimiter: bytes
    names: tuple[str, ...] = ()
    #: For each name, whether quotes enclose it.
    quoted: tuple[bool, ...] = ()
    #: The row of the output, without columns that are left out.
    written: bytes = b""


class TableBegin(NamedTuple):
    """The lines before the rows of a table, and how to read it."""

    #: The number of the first row.
    line: int
    #: The first line of the first row.
    first: bytes
    delimiter: str
    #: The line by which Excel names the delimiter.
    before: bytes
    #: A byte order mark stood before skipped lines.
    bom: bool
    #: A line for people about a guess.
    note: str


class RowRest(NamedTuple):
    """What is needed to write a row back."""

    fields: list[bytes]
    columns: Columns
    end: bytes


# Characters behind a backslash, as COPY of PostgreSQL writes them, and their meaning.
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPES = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_SPELLED = {each: f"\\{name}" for name, each in _ESCAPED.items()} | {"\\": "\\\\"}
_NULL = b"\\N"
# Found in a text of a tab-separated file if backslashes escape, hardly otherwise.
_LIKE_ESCAPES = re.compile(rb"\\[nrtN\\]")


def _doubled() -> str:
    return f"double the quotes inside quoted fields, or {_without_quoting()}"


def _without_quoting() -> str:
    return f"read quotes as ordinary characters with {option('no-quoting')}"


def decode_field(field: bytes, selection: Selection) -> str:
    """Return the text of a field, "" for a null; its bytes must be valid UTF-8."""
    if selection.escapes == "backslash":
        return "" if field == _NULL else _ESCAPES.sub(_meant, field.decode())
    if selection.quoting and field.startswith(QUOTE):
        field = field[1:-1].replace(b'""', QUOTE)
    return field.decode()


def _meant(match: re.Match[str]) -> str:
    hexadecimal, octal, other = match.groups()
    if other is not None:
        return _ESCAPED.get(other, other)
    point = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
    if point >= 0x80 or not point:
        raise Unreadable("an escape of a byte that is no character by itself")
    return chr(point)


class Format(formats.Format):
    """One record per row; the delimiter is a comma unless selected otherwise."""

    SUFFIXES: ClassVar[tuple[str, ...]] = (".csv",)
    CHANGES_FIELDS: ClassVar = True
    HAS_NAMES: ClassVar = False
    IS_TABLE: ClassVar = True
    DELIMITER: ClassVar = ","

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per row, after the header if there is one."""
        selection, location, ordinal = source.selection, source.location, source.start
        begin = self._begin(source)
        delimiter, before = begin.delimiter, begin.before
        mark = delimiter.encode()
        if begin.bom:
            yield Verbatim(BOM, header=True)
        if before and not selection.header:
            yield Verbatim(Header(before, mark, written=before), header=True)
        columns: Columns | None = None
        for row in _Rows(source, delimiter.encode(), begin.line, begin.first):
            where = f"{location}:{row.line}"
            if not row.fields and row.trouble is None:
                yield Verbatim(row.raw, header=row.raw == BOM)
                continue
            if row.raw.startswith(BOM):  # quotes behind it would mean nothing
                row = row._replace(trouble=formats.BOM_WITHIN)
            if columns is None and selection.header:
                names = _names(row, selection, where)
                advice = partial(self._absent, source, names, row.line)
                columns = Columns.find(names, selection, where, advice)
                quoted = tuple(field.startswith(QUOTE) for field in row.fields)
                raw = before + row.raw
                kept = before + mark.join(columns.kept(row.fields)) + row.end
                header = Header(
                    raw=raw, delimiter=mark, names=names, quoted=quoted, written=kept
                )
                yield Verbatim(header, True, begin.note, columns.copied)
                continue
            try:
                if row.trouble is not None:
                    raise Unreadable(row.trouble)
                if columns is None:
                    numbers = tuple(map(str, range(1, len(row.fields) + 1)))
                    columns = Columns.find(
                        numbers, selection, where, lambda option: _NO_HEADER
                    )
                _check_escapes(row, columns, selection, delimiter)
                yield _record(row, columns, selection, ordinal)
            except Unreadable as error:
                yield error.fault(where, row.raw)
            ordinal += 1

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for rows."""
        delimiter = self._delimiter(selection, b"").encode()
        return Writer(stream, selection, delimiter, replacement)

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return a finder of rows; without a header, the first row must be known."""
        delimiter = self._delimiter(selection, head).encode()
        if not selection.header or len(delimiter) > 1:
            return None
        if not selection.quotes:
            return formats.regular_lines(b"\r\n")
        return _regular_rows(delimiter, selection.max_record_bytes)

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return the header."""
        return next(each.rest.raw for each in before if isinstance(each.rest, Header))

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield a record's copied columns with their names."""
        assert isinstance(record.rest, RowRest)
        fields, columns, _ = record.rest

        def text(index: int) -> str:
            try:
                return decode_field(fields[index], selection)
            except Unreadable:  # a copied value need not be readable
                return fields[index].decode()

        return columns.others(text)

    def _begin(self, source: Input) -> TableBegin:
        """Read up to the first row."""
        stream, selection = source.stream, source.selection
        line, bom = _skipped(source)
        before, first = b"", stream.readline(selection.max_record_bytes + 2)
        delimiter, note = self._delimiter(selection, first), ""
        if _SEP.fullmatch(first):
            before, first = first, stream.readline(selection.max_record_bytes + 2)
            line += 1
        elif delimiter != (selection.delimiter or self.DELIMITER):
            shown = option("delimiter", _DELIMITERS[delimiter])
            note = f"{source.location}: read with {shown}, by its header"
        return TableBegin(
            line=line,
            first=first,
            delimiter=delimiter,
            before=before,
            bom=bom,
            note=note,
        )

    def _absent(
        self, source: Input, names: tuple[str, ...], line: int, named_by: str
    ) -> str:
        """Return advice for a field missing from the header."""
        return (
            f" in the header; name one of its columns with {noun(named_by)}, or "
            f"another delimiter with {option('delimiter')} (a file without header "
            f"needs {option('no-header')})" + self._header_below(source, names, line)
        )

    def _header_below(self, source: Input, names: tuple[str, ...], line: int) -> str:
        """Suggest another delimiter or a later header, where fields are found."""
        stream, selection = source.stream, source.selection
        named = set(filter(None, selection.named))
        if len(names) == 1:
            for delimiter in _DELIMITERS:
                parts = names[0].split(delimiter)
                meant = [nearest(each, parts) for each in sorted(named)]
                if len(parts) > 1 and any(meant):
                    shown = option("delimiter", _DELIMITERS[delimiter])
                    return f"; with {shown}{next(filter(None, meant))}"
        for number in range(_PREAMBLE):
            below = stream.readline(_LONGEST_HEADER).decode("utf-8", "replace")
            for delimiter in (selection.delimiter or "", *_DELIMITERS):
                parts = below.strip().split(delimiter or None)
                if len(parts) > 1 and named <= {part.strip('"') for part in parts}:
                    lines = line + number - source.line + 1
                    return (
                        f"; line {line + number + 1} has it: "
                        f"{option('skip-lines', lines)}"
                    )
        return ""

    def _delimiter(self, selection: Selection, head: bytes) -> str:
        """Return the delimiter: as set, by Excel's "sep=" line, or by the header.

        head, the first line, may be empty.
        """
        if selection.delimiter:
            if len(selection.delimiter) != 1 or selection.delimiter in '"\r\n':
                raise UsageError(
                    "the delimiter must be one character, not a quote or a line end"
                )
            return selection.delimiter
        if named_by := _SEP.match(head):
            return named_by[1].decode("utf-8", "replace")
        header = head.removeprefix(BOM).partition(b"\n")[0].decode("utf-8", "replace")
        named = {*selection.named} - {None}
        for delimiter in (self.DELIMITER, *_DELIMITERS) if selection.header else ():
            names = [part.strip().strip('"') for part in header.split(delimiter)]
            if len(names) > 1 and named <= set(names):
                return delimiter
        return self.DELIMITER


def _skipped(source: Input) -> tuple[int, bool]:
    """Skip the lines before a table; return the next line's number.

    Also returns whether a byte order mark came first, which the output needs.
    """
    line, bom = source.line, False
    for number in range(source.selection.skip_lines):
        head = source.stream.readline(formats.CHUNK)
        bom = bom or (not number and head.startswith(BOM))
        if not head.endswith(b"\n"):
            formats.skip_line(source.stream, source.location)
        line += 1
    return line, bom


def _check_escapes(
    row: FileRow, columns: Columns, selection: Selection, delimiter: str
) -> None:
    """Raise Unreadable if backslashes in private fields look like escapes.

    Read as text, they would become others that mean nothing, or another thing; so
    would a value to be replaced.
    """
    if delimiter != "\t" or selection.escapes is not None:
        return
    changed = (*columns.texts, *columns.replaced)
    fields = [field for index in changed for field in row.fields[index : index + 1]]
    if any(map(_LIKE_ESCAPES.search, fields)):
        raise Unreadable(
            "a private field has backslashes as in files that COPY or mysqldump write",
            f"give {option('escapes', 'backslash')} if they stand for line ends, "
            "tabs and nulls, "
            f"else {option('escapes', 'none')}",
        )


def _names(row: FileRow, selection: Selection, where: str) -> tuple[str, ...]:
    """Return the names in a header. Raises InputError if it is unreadable."""
    try:
        formats.decode(row.raw)
        if row.trouble is not None:
            raise Unreadable(row.trouble)
        return tuple(decode_field(field, selection) for field in row.fields)
    except Unreadable as error:
        advice = f"; {error.advice}" if error.advice else ""
        raise InputError(f"{where}: header: {error}{advice}") from None


def _record(
    row: FileRow, columns: Columns, selection: Selection, ordinal: int
) -> Record:
    """Return a row as a record. Raises Unreadable."""
    fields, first = row.fields, "header" if selection.header else "first row"
    if len(fields) != len(columns.names):
        raise Unreadable(
            f"{len(fields)} fields where the {first} has {len(columns.names)}"
        )
    formats.decode(row.raw)
    for index in columns.replaced:  # the writer takes none that cannot be read
        decode_field(fields[index], selection)
    return columns.record(
        text=lambda index: decode_field(fields[index], selection),
        chosen=selection,
        rest=RowRest(fields, columns, row.end),
        ordinal=ordinal,
        size=len(row.raw),
    )


def _escaped(text: str, delimiter: str) -> bytes:
    """Escape a text with backslashes, so that it has no delimiter or line end."""
    spelled = _SPELLED | (
        {} if delimiter in _SPELLED else {delimiter: f"\\{delimiter}"}
    )
    return "".join(spelled.get(each, each) for each in text).encode()


class Writer(LineWriter):
    """Writes rows, and the header once."""

    def __init__(
        self,
        stream: BinaryIO,
        selection: Selection,
        delimiter: bytes,
        replacement: Replacement,
    ) -> None:
        super().__init__(stream)
        self._selection, self._replacement = selection, replacement
        self._quoting = selection.quotes
        self._escapes = selection.escapes == "backslash"
        self._header: Header | None = None
        self._delimiter = delimiter

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a row with its new texts."""
        assert isinstance(record.rest, RowRest)
        fields, columns = record.rest.fields.copy(), record.rest.columns
        count = len(fields) - len(columns.dropped)
        for index, text in zip(columns.texts, texts, strict=True):
            if not (self._escapes and fields[index] == _NULL):
                fields[index] = self._spell(text.encode(), index, count)
        for index in columns.replaced:
            value = replacement_input(decode_field(fields[index], self._selection), "")
            if value is not None:
                new = self._replacement(value).encode()
                fields[index] = self._spell(new, index, count)
        self.put(self._delimiter.join(columns.kept(fields)) + record.rest.end)

    def _spell(self, text: bytes, index: int, count: int) -> bytes:
        marks = (self._delimiter, b"\r\n", b"\r", b"\n")
        if self._escapes:
            return _escaped(text.decode(), self._delimiter.decode())
        if not self._quoting:
            for mark in marks:
                text = text.replace(mark, b" ")
            return text
        # An empty field alone on its line would read as a blank line.
        alone = count == 1 and not text
        quoted = self._header is not None and self._header.quoted[index : index + 1]
        if alone or (quoted and quoted[0]) or any(m in text for m in (*marks, QUOTE)):
            return QUOTE + text.replace(QUOTE, b'""') + QUOTE
        return text

    def verbatim(self, item: Verbatim) -> None:
        """Write bytes between rows; skip a header equal to the first.

        Raises InputError if a second input has other columns than the first.
        """
        header = item.rest
        if not isinstance(header, Header):
            super().verbatim(item)
        elif self._header is None:
            self._header, self._delimiter = header, header.delimiter
            self.put(header.written)
        elif header.names != self._header.names:
            raise InputError(formats.DIFFERENT)
