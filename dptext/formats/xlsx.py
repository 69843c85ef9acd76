"""Excel workbooks: a record per row below the names of each sheet with a private field.

Values are read and a new workbook is written, so that nothing else of a workbook, which
may repeat private text, comes along: no comment, formula or cached table. All sheets of
cells keep name, order and state (hidden or not). Those with a private field, or those
that the selection names, are read; others are copied cell by cell, except texts that
formulas computed, which may be private texts. With several sheets a column is called
SHEET!COLUMN; a private, left out or keyed column may be named without the sheet.
Numbers, dates, truth values and errors keep value and number format, names of columns
among them; of a formula its saved result is read; layout and colours are left out. In a
private column numbers and dates become text, and an escape of Excel (_x000D_) the
character that it stands for. Rows are read one after the other; the strings of the
workbook, which Excel keeps in one table, are held in memory, as are all written sheets
but one, compressed. Equal rows give equal bytes. Needs the extra "xlsx".
"""

from __future__ import annotations

import contextlib
import datetime
import lzma
import math
import re
import tomllib
import warnings
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence, Set
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, cast
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape, quoteattr

from dptext import formats
from dptext.errors import InputError, MissingExtra, Urgent
from dptext.formats import Input, Item, Token, Unreadable, no_token, too_long
from dptext.formats._fields import Columns, is_header, pseudonym_input
from dptext.formats._sheets import Head, SheetUse, find_uses, notes
from dptext.formats.parquet import IN_MEMORY, OpenStream, seekable
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

if TYPE_CHECKING:
    from openpyxl import Workbook

_MAGIC = b"PK\x03\x04"
_GENERAL = "General"
_VISIBLE = "visible"
_ROWS, _COLUMNS = 2**20, 2**14  # that Excel takes in a sheet
_LONGEST = 32_767  # and characters in a cell
_DAYS_1904 = 1462  # from the first day of 1900 to that of 1904, from which some count
# An escape of Excel, for a character that XML cannot hold, or a carriage return.
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Text to escape in this way: such characters, and what would read as an escape.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


class SheetCell(NamedTuple):
    """A value that is not empty, with its number format.

    Of a date the value is the number that Excel keeps for it, in days from 1900; of a
    text it has the escapes of Excel.
    """

    value: str | int | float | bool
    format: str = _GENERAL
    is_error: bool = False
    is_computed: bool = False

    @property
    def may_repeat(self) -> bool:
        """Tell whether it is a text of a formula, which may be that of another cell."""
        return self.is_computed and isinstance(self.value, str) and not self.is_error


class Row(NamedTuple):
    """The parts of a row that are kept to write it back."""

    cells: tuple[SheetCell | None, ...]
    columns: Columns
    #: Excel did not show it.
    is_hidden: bool = False
    #: Position of its sheet, from 0.
    sheet: int = 0
    #: Its number in Excel, where it is copied to the same place; 0: to the next row.
    number: int = 0


class Sheet(NamedTuple):
    """A sheet with its first row, which names columns."""

    name: str
    #: As Excel has it: visible, hidden or veryHidden.
    state: str
    #: Its file and name, as messages begin.
    place: str
    #: Without cells for an empty sheet.
    head: Row
    use: SheetUse


