"""Rows of a Parquet file or a table on their way from reading to writing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dptext.errors import InputError
from dptext.formats import _arrow, _paths
from dptext.formats._lines import Unreadable, too_long
from dptext.types import Selection

ROWS = 1024  # rows that are read, or rebuilt, at once


@dataclass(frozen=True, slots=True)
class Head:
    """What all rows of a file share; schema is that of the output."""

    schema: _arrow.Schema
    columns: tuple[_arrow.Column, ...]
    codec: str
    int96: bool


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some rows in a row, and their selected values: one list per column."""

    head: Head
    batch: _arrow.Batch
    values: list[list[_arrow.Value]]
    identities: Sequence[object] | None
    subjects: Sequence[object] | None = None


class Rest(NamedTuple):
    """Where a record came from."""

    page: Page
    row: int


def leaves(schema: _arrow.Schema, fields: tuple[str, ...]) -> Iterator[str]:
    """Give the paths of all leaves that are none of these fields."""
    texts = {_paths.joined(_paths.parse(path)) for path in fields}
    return (path for path in _arrow.leaf_paths(schema) if path not in texts)


def page_of(
    head: Head,
    batch: _arrow.Batch,
    identity: _arrow.Column | None,
    location: str,
    subject: _arrow.Column | None = None,
) -> Page:
    """Take the selected values of some rows. Raises InputError for broken UTF-8."""

    def of(column: _arrow.Column) -> list[_arrow.Value]:
        return _arrow.values(batch.column(column.index), column.steps)

    try:
        identities = None if identity is None else of(identity)
        subjects = None if subject is None else of(subject)
        return Page(head, batch, [of(c) for c in head.columns], identities, subjects)
    except UnicodeDecodeError:
        raise InputError(
            f"{location}: not valid UTF-8; write the file again with strings as UTF-8"
        ) from None


def row_of(
    page: Page, row: int, selection: Selection
) -> tuple[tuple[str, ...], str | None]:
    """Return the texts and the identity of a row. Raises Unreadable for a null."""
    texts: list[str] = []
    for column, values in zip(page.head.columns, page.values, strict=True):
        value = values[row]
        for text in (value,) if isinstance(value, str) else _arrow.texts(value):
            if text is not None:
                texts.append(text)
            elif selection.missing != "pass":
                raise Unreadable(f"field {column.path!r} is null")
    if sum(map(len, texts)) > selection.max_record_bytes:
        raise Unreadable(too_long(selection.max_record_bytes))
    if page.identities is None:
        return tuple(texts), None
    name = page.identities[row]
    if name is None or isinstance(name, (dict, list)):
        how = "is null" if name is None else "is nested; it must be one value"
        raise Unreadable(f"id field {selection.id_field!r} {how}")
    return tuple(texts), json.dumps(name, ensure_ascii=False, default=str)


def rebuilt(
    head: Head, batch: _arrow.Batch, new: Sequence[list[_arrow.Value]]
) -> _arrow.Batch:
    """Return rows with the new values of each selected column."""
    import pyarrow as pa

    arrays = list(batch.columns)
    for column, values in zip(head.columns, new, strict=True):
        kind, array = head.schema.field(column.index).type, arrays[column.index]
        arrays[column.index] = _arrow.rebuilt(array, kind, column.steps, values)
    return pa.RecordBatch.from_arrays(arrays, schema=head.schema)
