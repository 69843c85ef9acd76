"""Cells of a workbook: values, number formats, and Excel's escapes."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from dptext.formats._fields import Columns
from dptext.formats._sheets import SheetUse

GENERAL = "General"
VISIBLE = "visible"
LONGEST = 32_767  # characters in a cell
# An escape of Excel, for a character that XML cannot hold, or a carriage return.
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Text to escape in this way: such characters, and what would read as an escape.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


class SheetCell(NamedTuple):
    """A non-empty value with its number format.

    For a date the value is Excel's number for it, in days from 1900; for a
    text it has Excel's escapes.
    """

    value: str | int | float | bool
    format: str = GENERAL
    is_error: bool = False
    is_computed: bool = False

    @property
    def may_repeat(self) -> bool:
        """Return whether the text comes from a formula, which may copy another cell."""
        return self.is_computed and isinstance(self.value, str) and not self.is_error


class Row(NamedTuple):
    """What is needed to write a row back."""

    cells: tuple[SheetCell | None, ...]
    columns: Columns
    #: Excel did not show it.
    is_hidden: bool = False
    #: Position of its sheet, from 0.
    sheet: int = 0
    #: Its number in Excel, where it is copied to the same place; 0: to the next row.
    number: int = 0


class Sheet(NamedTuple):
    """A sheet and its first row, which names the columns."""

    name: str
    #: As Excel has it: visible, hidden or veryHidden.
    state: str
    #: Its file and name, as messages begin.
    prefix: str
    #: Without cells for an empty sheet.
    head: Row
    use: SheetUse


def copied_cells(row: Row) -> Iterator[tuple[str, str]]:
    """Yield copied cells of a row; unnamed columns by letter, as in Info!D.

    Private sheets have no unnamed columns.
    """
    from openpyxl.utils import get_column_letter

    cells, columns = row.cells, row.columns
    width = len(columns.names)
    padded = (*cells, *[None] * (width - len(cells)))
    yield from columns.others(lambda index: cell_text(padded[index]))
    sheet = next(iter(columns.names), "").partition("!")[0]
    for index, cell in enumerate(cells[width:], width):
        if index not in columns.dropped:
            yield f"{sheet}!{get_column_letter(index + 1)}", cell_text(cell)


def escape_text(text: str) -> str:
    """Return a text with Excel's escapes for characters that need one."""
    return _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def unescape(text: str) -> str:
    """Replace Excel's escapes in a text by their characters.

    Half of a surrogate pair is not a character, so its escape stays.
    """

    def meant(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return match[0] if "\ud800" <= character <= "\udfff" else character

    return _ESCAPE.sub(meant, text)


def cut_to_cell(text: str) -> str:
    """Truncate a text to what a cell holds, which Excel counts in UTF-16 units."""
    if 2 * len(text) <= LONGEST:
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * LONGEST]
    return units.decode("utf-16-le", "ignore")


def cell_value(cell: SheetCell | None) -> str | int | float | None:
    """Return the value of a cell to be replaced: of a date the text."""
    from openpyxl.styles import numbers

    if cell is None:
        return None
    is_date = numbers.is_date_format(cell.format)
    return cell_text(cell) if isinstance(cell.value, str) or is_date else cell.value


def cell_text(cell: SheetCell | None) -> str:
    """Return a cell's text: numbers as in Python, dates as in ISO 8601."""
    from openpyxl.styles import numbers
    from openpyxl.utils.datetime import from_excel

    if cell is None:
        return ""
    value: Any = cell.value
    if isinstance(value, str):
        return unescape(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float) and numbers.is_date_format(cell.format):
        is_length = numbers.is_timedelta_format(cell.format)
        with contextlib.suppress(OverflowError, ValueError):  # no date has the number
            value = from_excel(value, timedelta=is_length)
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return str(value.date() if is_day else value)
