"""Finds, reads and replaces texts in Arrow columns and their rows.

Used for Parquet files and tables in memory. Metadata of a column may depend on the
private texts: pandas writes the number of distinct ones in a column of categories,
others write statistics. So only these are copied: names, types and nullability of
columns, field ids, the metadata of other columns, and pandas metadata about other
columns and the row index.

pyarrow has no type annotations; the names below are placeholders.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from dptext.errors import InputError, UnknownFieldError
from dptext.formats import Unreadable, _fields, too_long
from dptext.run.interface import option, unit
from dptext.run.selection import Selection
from dptext.types import Record

_VARIABLE = ("is_string", "is_large_string", "is_binary", "is_large_binary")

_OF_MAP = 64  # bytes that a map is taken for: their parts have no cheap length

Arrow = Any
Array = Arrow
Batch = Arrow
Field = Arrow
Kind = Arrow  # a pyarrow.DataType
Schema = Arrow
Table = Arrow
File = Arrow  # a pyarrow.parquet.ParquetFile, or ParquetWriter
# One row of a selected column.
Value = str | None | list["Value"]


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    """A selected field: the column number, then a child number per nested struct."""

    path: str
    index: int
    steps: tuple[int, ...]


def column(
    schema: Schema, path: str, location: str, *, is_text: bool = True
) -> ArrowColumn:
    """Find a field by its path, looking through lists.

    Raises InputError if the field is missing or has the wrong type.
    """
    first, *names = _fields.parse(path)

    def number(names: list[str], name: str) -> int:
        if names.count(name) == 1:
            return names.index(name)
        if name in names:
            raise InputError(
                f"{location}: the name {name!r} of {unit()} {path!r} occurs twice"
            )
        texts = [leaf.path for leaf, kind in leaves(schema) if holds_text(kind)]
        meant = _fields.nearest(path, texts) + _fields.listed(texts)
        raise UnknownFieldError(f"{location}: no {unit()} {path!r}{meant}")

    at = number(list(schema.names), first)
    kind, steps = inside(schema.field(at).type), []
    for name in names:
        if not is_kind(kind, "is_struct"):
            raise InputError(
                f"{location}: {unit()} {path!r} leads into {_shown(kind)}, not a struct"
            )
        fields = subfields(kind)
        steps.append(number([field.name for field in fields], name))
        kind = inside(fields[steps[-1]].type)
    if is_text and not holds_text(kind):
        raise InputError(
            f"{location}: {unit()} {path!r} is of type {_shown(kind)}, not text"
        )
    return ArrowColumn(path, at, tuple(steps))


def columns(
    schema: Schema, paths: Iterable[str], location: str
) -> tuple[ArrowColumn, ...]:
    """Find the text fields, each once, in the order of the file."""
    selected = {column(schema, path, location) for path in paths}
    return tuple(sorted(selected, key=lambda column: (column.index, column.steps)))


def leaves(schema: Schema) -> Iterator[tuple[ArrowColumn, Kind]]:
    """Yield all fields that hold values, with their types, in lists and structs too."""
    pending: list[tuple[tuple[str, ...], tuple[int, ...], Kind]] = [
        ((field.name,), (index,), inside(field.type))
        for index, field in enumerate(schema)
    ]
    for names, at, kind in pending:  # which grows meanwhile
        if is_kind(kind, "is_struct") and kind.num_fields:
            pending += [
                ((*names, field.name), (*at, index), inside(field.type))
                for index, field in enumerate(subfields(kind))
            ]
        else:
            yield ArrowColumn(_fields.joined(names), at[0], at[1:]), kind


def is_kind(kind: Kind, *tests: str) -> bool:
    """Return whether a pyarrow.types test is true; old releases lack some tests."""
    from pyarrow import types

    return any(getattr(types, test, lambda kind: False)(kind) for test in tests)


def subfields(kind: Kind) -> list[Field]:
    """Return the fields of a struct, or the inner field of another nested type."""
    return [kind.field(i) for i in range(kind.num_fields)]


def is_list(kind: Kind) -> bool:
    return is_kind(kind, "is_list", "is_large_list")


def inside(kind: Kind) -> Kind:
    """Return the element type of lists, at any depth."""
    while is_list(kind):
        kind = kind.value_type
    return kind


def holds_text(kind: Kind) -> bool:
    kind = kind.value_type if is_kind(kind, "is_dictionary") else kind
    return is_kind(kind, "is_string", "is_large_string", "is_string_view")


def _shown(kind: Kind) -> str:
    """Name a type, without the inner types of a nested one."""
    return str(kind).partition("<")[0]


def size(array: Array) -> int:
    """Return about how many bytes an array's values take.

    It depends only on the values, not on their memory layout.
    """
    import pyarrow.compute as pc

    kind = array.type
    if is_kind(kind, "is_dictionary"):
        return 4 * len(array)
    if is_kind(kind, "is_struct"):
        return sum(map(size, array.flatten()))
    if is_kind(kind, "is_map"):
        return _OF_MAP * len(array)
    if kind.num_fields:  # lists of some kind
        return 4 * len(array) + size(array.flatten())
    if is_kind(kind, "is_string_view", "is_binary_view"):
        array = array.cast("large_binary")
    if is_kind(array.type, *_VARIABLE):
        return 4 * len(array) + int(pc.sum(pc.binary_length(array)).as_py() or 0)
    return 8 * len(array)


def values(array: Array, steps: tuple[int, ...]) -> list[Value]:
    """Return each row's value of a column; everything inside a null is null."""
    import pyarrow.compute as pc

    if is_list(array.type):
        inner = iter(values(array.flatten(), steps))
        counts = pc.list_value_length(array).to_pylist()
        return [
            None if count is None else [next(inner) for _ in range(count)]
            for count in counts
        ]
    if steps:
        return values(pc.struct_field(array, [steps[0]]), steps[1:])
    if is_kind(array.type, "is_temporal"):  # Python's own types are coarser
        array = array.cast("string")
    return list(array.to_pylist())