class Format(formats.Format):
    """One record per row that is not empty, of the sheets with a private field."""

    SUFFIXES: ClassVar = (".xlsx",)
    CHANGES_FIELDS: ClassVar = True
    HAS_SHEETS: ClassVar = True
    IS_TEXT: ClassVar = False
    IS_STREAMED: ClassVar = False

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per row; rows in messages have Excel's numbers."""
        stream, selection, location, ordinal = source[:4]
        workbook = _opened(stream, location)
        sheets, noted = _sheets(workbook, selection, location)
        if not source.is_alone and len(sheets) > 1:
            raise InputError(
                f"{location}: a workbook of several sheets and another input cannot be "
                "one output; write each input to its own output"
            )
        yield Verbatim(
            sheets,
            header=True,
            note=_noted(location, noted),
            copied=tuple(name for each in sheets for name in each.use.columns.copied),
            sheets=(
                {each.name: each.use.is_read for each in sheets}
                if len(sheets) > 1
                else None
            ),
        )
        for sheet, opened in zip(sheets, workbook.worksheets, strict=True):
            needs_results = bool(sheet.use.selection.fields) or len(sheets) == 1
            rows = _rows(opened, sheet.place, set(), is_copied=not needs_results)
            for row in islice(rows, 1, None):
                head = sheet.head._replace(cells=row.cells, is_hidden=row.is_hidden)
                if not sheet.use.is_read:
                    yield Verbatim(_without_computed(head)._replace(number=row.number))
                    continue
                try:
                    yield _record(row, head, sheet.use, selection, ordinal)
                except Unreadable as error:
                    raw = "\t".join(map(_text, row.cells)).encode() + b"\n"
                    yield Fault(f"{sheet.place} row {row.number}", str(error), raw)
                ordinal += 1

    def writer(
        self, stream: BinaryIO, selection: Selection, token: Token = no_token
    ) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, token)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Row)
        return _copied_cells(record.rest)

    def between(self, item: Verbatim) -> Iterator[tuple[str, str]]:
        """Give the cells of a row of a copied sheet, with the names of columns."""
        return _copied_cells(item.rest) if isinstance(item.rest, Row) else iter(())


def _copied_cells(row: Row) -> Iterator[tuple[str, str]]:
    """Give the copied cells of a row; those beyond the names by letters, as in Info!D.

    A row of a private sheet has none beyond the names.
    """
    from openpyxl.utils import get_column_letter

    cells, columns = row.cells, row.columns
    width = len(columns.names)
    padded = (*cells, *[None] * (width - len(cells)))
    yield from columns.others(lambda index: _text(padded[index]))
    sheet = next(iter(columns.names), "").partition("!")[0]
    for index, cell in enumerate(cells[width:], width):
        if index not in columns.dropped:
            yield f"{sheet}!{get_column_letter(index + 1)}", _text(cell)


class _Packed:
    """Rows that wait in memory, compressed."""

    def __init__(self) -> None:
        self._data, self._pack = bytearray(), zlib.compressobj(1)

    def add(self, data: bytes) -> None:
        """Hold more bytes."""
        self._data += self._pack.compress(data)

    def unpacked(self) -> Iterator[bytes]:
        """Give all bytes, part by part."""
        self._data += self._pack.flush()
        unpack = zlib.decompressobj()
        for begin in range(0, len(self._data), _CHUNK):
            yield unpack.decompress(self._data[begin : begin + _CHUNK])
        yield unpack.flush()


