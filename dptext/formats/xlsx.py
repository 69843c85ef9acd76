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

import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar, NamedTuple, cast
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import escape, quoteattr

from dptext import formats
from dptext.errors import InputError, MissingExtra, UsageError
from dptext.formats import Item, _fields
from dptext.formats._lines import Unreadable, too_long
from dptext.formats.parquet import IN_MEMORY, OpenStream, seekable
from dptext.types import Fault, Record, Selection, Verbatim

if TYPE_CHECKING:
    from openpyxl import Workbook

_MAGIC = b"PK\x03\x04"
_GENERAL = "General"
_LONGEST = 32_767  # characters that Excel takes in one cell
# A cell with a formula and without its result; of a string it may be empty.
_NO_RESULT = re.compile(
    rb'<c(?=[ >])(?![^>]*\bt="str")[^>]*>\s*<f(?:[^>]*/>|[^>]*>[^<]*</f>)\s*'
    rb"(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_CHUNK, _OVERLAP = 2**20, 2**16  # bytes searched at once, and again for what is cut
# What XML cannot hold; Excel reads _x000B_ in its place, openpyxl leaves that as it is.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")

_Value = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta


class Cell(NamedTuple):
    """A value that is not empty, with its number format and whether it is an error."""

    value: _Value
    format: str = _GENERAL
    is_error: bool = False


class Columns(NamedTuple):
    """Names of all columns, and which of them are texts, id and subject."""

    names: tuple[str, ...]
    texts: tuple[int, ...]
    identity: int | None
    subject: int | None


class Row(NamedTuple):
    """What is kept of a row to write it back."""

    cells: tuple[Cell | None, ...]
    columns: Columns


class Format(formats.Format):
    """One record per row that is not empty."""

    SUFFIXES: ClassVar = (".xlsx",)
    IS_TEXT: ClassVar = False

    def read(
        self,
        stream: BinaryIO,
        selection: Selection,
        location: str,
        start: int = 0,
        line: int = 1,
    ) -> Iterator[Item]:
        """Read one record per row; rows in messages have Excel's numbers."""
        with _opened(stream, location) as workbook:
            rows = _rows(workbook, location)
            head = next(rows, None)
            if head is None:
                return
            columns = _columns(_names(head[1], location), selection, location)
            others = len(workbook.sheetnames) - 1
            note = (
                f"{location}: the first sheet is read, others ({others}) are left out"
            )
            yield Verbatim(columns.names, header=True, note=note * bool(others))
            for ordinal, (number, cells) in enumerate(rows, start):
                where = f"{location}: row {number}"
                try:
                    yield _record(cells, columns, selection, ordinal)
                except Unreadable as error:
                    yield Fault(where, str(error), _raw(cells))

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, selection)

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the names of the columns that are not selected."""
        with _opened(stream, "file") as workbook:
            head = next(_rows(workbook, "file"), None)
            if head is not None:
                columns = _columns(_names(head[1], "file"), selection, "file")
                names = columns.names
                yield from (name for name in names if name not in selection.fields)

    def candidates(self, stream: BinaryIO, selection: Selection) -> list[str]:
        """Return the names of the columns."""
        if not stream.seekable():
            return []
        with _opened(stream, "file") as workbook:
            head = next(_rows(workbook, "file"), None)
            return [] if head is None else list(_names(head[1], "file"))

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the columns of a record that are copied, with their names."""
        assert isinstance(record.rest, Row)
        cells, columns = record.rest
        selected = {*columns.texts, columns.identity, columns.subject}
        for index, (name, cell) in enumerate(zip(columns.names, cells, strict=True)):
            if index not in selected:
                yield name, _text(cell)


