"""Sheets of a workbook: which are read, and which columns a selection names.

With several sheets a column is called SHEET!COLUMN. A private field without its sheet
stands for the column of this name in every sheet, or in the sheets that are named; a
field to leave out or to replace for the column of this name in every sheet. So no
sheet with a private field is copied unless others were named, and then a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from dptext.errors import UnknownFieldError
from dptext.formats._fields import (
    Columns,
    is_header,
    is_plain,
    listed,
    nearest,
)
from dptext.run.interface import option
from dptext.run.selection import Selection

# Of a column in Excel.
_LETTERS = re.compile("[A-Z]{1,3}")


class Head(NamedTuple):
    """The names of a sheet and its columns."""

    name: str
    columns: tuple[str, ...]
    #: Its number among all sheets, from 1.
    number: int
    is_visible: bool = True
    #: The columns with a name that a formula computed, from 0.
    computed: frozenset[int] = frozenset()

    @property
    def shown(self) -> str:
        """Return the name for messages, or a number if the name may be text."""
        hidden = "" if self.is_visible else " (hidden)"
        name = repr(self.name) if is_plain(self.name) else f"number {self.number}"
        return f"{name}{hidden}"

    @property
    def described(self) -> str:
        """Return the name, with the columns if they are clearly not text."""
        if len(self.columns) < 2 or not is_header(self.columns):
            return self.shown
        return f"{self.shown}{listed(self.columns, 'columns').replace(';', ',', 1)}"

    def column(self, name: str) -> str | None:
        """Return a column name without the sheet prefix, None for other sheets."""
        column = name.removeprefix(f"{self.name}!")
        if column in self.columns or (column != name and _LETTERS.fullmatch(column)):
            return column
        return name if name in self.columns else None

    def indexes(self, name: str) -> Iterator[int]:
        """Yield the indexes of columns with this name; Info!D names column D."""
        column = self.column(name)
        if column in self.columns:
            yield from (at for at, each in enumerate(self.columns) if each == column)
        elif column is not None:
            number = 0
            for letter in column:
                number = 26 * number + ord(letter) - ord("A") + 1
            yield number - 1


class SheetUse(NamedTuple):
    """How a sheet is read."""

    #: The selected names that it has, as they were given.
    selection: Selection
    columns: Columns
    #: Whether its rows are records; else they are copied.
    is_read: bool


def find_uses(
    heads: Sequence[Head], selection: Selection, location: str
) -> list[SheetUse]:
    """Decide how each sheet is read.

    Raises UnknownFieldError for a missing sheet or field.
    """
    known = {head.name: head for head in heads}
    for name in selection.sheets:
        if name not in known:
            raise UnknownFieldError(
                f"{location}: no sheet {name!r}{nearest(name, known, 'sheet')}; "
                f"sheets: {_listed(heads)}"
            )
    if not any(head.columns for head in heads):  # all are empty
        nothing = Columns((), (), None, None)
        return [SheetUse(selection, nothing, is_read=True) for _ in heads]
    if len(heads) == 1:
        columns = Columns.find(
            heads[0].columns, _renamed(selection, heads[0], ""), location
        )
        return [SheetUse(selection, columns, is_read=True)]
    narrowed = [_narrowed(selection, head) for head in heads]
    for path in (*selection.fields, *selection.changed):
        if not any(path in (*each.fields, *each.changed) for each in narrowed):
            kind = selection.option_name(path)
            names = [name for head in heads for name in head.columns]
            raise UnknownFieldError(
                f"{location}: no column {path!r} in "
                f"{'these' if selection.sheets and kind == 'field' else 'its'} sheets"
                f"{nearest(path, names, kind)}; sheets: {_listed(heads)}"
            )
    for name in selection.sheets:
        if selection.fields and not narrowed[list(known).index(name)].fields:
            raise UnknownFieldError(
                f"{location}: no private column in sheet {known[name].described}"
            )
    return [
        _use(each, head, location, is_read=bool(each.fields) or not selection.fields)
        for each, head in zip(narrowed, heads, strict=True)
    ]


def _use(selection: Selection, head: Head, location: str, *, is_read: bool) -> SheetUse:
    """Return how one of several sheets is read."""
    where, prefix = f"{location}: sheet {head.shown}", f"{head.name}!"
    if not is_read:
        selection = replace(selection, id_field=None, subject_field=None)
    names = tuple(f"{prefix}{name}" for name in head.columns)
    if not is_read:  # no table, perhaps: a name may stand there twice
        names = tuple(
            prefix if at in head.computed else name for at, name in enumerate(names)
        )
        dropped, replaced = (
            {index for name in changed for index in head.indexes(name)}
            for changed in (selection.dropped, selection.replaced)
        )
        columns = Columns(
            names=names,
            texts=(),
            identity=None,
            subject=None,
            dropped=frozenset(dropped),
            replaced=tuple(sorted(replaced)),
        )
        return SheetUse(selection, columns, is_read)
    for path in filter(None, (selection.id_field, selection.subject_field)):
        if head.column(path) is None:
            raise UnknownFieldError(
                f"{where}: no column {path!r}"
                f"{nearest(path, head.columns, selection.option_name(path))}"
            )
    columns = Columns.find(names, _renamed(selection, head, prefix), where)
    return SheetUse(selection, columns, is_read)


def _narrowed(selection: Selection, head: Head) -> Selection:
    """Return the selection restricted to this sheet's fields."""
    is_chosen = not selection.sheets or head.name in selection.sheets

    def here(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if head.column(name) is not None)

    prefix = f"{head.name}!"
    fields = [
        name for name in here(selection.fields) if is_chosen or name.startswith(prefix)
    ]
    return replace(
        selection,
        fields=tuple(fields),
        dropped=here(selection.dropped),
        replaced=here(selection.replaced),
    )


def _renamed(selection: Selection, head: Head, prefix: str) -> Selection:
    """Return the selection with the column names used in a sheet."""

    def renamed(name: str) -> str:
        column = head.column(name)
        return name if column is None else f"{prefix}{column}"

    def one(name: str | None) -> str | None:
        return None if name is None else renamed(name)

    return replace(
        selection,
        fields=tuple(map(renamed, selection.fields)),
        dropped=tuple(map(renamed, selection.dropped)),
        replaced=tuple(map(renamed, selection.replaced)),
        id_field=one(selection.id_field),
        subject_field=one(selection.subject_field),
    )


def _listed(heads: Sequence[Head]) -> str:
    return "; ".join(head.described for head in heads)


def notes(
    heads: Sequence[Head],
    uses: Sequence[SheetUse],
    selection: Selection,
    left_out: Sequence[Head] = (),
) -> Iterator[str]:
    """Yield notes on sheets that are read, copied, or dropped because empty."""
    pairs = list(zip(heads, uses, strict=True))
    groups = {
        "the texts are private in sheet": [head for head, use in pairs if use.is_read],
        "copied as it is:": [head for head, use in pairs if not use.is_read],
        "left out because it has no cells:": left_out,
    }
    if len(heads) + len(left_out) > 1 and selection.fields:
        yield "; ".join(
            f"{name} {', '.join(each.shown for each in every)}"
            for name, every in groups.items()
            if every
        )
    for head, use in pairs:
        same = [name for name in selection.fields if head.column(name) is not None]
        if not use.is_read and same:
            yield (
                f"sheet {head.shown} has {', '.join(map(repr, same))}, too, but is "
                f"copied unchanged: {option('sheet', 'NAME')} makes it private, "
                f"{option('drop', 'SHEET!COLUMN')} leaves the column out"
            )
