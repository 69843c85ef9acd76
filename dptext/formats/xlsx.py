"""Excel workbooks: a record per row of each sheet with a private field.

Values are read and a new workbook is written, so that nothing else of a workbook, which
may repeat private text, comes along: no comment, formula or cached table. All sheets of
cells keep name, order and state (hidden or not). Those with a private field, or those
that the selection names, are read; others are copied cell by cell, except texts that
formulas computed, which may be private texts. With several sheets a column is called
SHEET!COLUMN; a private, dropped or replaced column may be named without the sheet.
Numbers, dates, truth values and errors keep value and number format, names of columns
among them; for a formula its saved result is read; layout and colours are dropped. In a
private column numbers and dates become text, and an Excel escape (_x000D_) the
character that it encodes. Rows are read one by one; the strings of the
workbook, which Excel keeps in one table, are held in memory, as are all written sheets
but one, compressed. Equal rows give equal bytes. Needs the extra "xlsx".
"""

from __future__ import annotations

import contextlib
import lzma
import math
import warnings
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence, Set
from dataclasses import replace
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple
from xml.etree.ElementTree import ParseError

from dptext import formats
from dptext.errors import InputError, MissingExtra, Urgent
from dptext.formats import (
    Input,
    Item,
    Replacement,
    Unreadable,
    no_replacement,
    too_long,
)
from dptext.formats._cells import (
    VISIBLE,
    Row,
    Sheet,
    SheetCell,
    cell_text,
    copied_cells,
    escape_text,
    unescape,
)
from dptext.formats._fields import Columns, is_header
from dptext.formats._sheets import Head, SheetUse, find_uses, notes
from dptext.formats._workbook import Writer
from dptext.formats.parquet import IN_MEMORY, seekable
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim

if TYPE_CHECKING:
    from openpyxl import Workbook

_MAGIC = b"PK\x03\x04"
_ROWS, _COLUMNS = 2**20, 2**14  # that Excel takes in a sheet
_DAYS_1904 = 1462  # from the first day of 1900 to that of 1904, from which some count


class Format(formats.Format):
    """One record per non-empty row of the sheets with a private field."""

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
                f"{location}: a workbook with several sheets cannot be merged with "
                "other inputs; write each input to its own output"
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
            rows = _rows(opened, sheet.prefix, set(), is_copied=not needs_results)
            for row in islice(rows, 1, None):
                head = sheet.head._replace(cells=row.cells, is_hidden=row.is_hidden)
                if not sheet.use.is_read:
                    yield Verbatim(_without_computed(head)._replace(number=row.number))
                    continue
                try:
                    yield _record(
                        file_row=row,
                        rest=head,
                        use=sheet.use,
                        selection=selection,
                        ordinal=ordinal,
                    )
                except Unreadable as error:
                    raw = "\t".join(map(cell_text, row.cells)).encode() + b"\n"
                    yield error.fault(f"{sheet.prefix} row {row.number}", raw)
                ordinal += 1

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for rows."""
        return Writer(stream, replacement)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield a record's copied columns with their names."""
        assert isinstance(record.rest, Row)
        return copied_cells(record.rest)

    def between(self, item: Verbatim) -> Iterator[tuple[str, str]]:
        """Yield the cells of a copied sheet's row with their column names."""
        return copied_cells(item.rest) if isinstance(item.rest, Row) else iter(())


def _joined(element: Any) -> str:
    """Join text runs; each escape lies within one run."""
    from openpyxl.cell.text import Text

    text: Any = Text.from_tree(element)
    runs = [run or "" for run in (text.t, *(each.t for each in text.r))]
    whole: str = "".join(runs)
    meant = "".join(map(unescape, runs))
    return whole if unescape(whole) == meant else escape_text(meant)


def _opened(stream: BinaryIO, location: str) -> Workbook:
    """Open a workbook to read values. Raises InputError and MissingExtra."""
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
            f"{location}: no readable worksheet; save it as an Excel workbook (.xlsx), "
            "not in strict format"
        )
    if not any(map(_is_visible, workbook.worksheets)):
        raise InputError(f"{location}: all worksheets are hidden; unhide one in Excel")
    return workbook


def _is_visible(sheet: Any) -> bool:
    """Return whether Excel shows a sheet (it is not hidden or very hidden)."""
    return bool(sheet.sheet_state == VISIBLE)


def _noted(location: str, notes: Sequence[str]) -> str:
    """Join notes to a line that quiet runs show too, "" if there are none."""
    return Urgent(f"{location}: {'; '.join(notes)}") if notes else ""