class Writer(formats.Writer):
    """Writes a workbook of one sheet, as a stream."""

    def __init__(self, stream: BinaryIO, selection: Selection) -> None:
        self._archive = zipfile.ZipFile(
            cast("IO[bytes]", OpenStream(stream)), "w", zipfile.ZIP_DEFLATED
        )
        self._private = selection.fields
        self._names: tuple[str, ...] | None = None
        self._sheet: IO[bytes] | None = None
        self._row = 0
        self._styles = {_GENERAL: 0}

    @property
    def copied(self) -> tuple[str, ...] | None:
        """Return the names of the columns that are copied."""
        if self._names is None:
            return None
        return tuple(name for name in self._names if name not in self._private)

    def verbatim(self, item: Verbatim) -> None:
        """Write the names; those of a second input must be the same.

        Raises InputError when they are not.
        """
        names = cast(tuple[str, ...], item.rest)
        if self._names is None:
            self._names = names
            self._put([Cell(name) for name in names])
        elif names != self._names:
            raise InputError(
                "the columns of the inputs differ, so one output cannot hold them; "
                "write each input to its own output"
            )

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a row with its new texts."""
        row = record.rest
        assert isinstance(row, Row)
        cells = list(row.cells)
        for index, text in zip(row.columns.texts, texts, strict=True):
            cells[index] = Cell(text) if text else None
        self._put(cells)

    def close(self) -> None:
        """Write the end of the sheet, and what a workbook needs beside it."""
        self._put([])
        assert self._sheet is not None
        self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        for name, content in _parts(list(self._styles)).items():
            with self._archive.open(_entry(name), "w") as part:
                part.write((_XML + content).encode())
        self._archive.close()

    def _put(self, cells: Sequence[Cell | None]) -> None:
        from openpyxl.utils import get_column_letter

        if self._sheet is None:
            self._sheet = self._archive.open(
                _entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True
            )
            self._sheet.write(f"{_XML}<worksheet {_MAIN}><sheetData>".encode())
        if cells:
            self._row += 1
            parts = [
                self._spelled(f"{get_column_letter(index)}{self._row}", cell)
                for index, cell in enumerate(cells, 1)
                if cell is not None
            ]
            row = f'<row r="{self._row}">{"".join(parts)}</row>'
            self._sheet.write(row.encode())

    def _spelled(self, name: str, cell: Cell) -> str:
        """Return a cell as XML."""
        value = cell.value
        style = self._styles.setdefault(cell.format, len(self._styles))
        head = f'<c r="{name}"' + f' s="{style}"' * bool(style)
        if isinstance(value, str):
            if cell.is_error:
                return f'{head} t="e"><v>{escape(value)}</v></c>'
            if len(value) > _LONGEST:
                raise InputError(
                    f"row {self._row}: a text of over {_LONGEST:,} characters does not "
                    "fit into a cell; save the sheet as CSV"
                )
            text = escape(_ESCAPED.sub(_as_escape, value))
            return (
                f'{head} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
            )
        if isinstance(value, bool):
            return f'{head} t="b"><v>{value:d}</v></c>'
        return f"{head}><v>{_serial(value)!r}</v></c>"


def _as_escape(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):04X}_"


def _serial(value: _Value) -> int | float:
    """Return a number, or the number that Excel keeps for a date or time."""
    from openpyxl.utils import datetime as dates

    if isinstance(value, int | float):
        return value
    return cast(float, dates.to_excel(value))  # type: ignore[no-untyped-call]


def _entry(name: str) -> zipfile.ZipInfo:
    """Return the head of a part, which is the same at all times and on all systems."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    return entry