class Writer(formats.Writer):
    """Writes a workbook: the first sheet with rows as a stream, others at the end."""

    def __init__(self, stream: BinaryIO, token: Token = no_token) -> None:
        self._token = token
        self._archive = zipfile.ZipFile(
            cast("IO[bytes]", OpenStream(stream)), "w", zipfile.ZIP_DEFLATED
        )
        self._sheets: list[Sheet] = []
        self._streamed: IO[bytes] | None = None
        self._first = 0  # the sheet that is streamed
        #: Rows of other sheets.
        self._held = defaultdict[int, _Packed](_Packed)
        #: The number of the last row of each sheet.
        self._rows: dict[int, int] = {}
        self._styles = {_GENERAL: 0}
        self._cut = self._hidden = 0

    def verbatim(self, item: Verbatim) -> None:
        """Write a copied row, or the names; those of a second input must be the same.

        Raises InputError when they are not.
        """
        if isinstance(item.rest, Row):
            self._hidden += item.rest.is_hidden
            self._put(item.rest, self._copied(item.rest, [*item.rest.cells]))
            return
        sheets = cast("list[Sheet]", item.rest)
        heads = [each.head for each in sheets if each.head.cells]
        if not self._rows:  # the inputs before were empty
            self._sheets = sheets
            for head in heads:
                kept = head.columns.kept(head.cells)
                if head.number:
                    kept = _without_dropped(head.cells, head.columns)
                self._put(head, kept)
        elif heads and heads[0].columns.names != self._sheets[0].use.columns.names:
            raise InputError(formats.DIFFERENT)

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a row with its new texts."""
        row = record.rest
        assert isinstance(row, Row)
        cells = list(row.cells)
        for index, text in zip(row.columns.texts, texts, strict=True):
            whole = _fitting(text)
            self._cut += whole != text
            cells[index] = SheetCell(_escaped(whole)) if whole else None
        self._name(row, cells)
        self._hidden += row.is_hidden
        self._put(row, row.columns.kept(cells))

    def _copied(
        self, row: Row, cells: list[SheetCell | None]
    ) -> list[SheetCell | None]:
        """Return the cells of a copied row, all in their places."""
        self._name(row, cells)
        return _without_dropped(cells, row.columns)

    def _name(self, row: Row, cells: list[SheetCell | None]) -> None:
        """Put pseudonyms into the cells of a row."""
        for index in row.columns.pseudonyms:
            if index < len(cells):
                value = pseudonym_input(_value(cells[index]), "")
                if value is not None:
                    cells[index] = SheetCell(self._token(value))

    @property
    def note(self) -> str:
        """Say how many new texts were cut, and rows were hidden."""
        notes = []
        if self._cut:
            notes.append(
                f"new texts that were cut to {_LONGEST:,} characters, the most that a "
                f"cell holds: {self._cut}; CSV holds longer ones"
            )
        if self._hidden:
            notes.append(f"rows hidden in Excel that the copy shows: {self._hidden}")
        return "; ".join(notes)

    def close(self) -> None:
        """Write the end of the sheet, the other sheets and parts of a workbook."""
        if self._streamed is None:
            self._open(0)
        assert self._streamed is not None
        self._streamed.write(_END)
        self._streamed.close()
        for number in range(len(self._sheets)):
            if number != self._first:
                with self._archive.open(_entry(_sheet_part(number)), "w") as part:
                    part.write((_XML + _SHEET).encode())
                    part.writelines(self._held[number].unpacked())
                    part.write(_END)
        for name, content in _parts(list(self._styles), self._sheets).items():
            with self._archive.open(_entry(name), "w") as part:
                part.write((_XML + content).encode())
        self._archive.close()

    def _open(self, number: int) -> None:
        self._first = number
        self._streamed = self._archive.open(
            _entry(_sheet_part(number)), "w", force_zip64=True
        )
        self._streamed.write((_XML + _SHEET).encode())

    def _put(self, row: Row, cells: Sequence[SheetCell | None]) -> None:
        from openpyxl.utils import get_column_letter

        if self._streamed is None:
            self._open(row.sheet)
        if not cells:
            return
        number = row.number or self._rows.get(row.sheet, 0) + 1
        self._rows[row.sheet] = number
        parts = [
            self._spelled(f"{get_column_letter(index)}{number}", cell)
            for index, cell in enumerate(cells, 1)
            if cell is not None
        ]
        data = f'<row r="{number}">{"".join(parts)}</row>'.encode()
        if row.sheet == self._first:
            assert self._streamed is not None
            self._streamed.write(data)
        else:
            self._held[row.sheet].add(data)

    def _spelled(self, name: str, cell: SheetCell) -> str:
        value = cell.value
        style = self._styles.setdefault(cell.format, len(self._styles))
        head = f'<c r="{name}" s="{style}"' if style else f'<c r="{name}"'
        if isinstance(value, str):
            if cell.is_error:
                return f'{head} t="e"><v>{escape(value)}</v></c>'
            text = escape(value, {"\r": "&#13;"})
            return (
                f'{head} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
            )
        if isinstance(value, bool):
            return f'{head} t="b"><v>{value:d}</v></c>'
        return f"{head}><v>{value!r}</v></c>"


def _without_dropped(
    cells: Sequence[SheetCell | None], columns: Columns
) -> list[SheetCell | None]:
    """Return cells in their places, without those of columns that are left out.

    Where all names are left out, nothing is copied: the next row would stand as names.
    """
    if {*range(len(columns.names))} <= columns.dropped:
        return []
    return [None if at in columns.dropped else cell for at, cell in enumerate(cells)]


def _escaped(text: str) -> str:
    """Return a text with the escapes of Excel, for characters that need one."""
    return _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _unescaped(text: str) -> str:
    """Return a text with the characters for which escapes of Excel stand.

    Half of a surrogate pair is not a character, and stays an escape.
    """

    def meant(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return match[0] if "\ud800" <= character <= "\udfff" else character

    return _ESCAPE.sub(meant, text)


def _joined(element: Any) -> str:
    """Return the text of runs; an escape lies within one of them."""
    from openpyxl.cell.text import Text

    text: Any = Text.from_tree(element)
    runs = [run or "" for run in (text.t, *(each.t for each in text.r))]
    whole: str = "".join(runs)
    meant = "".join(map(_unescaped, runs))
    return whole if _unescaped(whole) == meant else _escaped(meant)


def _fitting(text: str) -> str:
    """Return as much of a text as a cell holds, which Excel counts in UTF-16."""
    if 2 * len(text) <= _LONGEST:
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * _LONGEST]
    return units.decode("utf-16-le", "ignore")


def _entry(name: str) -> zipfile.ZipInfo:
    """Return the head of a part, which is the same at all times and on all systems."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    return entry


