"""Rows of Parquet files or tables from reading to writing, and their metadata.

Rows of a Parquet file or a table on their way from reading to writing.

What a Parquet file says of its columns, and how much of it may be copied.

Metadata may be a function of the private texts: pandas writes how many distinct ones
a column of categories has, others write statistics. So only what follows is copied:
names, types and nullability of columns, field ids, the metadata of other columns, and
what pandas says of other columns and of the row index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dptext.errors import InputError
from dptext.formats import _arrow, _fields
from dptext.formats._lines import Unreadable, too_long
from dptext.types import JsonObject, Selection

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
    texts = {_fields.joined(_fields.parse(path)) for path in fields}
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


_FIELD_ID = b"PARQUET:field_id"
_PANDAS = b"pandas"
# Which columns are the index, what its names are like, and who wrote that.
_COPIED = ("index_columns", "column_indexes", "creator", "pandas_version")


def released(schema: _arrow.Schema, columns: Sequence[_arrow.Column]) -> _arrow.Schema:
    """Return the schema of the output: without what may tell of the selected texts."""
    for column in columns:
        field = schema.field(column.index)
        field = bare(field).with_type(retyped(field.type, column.steps))
        schema = schema.set(column.index, field)
    names = {schema.names[column.index] for column in columns}
    pandas = _pandas((schema.metadata or {}).get(_PANDAS), names)
    return schema.with_metadata({_PANDAS: pandas} if pandas else None)


def bare(field: _arrow.Field) -> _arrow.Field:
    """Return a field without its metadata, but for the number it has in the file."""
    number = (field.metadata or {}).get(_FIELD_ID)
    return field.with_metadata({_FIELD_ID: number} if number else None)


def retyped(kind: _arrow.Kind, steps: tuple[int, ...]) -> _arrow.Kind:
    """Return a column's type with room for new words.

    A dictionary changes: the width of its index tells how many texts there were, and
    may be too narrow for new ones. Fields on the way to the texts lose their metadata.
    """
    import pyarrow as pa

    if _arrow.is_list(kind):
        item = bare(kind.value_field).with_type(retyped(kind.value_type, steps))
        is_large = _arrow.is_kind(kind, "is_large_list")
        return pa.large_list(item) if is_large else pa.list_(item)
    if steps:
        fields = _arrow.fields_of(kind)
        child = fields[steps[0]]
        fields[steps[0]] = bare(child).with_type(retyped(child.type, steps[1:]))
        return pa.struct(fields)
    if _arrow.is_kind(kind, "is_dictionary"):
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    return kind


def _pandas(raw: bytes | None, private: set[str]) -> bytes | None:
    """Return what pandas needs to know; of private columns only that they are text."""
    try:
        document = json.loads(raw or b"")
        copied = {key: document[key] for key in _COPIED if key in document}
        copied["columns"] = [
            _column(each) if each["field_name"] in private else each
            for each in document["columns"]
        ]
    except (ValueError, TypeError, KeyError):
        return None  # nothing that pandas would understand
    return json.dumps(copied).encode()


def _column(described: JsonObject) -> JsonObject:
    return {
        "name": described.get("name"),
        "field_name": described["field_name"],
        "pandas_type": "unicode",
        "numpy_type": "object",
        "metadata": None,
    }
