"""Excel workbooks: the first sheet, a record per row below the names of its columns.

Values are read and a new workbook is written, so that nothing else of a workbook, which
may repeat private text, comes along: no other sheet, comment, name, formula or cached
table. Numbers, dates, truth values and errors keep value and number format; of a
formula its saved result is read; layout and colours are left out. In a private column
numbers and dates become text. Rows are read one after the other; the strings of the
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
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, cast
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape, quoteattr

from dptext import formats
from dptext.errors import InputError, MissingExtra
from dptext.formats import Input, Item, Token, Unreadable, no_token, too_long
from dptext.formats._fields import Columns, pseudonym_input
from dptext.formats.parquet import IN_MEMORY, OpenStream, seekable
from dptext.types import Fault, Record, Selection, Verbatim

if TYPE_CHECKING:
    from openpyxl import Workbook

_MAGIC = b"PK\x03\x04"
_GENERAL = "General"
_ROWS = 2**20  # that Excel takes in a sheet
_LONGEST = 32_767  # and characters in a cell
_DAYS_1904 = 1462  # from the first day of 1900 to that of 1904, from which some count
# Characters that XML cannot hold; Excel reads _x000B_ instead, openpyxl does not.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


class SheetCell(NamedTuple):
    """A value that is not empty, with its number format.

    Of a date the value is the number that Excel keeps for it, in days from 1900.
    """

    value: str | int | float | bool
    format: str = _GENERAL
    is_error: bool = False


class Row(NamedTuple):
    """The parts of a row that are kept to write it back."""

    cells: tuple[SheetCell | None, ...]
    columns: Columns


class Format(formats.Format):
    """One record per row that is not empty."""

    SUFFIXES: ClassVar = (".xlsx",)
    CHANGES_FIELDS: ClassVar = True
    IS_TEXT: ClassVar = False
    IS_STREAMED: ClassVar = False

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per row; rows in messages have Excel's numbers."""
        stream, selection, location, start, _ = source
        workbook = _opened(stream, location)
        rows = _rows(workbook, location)
        head = next(rows, None)
        if head is None:
            return
        names = tuple(map(_text, head[1]))  # one without a name is ""
        columns = Columns.find(names, selection, location)
        others = len(workbook.sheetnames) - 1
        note = f"{location}: the first sheet is read, others ({others}) are left out"
        yield Verbatim(columns, True, note * bool(others), columns.copied)
        for ordinal, (number, cells) in enumerate(rows, start):
            try:
                yield _record(cells, columns, selection, ordinal)
            except Unreadable as error:
                raw = "\t".join(map(_text, cells)).encode() + b"\n"
                yield Fault(f"{location}: row {number}", str(error), raw)

    def writer(
        self, stream: BinaryIO, selection: Selection, token: Token = no_token
    ) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, token)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Row)
        cells, columns = record.rest
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
        self._cut = 0

    def verbatim(self, item: Verbatim) -> None:
        """Write the names; those of a second input must be the same.

        Raises InputError when they are not.
        """
        columns = item.rest
        assert isinstance(columns, Columns)
        if self._names is None:
            self._names = columns.names
            kept = columns.kept(columns.names)
            self._put([SheetCell(name) if name else None for name in kept])
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
            cells[index] = SheetCell(whole) if whole else None
        for index in row.columns.pseudonyms:
            value = pseudonym_input(_value(cells[index]), "")
            if value is not None:
                cells[index] = SheetCell(self._token(value))
        self._put(row.columns.kept(cells))

    @property
    def note(self) -> str:
        """Say how many new texts were cut."""
        if not self._cut:
            return ""
        return (
            f"new texts that were cut to {_LONGEST:,} characters, the most that a cell "
            f"holds: {self._cut}; CSV holds longer ones"
        )

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
        """Return a cell as XML."""
        value = cell.value
        style = self._styles.setdefault(cell.format, len(self._styles))
        head = f'<c r="{name}" s="{style}"' if style else f'<c r="{name}"'
        if isinstance(value, str):
            if cell.is_error:
                return f'{head} t="e"><v>{escape(value)}</v></c>'
            text = escape(_ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", value))
            return (
                f'{head} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
            )
        if isinstance(value, bool):
            return f'{head} t="b"><v>{value:d}</v></c>'
        return f"{head}><v>{value!r}</v></c>"


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
    return workbook


def _workbook(stream: BinaryIO) -> Workbook:
    """Read a workbook except its rows.

    A table of strings that is named and not there, or there and not named, is no
    damage: other programs read such workbooks, which hold their strings in the cells.
    """
    from openpyxl.packaging.manifest import Override
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import ARC_SHARED_STRINGS, SHARED_STRINGS

    class Reader(ExcelReader):
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


def _rows(
    workbook: Workbook, location: str
) -> Iterator[tuple[int, tuple[SheetCell | None, ...]]]:
    """Give the rows of the first sheet that are not empty, with their numbers.

    openpyxl reads each row, and not the sheet: it leaves out rows and cells that are
    not in order.
    """
    from openpyxl.worksheet import _reader
    from openpyxl.xml.functions import iterparse

    sheet: Any = workbook.worksheets[0]
    last = 0
    with _reported(location), sheet._get_source() as source:
        parser = _reader.WorkSheetParser(source, sheet._shared_strings, data_only=True)
        for _, element in iterparse(source):
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
            for cell, part in zip(parsed, element, strict=True):
                if cell["value"] not in (None, ""):
                    cells += [None] * (cell["column"] - 1 - len(cells))
                    cells.append(_cell(sheet, cell))
                elif cell["data_type"] != "str" and part.findall(_reader.FORMULA_TAG):
                    raise InputError(
                        f"{where}: a formula has no saved result; open the workbook in "
                        "Excel or LibreOffice and save it"
                    )
            element.clear()
            if cells:
                yield number, tuple(cells)


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
    cells: tuple[SheetCell | None, ...],
    columns: Columns,
    selection: Selection,
    ordinal: int,
) -> Record:
    """Return a row as a record. Raises Unreadable."""
    width = len(columns.names)
    if len(cells) > width:
        raise Unreadable(f"{len(cells)} cells where the first row has {width} names")
    cells += (None,) * (width - len(cells))
    row = Row(cells, columns)
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