def _sheets(
    workbook: Workbook, selection: Selection, location: str
) -> tuple[list[Sheet], list[str]]:
    """Return the worksheets and notes on them. Raises UnknownFieldError."""
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
        columns = tuple(map(cell_text, first.cells))
        heads.append(head._replace(columns=columns, computed=frozenset(computed)))
    uses = find_uses(heads, selection, location)
    sheets = [
        Sheet(
            name=head.name,
            state=first.state,
            prefix=f"{location}: sheet {head.shown},"
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
    """The first non-empty row of a sheet."""

    state: str
    cells: tuple[SheetCell | None, ...]
    number: int
    #: Numbers of the columns that Excel hides.
    hidden: set[int]

    @classmethod
    def read(cls, sheet: Any, where: str) -> _First:
        """Read a sheet's first row; an empty sheet has no cells."""
        hidden: set[int] = set()
        rows = _rows(sheet, where, hidden)
        row = next(rows, SheetRow(0, (), False))
        rows.close()
        return cls(sheet.sheet_state, row.cells, row.number, hidden)

    def row(self, use: SheetUse, sheet: int) -> Row:
        """Return the row as written to the sheet with this number."""
        if use.is_read:
            return Row(self.cells, use.columns, sheet=sheet)
        row = Row(self.cells, use.columns, sheet=sheet, number=self.number)
        return _without_computed(row)


def _without_computed(row: Row) -> Row:
    """Return a copied sheet's row without texts computed by formulas."""
    kept = tuple(None if cell and cell.may_repeat else cell for cell in row.cells)
    return row._replace(cells=kept)


def _columns_notes(columns: Columns, hidden: Set[int]) -> list[str]:
    """Return notes on copied columns hidden in Excel, given by numbers from 1."""
    names = [columns.names[each - 1] for each in hidden if each <= len(columns.names)]
    copied = [name for name in names if name in columns.copied]
    if not copied:
        return []
    shown = ", ".join(map(repr, copied)) if is_header(copied) else f"{len(copied)}"
    return [
        f"columns hidden in Excel but visible in the copy: {shown} ({option('drop')} "
        "drops one)"
    ]


def _workbook(stream: BinaryIO) -> Workbook:
    """Read a workbook without its rows.

    A shared-string table that is referenced but missing, or present but not referenced,
    is no damage: other programs read such workbooks, whose strings are in the cells.
    openpyxl corrupts some escapes in that table, so it is read here.
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
    return reader.wb


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
    """Turn errors in reading a workbook into one line without its content."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGED:
        raise InputError(
            f"{location}: not a workbook (.xlsx), damaged, or with a password; save it "
            "again in Excel or LibreOffice"
        ) from None


class SheetRow(NamedTuple):
    """A non-empty row of a sheet."""

    #: Its number in Excel.
    number: int
    cells: tuple[SheetCell | None, ...]
    is_hidden: bool


def _rows(
    sheet: Any, prefix: str, hidden: set[int], *, is_copied: bool = True
) -> Generator[SheetRow, None, None]:
    """Yield the non-empty rows of a sheet.

    Puts the numbers of hidden columns into `hidden` before the first row. openpyxl
    parses each row but not the sheet, as it drops rows and cells out of
    order. is_copied: formulas need no saved result.
    """
    from openpyxl.worksheet import _reader
    from openpyxl.xml.functions import iterparse

    last = 0
    with _reported(prefix.rstrip(":,")), sheet._get_source() as source:
        parser = _reader.WorkSheetParser(source, sheet._shared_strings, data_only=True)
        for _, element in iterparse(source):
            if element.tag == _reader.COL_TAG and _is_hidden(element):
                ends = int(element.get("min")), int(element.get("max"))
                hidden.update(range(ends[0], min(ends[1], _COLUMNS) + 1))
            if element.tag != _reader.ROW_TAG:
                continue
            number, parsed = parser.parse_row(element)
            where = f"{prefix} row {number}"
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
                    cells.append(_cell(sheet, cell)._replace(is_computed=is_computed))
                elif is_computed and cell["data_type"] != "str" and not is_copied:
                    raise InputError(
                        f"{where}: a formula has no saved result; open the workbook in "
                        "Excel or LibreOffice and save it"
                    )
            is_hidden = _is_hidden(element)
            element.clear()
            if cells:
                yield SheetRow(number, tuple(cells), is_hidden)


def _with_runs(parsed: dict[str, Any], element: Any) -> dict[str, Any]:
    """Return a parsed cell, with the text of its runs if it has any."""
    from openpyxl.worksheet._reader import INLINE_STRING

    string = element.find(INLINE_STRING)
    is_whole = string is None or len(string) < 2
    return parsed if is_whole else parsed | {"value": _joined(string)}


def _is_hidden(element: Any) -> bool:
    """Return whether Excel hides a row or column."""
    return element.get("hidden") in ("1", "true")


def _cell(sheet: Any, parsed: dict[str, Any]) -> SheetCell:
    """Return the parts of a non-empty cell to keep. Raises ValueError."""
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
    file_row: SheetRow, rest: Row, use: SheetUse, selection: Selection, ordinal: int
) -> Record:
    """Return a row as a record; rest is its sheet's. Raises Unreadable."""
    cells, width = file_row.cells, len(use.columns.names)
    if len(cells) > width and selection.fields:
        raise Unreadable(f"{len(cells)} cells where the first row has {width} names")
    cells += (None,) * (width - len(cells))
    size = sum(
        len(cell.value) for cell in cells if cell and isinstance(cell.value, str)
    )
    record = use.columns.record(
        text=lambda index: cell_text(cells[index]),
        # Fields to leave out may be those of other sheets.
        chosen=replace(
            use.selection,
            dropped=selection.dropped,
            replaced=selection.replaced,
        ),
        rest=rest._replace(cells=cells),
        ordinal=ordinal,
        size=size,
    )
    if len("".join(record.texts).encode()) > selection.max_record_bytes:
        raise Unreadable(too_long(selection.max_record_bytes))
    return record