def texts(value: Value) -> Iterator[str | None]:
    """Yield the texts in a row's value in order, None for each null."""
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    else:
        yield value


def strings(value: object) -> Iterator[str]:
    """Yield all readable content of a value of any type as texts, also numbers."""
    if isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings([name, inner])
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "ignore")
    elif isinstance(value, float) and value.is_integer():
        yield str(int(value))  # whole numbers become these where some are missing
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def refill(value: Value, new: Iterator[str]) -> Value:
    """Return a value of the same shape with new texts."""
    if isinstance(value, list):
        return [refill(item, new) for item in value]
    return None if value is None else next(new)


def rebuilt(
    array: Array, kind: Kind, steps: tuple[int, ...], new: list[Value]
) -> Array:
    """Return a column of a type with the values of one field replaced."""
    import pyarrow as pa

    if is_list(kind):
        flat = [item for value in new if value is not None for item in value]
        inner = rebuilt(array.flatten(), kind.value_type, steps, flat)
        return rebuilt_lists(array, kind, inner, [len(value or ()) for value in new])
    if steps:
        fields = subfields(kind)
        children = [array.field(i) for i in range(kind.num_fields)]
        at, field = steps[0], fields[steps[0]]
        if not field.nullable:  # inside of a null struct
            new = ["" if value is None else value for value in new]
        children[at] = rebuilt(children[at], field.type, steps[1:], new)
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    if is_kind(kind, "is_dictionary"):
        coded = pa.array(new, kind.value_type).dictionary_encode()
        indices = coded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(
            indices, coded.dictionary, ordered=kind.ordered
        )
    return pa.array(new, kind)


def rebuilt_lists(array: Array, kind: Kind, inner: Array, counts: list[int]) -> Array:
    """Return a list column with new items, with the given number in each list."""
    import pyarrow as pa

    lists, width = pa.ListArray, pa.int32()
    if is_kind(kind, "is_large_list"):
        lists, width = pa.LargeListArray, pa.int64()
    offsets = pa.array(accumulate(counts, initial=0), width)
    return lists.from_arrays(offsets, inner, type=kind, mask=array.is_null())