def _opened(stream: BinaryIO, location: str) -> Workbook:
    """Open a workbook for its values. Raises InputError and MissingExtra."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise MissingExtra.for_package("a workbook (.xlsx)", "xlsx") from None
    # Its warnings are about parts that are left out, and may quote a cell; it prints
    # style numbers that are out of range.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    stream = seekable(stream, location, _MAGIC)
    with _reported(location), contextlib.redirect_stdout(StringIO()):
        for part in zipfile.ZipFile(stream).infolist():
            is_table = part.filename.lower().endswith("sharedstrings.xml")
            if is_table and part.file_size > IN_MEMORY:
                raise InputError(
                    f"{location}: over {IN_MEMORY >> 30} GiB of strings; save the "
                    "sheet as CSV"
                )
        workbook = _workbook(stream)
    if not workbook.worksheets:
        raise InputError(
            f"{location}: no sheet of cells that can be read; save it as an Excel "
            "workbook (.xlsx), not as a strict one"
        )
    if not any(map(_is_visible, workbook.worksheets)):
        raise InputError(
            f"{location}: all sheets of cells are hidden; show one of them in Excel"
        )
    return workbook


def _is_visible(sheet: Any) -> bool:
    """Tell whether Excel shows a sheet, which may be hidden or very hidden."""
    return bool(sheet.sheet_state == _VISIBLE)


def _noted(location: str, notes: Sequence[str]) -> str:
    """Return notes in one line that a quiet run shows as well, "" without any."""
    return Urgent(f"{location}: {'; '.join(notes)}") if notes else ""


def _sheets(
    workbook: Workbook, selection: Selection, location: str
) -> tuple[list[Sheet], list[str]]:
    """Return the sheets of cells, and notes on them. Raises UnknownFieldError."""
    heads, left_out, firsts = list[Head](), list[Head](), list[_First]()
    for number, name in enumerate(workbook.sheetnames, 1):
        opened: Any = workbook[name]
        head = Head(name, (), number, _is_visible(opened))
        if opened not in workbook.worksheets:  # a chart
            left_out.append(head)
            continue
        first = _First.read(opened, f"{location}: sheet {head.shown},")
        firsts.append(first)
        computed = {
            at for at, cell in enumerate(first.cells) if cell and cell.may_repeat
        }
        columns = tuple(map(_text, first.cells))
        heads.append(head._replace(columns=columns, computed=frozenset(computed)))
    uses = find_uses(heads, selection, location)
    sheets = [
        Sheet(
            name=head.name,
            state=first.state,
            place=f"{location}: sheet {head.shown},"
            if len(heads) > 1
            else f"{location}:",
            head=first.row(use, at),
            use=use,
        )
        for at, (head, first, use) in enumerate(zip(heads, firsts, uses, strict=True))
    ]
    noted = [*notes(heads, uses, selection, left_out)]
    for first, use in zip(firsts, uses, strict=True):
        noted += _columns_notes(use.columns, first.hidden)
    return sheets, noted


class _First(NamedTuple):
    """The first row of a sheet that is not empty."""

    state: str
    cells: tuple[SheetCell | None, ...]
    number: int
    #: Numbers of the columns that Excel hides.
    hidden: set[int]

    @classmethod
    def read(cls, sheet: Any, where: str) -> _First:
        """Read it; without cells for an empty sheet."""
        hidden: set[int] = set()
        rows = _rows(sheet, where, hidden)
        row = next(rows, FileRow(0, (), False))
        rows.close()
        return cls(sheet.sheet_state, row.cells, row.number, hidden)

    def row(self, use: SheetUse, sheet: int) -> Row:
        """Return the row as it is written, of the sheet at this position."""
        if use.is_read:
            return Row(self.cells, use.columns, sheet=sheet)
        row = Row(self.cells, use.columns, sheet=sheet, number=self.number)
        return _without_computed(row)


def _without_computed(row: Row) -> Row:
    """Return a row of a copied sheet without the texts of formulas."""
    kept = tuple(None if cell and cell.may_repeat else cell for cell in row.cells)
    return row._replace(cells=kept)


def _columns_notes(columns: Columns, hidden: Set[int]) -> list[str]:
    """Say which copied columns are hidden in Excel, by their numbers from 1."""
    names = [columns.names[each - 1] for each in hidden if each <= len(columns.names)]
    copied = [name for name in names if name in columns.copied]
    if not copied:
        return []
    shown = ", ".join(map(repr, copied)) if is_header(copied) else f"{len(copied)}"
    return [
        f"columns hidden in Excel that the copy shows: {shown} ({option('drop')} "
        "leaves one out)"
    ]


def _workbook(stream: BinaryIO) -> Workbook:
    """Read a workbook except its rows.

    A table of strings that is named and not there, or there and not named, is no
    damage: other programs read such workbooks, which hold their strings in the cells.
    openpyxl takes a part of some escapes out of that table, so it is read here.
    """
    from openpyxl.packaging.manifest import Override
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import (
        ARC_SHARED_STRINGS,
        SHARED_STRINGS,
        SHEET_MAIN_NS,
    )
    from openpyxl.xml.functions import iterparse

    class Reader(ExcelReader):
        def read_strings(self) -> None:
            package: Any = self.package
            table = package.find(SHARED_STRINGS)
            if table is None:
                return
            with self.archive.open(table.PartName[1:]) as source:
                for _, element in iterparse(source):
                    if element.tag == f"{{{SHEET_MAIN_NS}}}si":
                        self.shared_strings.append(_joined(element))
                        element.clear()

        def read_manifest(self) -> None:
            super().read_manifest()
            package: Any = self.package
            package.Override = [
                each
                for each in package.Override
                if each.ContentType != SHARED_STRINGS
                or each.PartName.lstrip("/") in self.valid_files
            ]
            is_there = ARC_SHARED_STRINGS in self.valid_files
            if is_there and package.find(SHARED_STRINGS) is None:
                name = f"/{ARC_SHARED_STRINGS}"
                package.Override.append(Override(name, SHARED_STRINGS))

    reader = Reader(stream, read_only=True, data_only=True, keep_links=False)
    reader.read()
    workbook: Workbook = reader.wb
    return workbook


# The errors of openpyxl and of the libraries below it for a damaged workbook.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ParseError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    OSError,
    RuntimeError,
)


@contextlib.contextmanager
def _reported(location: str) -> Iterator[None]:
    """Say in one line that a workbook cannot be read, without its content."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGED:
        raise InputError(
            f"{location}: not a workbook (.xlsx), damaged, or with a password; save it "
            "again in Excel or LibreOffice"
        ) from None


