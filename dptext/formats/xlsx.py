"""Excel workbooks: the first visible sheet, a record per row below its names.

Values are read and a new workbook is written, so that nothing else of a workbook, which
may repeat private text, comes along: no other sheet, comment, name, formula or cached
table. Numbers, dates, truth values and errors keep value and number format, names of
columns among them; of a formula its saved result is read; layout and colours are left
out. In a private column numbers and dates become text, and an escape of Excel (_x000D_)
the character that it stands for. Rows are read one after the other; the strings of the
workbook, which Excel keeps in one table, are held in memory. Equal rows give equal
bytes. Needs the extra "xlsx".
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
from collections.abc import Iterator, Sequence, Set
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, cast
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape, quoteattr

from dptext import formats
from dptext.errors import InputError, MissingExtra, Urgent
from dptext.formats import Input, Item, Token, Unreadable, no_token, too_long
from dptext.formats._fields import Columns, is_header, is_plain, pseudonym_input
from dptext.formats.parquet import IN_MEMORY, OpenStream, seekable
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

if TYPE_CHECKING:
    from openpyxl import Workbook

_MAGIC = b"PK\x03\x04"
_GENERAL = "General"
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


class Row(NamedTuple):
    """The parts of a row that are kept to write it back."""

    cells: tuple[SheetCell | None, ...]
    columns: Columns
    #: Excel did not show it.
    is_hidden: bool = False


class Format(formats.Format):
    """One record per row that is not empty."""

    SUFFIXES: ClassVar = (".xlsx",)
    CHANGES_FIELDS: ClassVar = True
    IS_TEXT: ClassVar = False
    IS_STREAMED: ClassVar = False

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per row; rows in messages have Excel's numbers."""
        stream, selection, location, start = source[:4]
        workbook = _opened(stream, location)
        sheet = next(each for each in workbook.worksheets if _is_visible(each))
        hidden: set[int] = set()
        rows = _rows(sheet, location, hidden)
        head, notes = next(rows, None), _sheets_notes(workbook, sheet)
        if head is None:
            yield Verbatim(None, note=_noted(location, notes))
            return
        names = tuple(map(_text, head.cells))  # one without a name is ""
        columns = Columns.find(names, selection, location)
        note = _noted(location, [*notes, *_columns_notes(columns, hidden)])
        yield Verbatim(Row(head.cells, columns), True, note, columns.copied)
        for ordinal, row in enumerate(rows, start):
            try:
                yield _record(row, columns, selection, ordinal)
            except Unreadable as error:
                raw = "\t".join(map(_text, row.cells)).encode() + b"\n"
                yield Fault(f"{location}: row {row.number}", str(error), raw)

    def writer(
        self, stream: BinaryIO, selection: Selection, token: Token = no_token
    ) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, token)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Row)
        cells, columns, _ = record.rest
        return columns.others(lambda index: _text(cells[index]))


class Writer(formats.Writer):
    """Writes a workbook of one sheet, as a stream."""

    def __init__(self, stream: BinaryIO, token: Token = no_token) -> None:
        self._token = token
        self._archive = zipfile.ZipFile(
            cast("IO[bytes]", OpenStream(stream)), "w", zipfile.ZIP_DEFLATED
        )
        self._names: tuple[str, ...] | None = None
        self._sheet: IO[bytes] | None = None
        self._row = 0
        self._styles = {_GENERAL: 0}
        self._cut = self._hidden = 0

    def verbatim(self, item: Verbatim) -> None:
        """Write the names; those of a second input must be the same.

        Raises InputError when they are not.
        """
        if item.rest is None:  # of an empty sheet
            return
        assert isinstance(item.rest, Row)
        cells, columns, _ = item.rest
        if self._names is None:
            self._names = columns.names
            self._put(columns.kept(cells))
        elif columns.names != self._names:
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
        for index in row.columns.pseudonyms:
            value = pseudonym_input(_value(cells[index]), "")
            if value is not None:
                cells[index] = SheetCell(self._token(value))
        self._hidden += row.is_hidden
        self._put(row.columns.kept(cells))

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
        """Write the end of the sheet, and the other parts of a workbook."""
        self._put([])
        assert self._sheet is not None
        self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        for name, content in _parts(list(self._styles)).items():
            with self._archive.open(_entry(name), "w") as part:
                part.write((_XML + content).encode())
        self._archive.close()

    def _put(self, cells: Sequence[SheetCell | None]) -> None:
        from openpyxl.utils import get_column_letter

        if self._sheet is None:
            self._sheet = self._archive.open(
                _entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True
            )
            self._sheet.write((_XML + _SHEET).encode())
        if cells:
            self._row += 1
            parts = [
                self._spelled(f"{get_column_letter(index)}{self._row}", cell)
                for index, cell in enumerate(cells, 1)
                if cell is not None
            ]
            row = f'<row r="{self._row}">{"".join(parts)}</row>'
            self._sheet.write(row.encode())

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
            f"{location}: all sheets of cells are hidden; show the one to read"
        )
    return workbook


