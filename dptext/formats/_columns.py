"""The columns of a delimited file, and which of them are selected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from dptext.errors import InputError, UsageError
from dptext.formats import _fields
from dptext.formats._lines import Unreadable, decode
from dptext.formats._rows import QUOTE, Row
from dptext.types import Selection

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
    subject: int | None = None


def names_of(row: Row, selection: Selection, location: str) -> tuple[str, ...]:
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
    return tuple(text_of(field, selection.quoting) for field in row.fields)


def by_name(
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

    return _selected(names, index_of, selection)


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


def by_number(count: int, selection: Selection, where: str) -> Columns:
    """Find the selected columns by number, from 1."""

    def index_of(name: str) -> int:
        if not re.fullmatch(r"[1-9][0-9]{0,8}", name):
            raise UsageError(
                f"field {name!r}: without header, fields are column numbers from 1"
            )
        if int(name) > count:
            raise InputError(f"{where}: no column {name}; the first row has {count}")
        return int(name) - 1

    return _selected(tuple(map(str, range(1, count + 1))), index_of, selection)


def _selected(
    names: tuple[str, ...], index_of: Callable[[str], int], selection: Selection
) -> Columns:
    texts = tuple(sorted({index_of(name) for name in selection.fields}))
    named: list[int | None] = []
    for name, what in (
        (selection.id_field, "id"),
        (selection.subject_field, "subject"),
    ):
        named.append(None if name is None else index_of(name))
        if named[-1] in texts:
            raise UsageError(f"field {name!r} cannot be both a text and the {what}")
    return Columns(names, texts, *named)


def text_of(field: bytes, quoting: bool) -> str:
    """Return what a field says; its bytes are known to be UTF-8."""
    if quoting and field.startswith(QUOTE):
        field = field[1:-1].replace(b'""', QUOTE)
    return field.decode()