class FileRow(NamedTuple):
    """A row of a sheet that is not empty."""

    #: Its number in Excel.
    number: int
    cells: tuple[SheetCell | None, ...]
    is_hidden: bool


def _rows(
    sheet: Any, place: str, hidden: set[int], *, is_copied: bool = True
) -> Generator[FileRow, None, None]:
    """Give the rows of a sheet that are not empty.

    Puts the numbers of hidden columns into `hidden` before the first row. openpyxl
    reads each row, and not the sheet: it leaves out rows and cells that are not in
    order. is_copied: a formula needs no saved result.
    """
    from openpyxl.worksheet import _reader
    from openpyxl.xml.functions import iterparse

    last = 0
    with _reported(place.rstrip(":,")), sheet._get_source() as source:
        parser = _reader.WorkSheetParser(source, sheet._shared_strings, data_only=True)
        for _, element in iterparse(source):
            if element.tag == _reader.COL_TAG and _is_hidden(element):
                ends = int(element.get("min")), int(element.get("max"))
                hidden.update(range(ends[0], min(ends[1], _COLUMNS) + 1))
            if element.tag != _reader.ROW_TAG:
                continue
            number, parsed = parser.parse_row(element)
            where = f"{place} row {number}"
            columns = [cell["column"] for cell in parsed]
            if number <= last or columns != sorted(set(columns)):
                raise InputError(
                    f"{where} is out of order, or its cells are; save the workbook "
                    "again in Excel or LibreOffice"
                )
            if number > _ROWS:
                raise InputError(
                    f"{where}: damaged, or over {_ROWS:,} rows; save the sheet as CSV"
                )
            last = number
            cells: list[SheetCell | None] = []
            for cell, part in zip(
                map(_with_runs, parsed, element), element, strict=True
            ):
                is_computed = bool(part.findall(_reader.FORMULA_TAG))
                if cell["value"] not in (None, ""):
                    cells += [None] * (cell["column"] - 1 - len(cells))
                    read = _cell(sheet, cell)
                    cells.append(read._replace(is_computed=is_computed))
                elif is_computed and cell["data_type"] != "str" and not is_copied:
                    raise InputError(
                        f"{where}: a formula has no saved result; open the workbook in "
                        "Excel or LibreOffice and save it"
                    )
            is_hidden = _is_hidden(element)
            element.clear()
            if cells:
                yield FileRow(number, tuple(cells), is_hidden)