def json_line(batch: Batch, row: int) -> bytes:
    """Return a row as a line of JSON, as closely as possible, for the quarantine."""
    shown: dict[str, object] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        try:
            shown[name] = array[row].as_py()
        except (ValueError, TypeError, ImportError, OverflowError):
            shown[name] = str(array.slice(row, 1))
    return json.dumps(shown, ensure_ascii=False, default=str).encode() + b"\n"


ROWS = 1024  # rows that are read, or rebuilt, at once


@dataclass(frozen=True, slots=True)
class TableHead:
    """What all rows of a file share; schema is that of the output."""

    schema: Schema
    columns: tuple[ArrowColumn, ...]
    identity: ArrowColumn | None
    subject: ArrowColumn | None
    codec: str = "NONE"
    int96: bool = False

    @classmethod
    def from_schema(
        cls,
        schema: Schema,
        selection: Selection,
        location: str,
        short: Set[str] = frozenset(),
    ) -> TableHead:
        """Find the selected fields in an input's schema. Raises InputError.

        short: names of columns that hold at most FEW values.
        """
        identity, subject = (
            None if path is None else column(schema, path, location, is_text=False)
            for path in (selection.id_field, selection.subject_field)
        )
        texts = columns(schema, selection.fields, location)
        return cls(released(schema, texts, short), texts, identity, subject)


@dataclass(frozen=True, slots=True, eq=False)
class RowPage:
    """Consecutive rows and their selected values: one list per column."""

    head: TableHead
    batch: Batch
    values: list[list[Value]]
    identities: Sequence[object] | None
    subjects: Sequence[object] | None

    @classmethod
    def from_batch(cls, head: TableHead, batch: Batch, location: str) -> RowPage:
        """Extract the selected values of rows. Raises InputError for damaged data."""
        import pyarrow as pa

        def take(column: ArrowColumn | None) -> Any:
            if column is None:
                return None
            return values(batch.column(column.index), column.steps)

        try:
            batch.validate(full=True)
        except pa.ArrowException:
            raise InputError(
                f"{location}: damaged, or strings are not valid UTF-8; write the file "
                "again"
            ) from None
        texts, named = list(map(take, head.columns)), (head.identity, head.subject)
        return cls(head, batch, texts, *map(take, named))

    def record(self, row: int, selection: Selection, ordinal: int) -> Record:
        """Return a row as a record. Raises Unreadable, also for a null."""
        every: list[str] = []
        for column, values in zip(self.head.columns, self.values, strict=True):
            for text in texts(values[row]):
                if text is not None:
                    every.append(text)
                elif selection.missing != "pass":
                    raise Unreadable(
                        f"{unit()} {column.path!r} is null",
                        f"{option('missing', 'pass')} leaves nulls unchanged",
                    )
        if sum(map(len, every)) > selection.max_record_bytes:
            raise Unreadable(too_long(selection.max_record_bytes))
        identity = subject = None
        if self.identities is not None:
            name = self.identities[row]
            if name is None or isinstance(name, (dict, list)):
                how = "is null" if name is None else "is nested; it must be one value"
                raise Unreadable(f"id {unit()} {selection.id_field!r} {how}")
            identity = json.dumps(name, ensure_ascii=False, default=str)
        if self.subjects is not None:
            path = selection.subject_field or ""
            subject = _fields.subject_from_value(self.subjects[row], path)
        return Record(
            ordinal=ordinal,
            texts=tuple(every),
            rest=PageRow(self, row),
            identity=identity,
            present=(*selection.fields, *selection.changed),
            subject=subject,
        )


class PageRow(NamedTuple):
    """The page and row that a record came from."""

    page: RowPage
    row: int


def copied_leaves(
    schema: Schema, selection: Selection
) -> Iterator[tuple[ArrowColumn, Kind]]:
    """Yield the copied fields that hold values, with their types."""
    changed, dropped = (
        {_fields.joined(_fields.parse(path)) for path in paths}
        for paths in (
            (*selection.fields, *selection.changed),
            selection.dropped,
        )
    )
    inside_dropped = tuple(f"{path}." for path in dropped)
    for leaf, kind in leaves(schema):
        if leaf.path not in changed and not leaf.path.startswith(inside_dropped):
            yield leaf, kind


