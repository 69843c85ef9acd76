"""Writes a workbook: rows as a stream, then all other parts."""

from __future__ import annotations

import tomllib
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import IO, BinaryIO, cast

from dptext import formats
from dptext.errors import InputError
from dptext.formats import Replacement
from dptext.formats._cells import (
    GENERAL,
    LONGEST,
    VISIBLE,
    Row,
    Sheet,
    SheetCell,
    cell_value,
    cut_to_cell,
    escape_text,
)
from dptext.formats._fields import Columns, replacement_input
from dptext.formats.parquet import OpenStream
from dptext.types import Record, Verbatim

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
    """Return the name of a sheet's part; sheets count from 0."""
    return f"xl/worksheets/sheet{number + 1}.xml"


def _parts(used: Sequence[str], sheets: Sequence[Sheet]) -> dict[str, str]:
    """Return the workbook parts other than sheets, by name."""
    from xml.sax.saxutils import quoteattr  # which loads http and ssl

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
    named = [(each.name, each.state) for each in sheets] or [("Sheet1", VISIBLE)]
    first = next(at for at, (_, state) in enumerate(named) if state == VISIBLE)
    parts = tomllib.loads(_PARTS.read_text(encoding="utf-8"))
    joined = {
        name: "".join(map(str.strip, part.splitlines())) for name, part in parts.items()
    }
    fields = [
        {
            "name": quoteattr(title),
            "state": "" if state == VISIBLE else f' state="{state}"',
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


class _Packed:
    """Rows held in memory, compressed."""

    def __init__(self) -> None:
        self._data, self._pack = bytearray(), zlib.compressobj(1)

    def add(self, data: bytes) -> None:
        """Add bytes."""
        self._data += self._pack.compress(data)

    def unpacked(self) -> Iterator[bytes]:
        """Yield all bytes in chunks."""
        self._data += self._pack.flush()
        unpack = zlib.decompressobj()
        for begin in range(0, len(self._data), _CHUNK):
            yield unpack.decompress(self._data[begin : begin + _CHUNK])
        yield unpack.flush()


class Writer(formats.Writer):
    """Writes a workbook: the first sheet with rows as a stream, others at the end."""

    def __init__(self, stream: BinaryIO, replacement: Replacement) -> None:
        self._replacement = replacement
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
        self._styles = {GENERAL: 0}
        self._cut = self._hidden = 0

    def verbatim(self, item: Verbatim) -> None:
        """Write a copied row, or the header; a second input must have the same header.

        Raises InputError if it differs.
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
            content = cut_to_cell(text)
            self._cut += content != text
            cells[index] = SheetCell(escape_text(content)) if content else None
        self._fill(row, cells)
        self._hidden += row.is_hidden
        self._put(row, row.columns.kept(cells))

    def _copied(
        self, row: Row, cells: list[SheetCell | None]
    ) -> list[SheetCell | None]:
        """Return the cells of a copied row at their column positions."""
        self._fill(row, cells)
        return _without_dropped(cells, row.columns)

    def _fill(self, row: Row, cells: list[SheetCell | None]) -> None:
        """Put replacements into the cells of a row."""
        for index in row.columns.replaced:
            if index < len(cells):
                value = replacement_input(cell_value(cells[index]), "")
                if value is not None:
                    cells[index] = SheetCell(self._replacement(value))

    @property
    def note(self) -> str:
        """Return a note on truncated new texts and hidden rows."""
        notes = []
        if self._cut:
            notes.append(
                f"new texts that were cut to {LONGEST:,} characters, the limit of a "
                f"cell: {self._cut}; CSV has no limit"
            )
        if self._hidden:
            notes.append(
                f"rows hidden in Excel but visible in the copy: {self._hidden}"
            )
        return "; ".join(notes)

    def close(self) -> None:
        """Finish the sheet, and write the other sheets and parts."""
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
                return f'{head} t="e"><v>{escape(value, quote=False)}</v></c>'
            text = escape(value, quote=False).replace("\r", "&#13;")
            return (
                f'{head} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
            )
        if isinstance(value, bool):
            return f'{head} t="b"><v>{value:d}</v></c>'
        return f"{head}><v>{value!r}</v></c>"


def _without_dropped(
    cells: Sequence[SheetCell | None], columns: Columns
) -> list[SheetCell | None]:
    """Return cells at their positions, without dropped columns.

    If all columns are dropped, nothing is copied: the next row would become the header.
    """
    if {*range(len(columns.names))} <= columns.dropped:
        return []
    return [None if at in columns.dropped else cell for at, cell in enumerate(cells)]


def _entry(name: str) -> zipfile.ZipInfo:
    """Return the zip header of a part, identical at all times and on all systems."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    return entry