def _is_visible(sheet: Any) -> bool:
    """Tell whether Excel shows a sheet, which may be hidden or very hidden."""
    return bool(sheet.sheet_state == "visible")


def _noted(location: str, notes: Sequence[str]) -> str:
    """Return notes in one line that a quiet run shows as well, "" without any."""
    return Urgent(f"{location}: {'; '.join(notes)}") if notes else ""


def _sheets_notes(workbook: Workbook, read: Any) -> list[str]:
    """Say which sheet is read, and which ones no output has."""

    def shown(number: int, sheet: Any) -> str:
        name = sheet.title
        hidden = "" if _is_visible(sheet) else " (hidden)"
        return f"{name!r}{hidden}" if is_plain(name) else f"number {number}{hidden}"

    every: list[Any] = [workbook[name] for name in workbook.sheetnames]
    named = {each: shown(number, each) for number, each in enumerate(every, 1)}
    if len(named) == 1:
        return []
    first = named.pop(read)
    return [f"sheet {first} is read, left out: {', '.join(named.values())}"]


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


def _rows(sheet: Any, location: str, hidden: set[int]) -> Iterator[FileRow]:
    """Give the rows of a sheet that are not empty.

    Puts the numbers of hidden columns into `hidden` before the first row. openpyxl
    reads each row, and not the sheet: it leaves out rows and cells that are not in
    order.
    """
    from openpyxl.worksheet import _reader
    from openpyxl.xml.functions import iterparse

    last = 0
    with _reported(location), sheet._get_source() as source:
        parser = _reader.WorkSheetParser(source, sheet._shared_strings, data_only=True)
        for _, element in iterparse(source):
            if element.tag == _reader.COL_TAG and _is_hidden(element):
                ends = int(element.get("min")), int(element.get("max"))
                hidden.update(range(ends[0], min(ends[1], _COLUMNS) + 1))
            if element.tag != _reader.ROW_TAG:
                continue
            number, parsed = parser.parse_row(element)
            where = f"{location}: row {number}"
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
                if cell["value"] not in (None, ""):
                    cells += [None] * (cell["column"] - 1 - len(cells))
                    cells.append(_cell(sheet, cell))
                elif cell["data_type"] != "str" and part.findall(_reader.FORMULA_TAG):
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
    file_row: FileRow, columns: Columns, selection: Selection, ordinal: int
) -> Record:
    """Return a row as a record. Raises Unreadable."""
    cells, width = file_row.cells, len(columns.names)
    if len(cells) > width:
        raise Unreadable(f"{len(cells)} cells where the first row has {width} names")
    cells += (None,) * (width - len(cells))
    row = Row(cells, columns, file_row.is_hidden)
    size = sum(
        len(cell.value) for cell in cells if cell and isinstance(cell.value, str)
    )
    record = columns.record(
        text=lambda index: _text(cells[index]),
        chosen=selection,
        rest=row,
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
_PARTS = Path(__file__).parents[1] / "data" / "workbook.toml"
_FIRST = 164  # number formats below it are built in


def _parts(used: Sequence[str]) -> dict[str, str]:
    """Return the parts of a workbook beside its sheet, by their names."""
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
    parts = tomllib.loads(_PARTS.read_text(encoding="utf-8"))
    joined = {
        name: "".join(map(str.strip, part.splitlines())) for name, part in parts.items()
    }
    filled = joined["xl/styles.xml"].format(
        formats=codes, count=len(used), styles=styles
    )
    return joined | {"xl/styles.xml": filled}