def _with_runs(parsed: dict[str, Any], element: Any) -> dict[str, Any]:
    """Return a parsed cell, with the text of its runs if it has some."""
    from openpyxl.worksheet._reader import INLINE_STRING

    string = element.find(INLINE_STRING)
    is_whole = string is None or len(string) < 2
    return parsed if is_whole else parsed | {"value": _joined(string)}


def _is_hidden(element: Any) -> bool:
    """Tell whether Excel does not show a row or some columns."""
    return element.get("hidden") in ("1", "true")


def _cell(sheet: Any, parsed: dict[str, Any]) -> SheetCell:
    """Return the kept parts of a cell that is not empty. Raises ValueError."""
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.styles import numbers
    from openpyxl.utils import datetime as dates

    value, kind = parsed["value"], parsed["data_type"]
    code = ReadOnlyCell(sheet, **parsed).number_format
    if kind == "d":
        value = dates.to_excel(value)  # type: ignore[no-untyped-call]
    elif kind == "n" and not abs(value) < math.inf:
        raise ValueError
    elif kind == "n" and sheet.parent.epoch == dates.MAC_EPOCH and value >= 1:
        is_day = numbers.is_date_format(code) and not numbers.is_timedelta_format(code)
        value += _DAYS_1904 * is_day
    return SheetCell(value, code, kind == "e")