def with_texts(head: TableHead, batch: Batch, new: Sequence[list[Value]]) -> Batch:
    """Return rows with the new values of each selected column."""
    import pyarrow as pa

    arrays = list(batch.columns)
    for column, values in zip(head.columns, new, strict=True):
        kind, array = head.schema.field(column.index).type, arrays[column.index]
        arrays[column.index] = rebuilt(array, kind, column.steps, values)
    return pa.RecordBatch.from_arrays(arrays, schema=head.schema)


_FIELD_ID = b"PARQUET:field_id"
_PANDAS = b"pandas"
# The columns of the index, the types of its names, and the program that wrote them.
_COPIED = ("index_columns", "column_indexes", "creator", "pandas_version")
# Metadata of a column of texts.
_TEXTS = {"pandas_type": "unicode", "numpy_type": "object", "metadata": None}


def released(
    schema: Schema, columns: Sequence[ArrowColumn], short: Set[str] = frozenset()
) -> Schema:
    """Return the output schema, without metadata about the selected texts.

    short: names of columns that hold at most FEW values.
    """
    for column in columns:
        field = schema.field(column.index)
        kind = retyped(field.type, column.steps, field.name in short)
        field = bare(field).with_type(kind)
        schema = schema.set(column.index, field)
    names = {schema.names[column.index] for column in columns}
    pandas = _pandas((schema.metadata or {}).get(_PANDAS), names)
    return schema.with_metadata({_PANDAS: pandas} if pandas else None)


def bare(field: Field) -> Field:
    """Return a field without metadata, except its id in the file."""
    number = (field.metadata or {}).get(_FIELD_ID)
    return field.with_metadata({_FIELD_ID: number} if number else None)


#: Values for which the index of any dictionary has room.
FEW = 2**7
_WIDE = 32  # bits of an index with room for any number of texts


def leaf_type(kind: Kind, steps: tuple[int, ...]) -> Kind:
    """Return the type of a field inside a column type."""
    for step in steps:
        kind = subfields(inside(kind))[step].type
    return inside(kind)


def retyped(kind: Kind, steps: tuple[int, ...], is_short: bool) -> Kind:
    """Return a column type that can hold new words.

    A dictionary's narrow index type is widened unless the column has at most FEW
    values: its width would reveal the number of texts, and it may have no room for new
    ones. Fields on the way to the texts lose their metadata.
    """
    import pyarrow as pa

    if is_list(kind):
        inner = retyped(kind.value_type, steps, is_short)
        item = bare(kind.value_field).with_type(inner)
        return pa.large_list(item) if is_kind(kind, "is_large_list") else pa.list_(item)
    if steps:
        fields = subfields(kind)
        child = fields[steps[0]]
        inner = retyped(child.type, steps[1:], is_short)
        fields[steps[0]] = bare(child).with_type(inner)
        return pa.struct(fields)
    is_coded = is_kind(kind, "is_dictionary")
    if is_coded and kind.index_type.bit_width < _WIDE and not is_short:
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    return kind


def without_columns(
    metadata: dict[bytes, bytes] | None, gone: set[str], texts: set[str]
) -> dict[bytes, bytes] | None:
    """Return a schema's metadata without dropped columns; texts names text columns.

    Columns that become text keep no metadata about their values.
    """
    pandas = _pandas((metadata or {}).get(_PANDAS), texts, gone)
    return {_PANDAS: pandas} if pandas else None


def _pandas(
    raw: bytes | None, private: set[str], gone: Set[str] = frozenset()
) -> bytes | None:
    """Return pandas metadata that describes private columns only as text."""
    try:
        document = json.loads(raw or b"")
        copied = {key: document[key] for key in _COPIED if key in document}
        if "index_columns" in copied:
            copied["index_columns"] = [
                each
                for each in copied["index_columns"]
                if not (isinstance(each, str) and each in gone)
            ]
        copied["columns"] = [
            {"name": each.get("name"), "field_name": each["field_name"], **_TEXTS}
            if each["field_name"] in private
            else each
            for each in document["columns"]
            if each["field_name"] not in gone
        ]
    except (ValueError, TypeError, KeyError):
        return None  # nothing that pandas would understand
    return json.dumps(copied).encode()
