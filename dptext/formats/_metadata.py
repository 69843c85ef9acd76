"""What a Parquet file says of its columns, and how much of it may be copied.

Metadata may be a function of the private texts: pandas writes how many distinct ones
a column of categories has, others write statistics. So only what follows is copied:
names, types and nullability of columns, field ids, the metadata of other columns, and
what pandas says of other columns and of the row index.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from dptext.formats import _arrow
from dptext.types import JsonObject

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