def _record(
    file_row: FileRow, rest: Row, use: SheetUse, selection: Selection, ordinal: int
) -> Record:
    """Return a row as a record; rest is that of its sheet. Raises Unreadable."""
    cells, width = file_row.cells, len(use.columns.names)
    if len(cells) > width and selection.fields:
        raise Unreadable(f"{len(cells)} cells where the first row has {width} names")
    cells += (None,) * (width - len(cells))
    size = sum(
        len(cell.value) for cell in cells if cell and isinstance(cell.value, str)
    )
    changed = {"dropped": selection.dropped, "pseudonyms": selection.pseudonyms}
    record = use.columns.record(
        text=lambda index: _text(cells[index]),
        # Fields to leave out may be those of other sheets.
        chosen=replace(use.selection, **changed),
        rest=rest._replace(cells=cells),
        ordinal=ordinal,
        size=size,
    )
    if len("".join(record.texts).encode()) > selection.max_record_bytes:
        raise Unreadable(too_long(selection.max_record_bytes))
    return record


def _value(cell: SheetCell | None) -> str | int | float | None:
    """Return the value of a cell as a pseudonym stands for it: of a date the text."""
    from openpyxl.styles import numbers

    if cell is None:
        return None
    is_date = numbers.is_date_format(cell.format)
    return _text(cell) if isinstance(cell.value, str) or is_date else cell.value


def _text(cell: SheetCell | None) -> str:
    """Return the text of a cell: numbers as Python writes them, dates by ISO 8601."""
    from openpyxl.styles import numbers
    from openpyxl.utils.datetime import from_excel

    if cell is None:
        return ""
    value: Any = cell.value
    if isinstance(value, str):
        return _unescaped(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float) and numbers.is_date_format(cell.format):
        is_length = numbers.is_timedelta_format(cell.format)
        with contextlib.suppress(OverflowError, ValueError):  # no date has the number
            value = from_excel(value, timedelta=is_length)
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return str(value.date() if is_day else value)


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<sheetData>"
)
_END = b"</sheetData></worksheet>"
_PARTS = Path(__file__).parents[1] / "data" / "workbook.toml"
_FIRST = 164  # number formats below it are built in
_CHUNK = 2**16  # bytes of rows in memory that are unpacked at once


def _sheet_part(number: int) -> str:
    """Return the name of the part of a sheet, which is counted from 0."""
    return f"xl/worksheets/sheet{number + 1}.xml"


def _parts(used: Sequence[str], sheets: Sequence[Sheet]) -> dict[str, str]:
    """Return the parts of a workbook beside its sheets, by their names."""
    codes = styles = ""
    for number, code in enumerate(used):
        format_id = _FIRST + number if number else 0
        styles += (
            f'<xf numFmtId="{format_id}" fontId="0" fillId="0" borderId="0" xfId="0" '
            'applyNumberFormat="1"/>'
        )
        if format_id:
            codes += f'<numFmt numFmtId="{format_id}" formatCode={quoteattr(code)}/>'
    if codes:
        codes = f'<numFmts count="{len(used) - 1}">{codes}</numFmts>'
    named = [(each.name, each.state) for each in sheets] or [("Sheet1", _VISIBLE)]
    first = next(at for at, (_, state) in enumerate(named) if state == _VISIBLE)
    parts = tomllib.loads(_PARTS.read_text(encoding="utf-8"))
    joined = {
        name: "".join(map(str.strip, part.splitlines())) for name, part in parts.items()
    }
    fields = [
        {
            "name": quoteattr(title),
            "state": "" if state == _VISIBLE else f' state="{state}"',
            "number": number,
            "part": _sheet_part(number - 1),
        }
        for number, (title, state) in enumerate(named, 1)
    ]
    of_sheets = {}
    for name in ("sheet", "relationship", "override"):
        line = joined.pop(name)
        of_sheets[name] = "".join(line.format(**each) for each in fields)
    view = (
        f'<bookViews><workbookView activeTab="{first}"/></bookViews>' if first else ""
    )
    return {
        name: part.format(
            formats=codes, count=len(used), styles=styles, view=view, **of_sheets
        )
        for name, part in joined.items()
    }