@contextmanager
def _opened(stream: BinaryIO, location: str) -> Iterator[Workbook]:
    """Open a workbook for its values. Raises InputError and MissingExtra."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra.of("a workbook (.xlsx)", "xlsx") from None
    # Its warnings are about parts that are left out, and may quote a cell.
    warnings.filterwarnings("ignore", module=r"openpyxl\b")
    stream = seekable(stream, location, _MAGIC)
    with _reported(location):
        _check(stream, location)
        workbook = openpyxl.load_workbook(
            stream, read_only=True, data_only=True, keep_links=False
        )
    if not workbook.worksheets:
        raise InputError(f"{location}: the workbook has no sheet of cells")
    try:
        yield workbook
    finally:
        workbook.close()


@contextmanager
def _reported(location: str) -> Iterator[None]:
    """Say in one line that a workbook cannot be read, without its content."""
    try:
        yield
    except InputError:
        raise
    except (
        *(zipfile.BadZipFile, zlib.error, ParseError, EOFError, OSError),
        *(KeyError, ValueError, TypeError, AttributeError, IndexError),
    ):
        raise InputError(
            f"{location}: not a workbook (.xlsx), damaged, or with a password; save it "
            "again in Excel or LibreOffice"
        ) from None


def _check(stream: BinaryIO, location: str) -> None:
    """Refuse a table of strings beyond memory, and formulas without results."""
    with zipfile.ZipFile(stream) as archive:
        for entry in archive.infolist():
            name = entry.filename.lower()
            if name.endswith("sharedstrings.xml") and entry.file_size > IN_MEMORY:
                raise InputError(
                    f"{location}: over {IN_MEMORY >> 30} GiB of strings; save the "
                    "sheet as CSV"
                )
            if "worksheets/" in name and name.endswith(".xml"):
                _check_results(archive, entry, location)


def _check_results(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, location: str
) -> None:
    with archive.open(entry) as part:
        data = b""
        while chunk := part.read(_CHUNK):
            data = data[-_OVERLAP:] + chunk
            if _NO_RESULT.search(data):
                raise InputError(
                    f"{location}: a formula has no saved result; open the workbook in "
                    "Excel or LibreOffice and save it"
                )


def _rows(
    workbook: Workbook, location: str
) -> Iterator[tuple[int, tuple[Cell | None, ...]]]:
    """Give the rows of the first sheet that are not empty, with their numbers."""
    sheet = workbook.worksheets[0]
    with _reported(location):
        sheet.reset_dimensions()  # those of some programs are wrong
        for number, row in enumerate(sheet.iter_rows(), 1):
            cells = [
                None
                if cell.value is None or cell.value == ""
                else Cell(
                    cast(_Value, cell.value), cell.number_format, cell.data_type == "e"
                )
                for cell in row
            ]
            while cells and cells[-1] is None:
                cells.pop()
            if cells:
                yield number, tuple(cells)


def _names(head: tuple[Cell | None, ...], location: str) -> tuple[str, ...]:
    """Return the names of columns. Raises InputError where one has none."""
    for number, cell in enumerate(head, 1):
        if cell is None:
            raise InputError(
                f"{location}: column {number} has no name in the first row; name it"
            )
    return tuple(map(_text, head))


def _columns(names: tuple[str, ...], selection: Selection, location: str) -> Columns:
    """Find the selected columns. Raises InputError for one that is absent or twice."""

    def index_of(name: str | None) -> int | None:
        if name is None:
            return None
        if names.count(name) > 1:
            raise InputError(
                f"{location}: column {name!r} occurs more than once; rename one of them"
            )
        if name not in names:
            raise InputError(
                f"{location}: no column {name!r}; {_fields.advice(name, names)}"
            )
        return names.index(name)

    for name in (selection.id_field, selection.subject_field):
        if name is not None and name in selection.fields:
            raise UsageError(f"field {name!r} cannot be both a text and a name")
    texts = {cast(int, index_of(name)) for name in selection.fields}
    identity = index_of(selection.id_field)
    subject = index_of(selection.subject_field)
    return Columns(names, tuple(sorted(texts)), identity, subject)


def _record(
    cells: tuple[Cell | None, ...],
    columns: Columns,
    selection: Selection,
    ordinal: int,
) -> Record:
    """Return a row as a record. Raises Unreadable."""
    width = len(columns.names)
    if len(cells) > width:
        raise Unreadable(f"{len(cells)} cells where the first row has {width} names")
    cells += (None,) * (width - len(cells))
    texts = tuple(_text(cells[index]) for index in columns.texts)
    if sum(len(text.encode()) for text in texts) > selection.max_record_bytes:
        raise Unreadable(too_long(selection.max_record_bytes))
    identity = subject = None
    if columns.identity is not None:
        identity = _text(cells[columns.identity])
    if columns.subject is not None:
        name = selection.subject_field or ""
        subject = _fields.of_text(_text(cells[columns.subject]), name)
    rest = Row(cells, columns)
    return Record(ordinal, texts, rest, identity, selection.fields, subject)


def _text(cell: Cell | None) -> str:
    """Return the text of a cell: numbers as Python writes them, dates by ISO 8601."""
    if cell is None:
        return ""
    value = cell.value
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).upper()
    return str(value)


def _raw(cells: Sequence[Cell | None]) -> bytes:
    """Return a row as a line for the file of faults."""
    return "\t".join(map(_text, cells)).encode() + b"\n"


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_SCHEMAS = "http://schemas.openxmlformats.org"
_MAIN = f'xmlns="{_SCHEMAS}/spreadsheetml/2006/main"'
_RELATIONS = f'xmlns="{_SCHEMAS}/package/2006/relationships"'
_OFFICE = f"{_SCHEMAS}/officeDocument/2006/relationships"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FIRST = 164  # number formats below it are built in


def _parts(used: Sequence[str]) -> dict[str, str]:
    """Return the parts of a workbook beside its sheet, by their names."""
    codes = "".join(
        f'<numFmt numFmtId="{_FIRST + number}" formatCode={quoteattr(code)}/>'
        for number, code in enumerate(used)
        if number
    )
    styles = "".join(
        f'<xf numFmtId="{_FIRST + number if number else 0}" fontId="0" fillId="0" '
        'borderId="0" xfId="0" applyNumberFormat="1"/>'
        for number in range(len(used))
    )
    if codes:
        codes = f'<numFmts count="{len(used) - 1}">{codes}</numFmts>'
    return {
        "xl/styles.xml": (
            f"<styleSheet {_MAIN}>{codes}"
            '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
            '<fills count="2"><fill><patternFill patternType="none"/></fill><fill>'
            '<patternFill patternType="gray125"/></fill></fills><borders count="1">'
            '<border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
            f'<cellXfs count="{len(used)}">{styles}</cellXfs><cellStyles count="1">'
            '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
            "</styleSheet>"
        ),
        "xl/workbook.xml": (
            f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f"<Relationships {_RELATIONS}>"
            f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
            'Target="worksheets/sheet1.xml"/>'
            f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/>'
            "</Relationships>"
        ),
        "_rels/.rels": (
            f'<Relationships {_RELATIONS}><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>"
        ),
        "[Content_Types].xml": (
            f'<Types xmlns="{_SCHEMAS}/package/2006/content-types"><Default '
            'Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            'relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main'
            '+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
            f'ContentType="{_KIND}.worksheet+xml"/><Override '
            f'PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/></Types>'
        ),
    }
