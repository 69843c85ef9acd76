"""Texts inside Arrow columns: finding, taking and replacing them.

pyarrow has no types that a checker knows; the names below say what is meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from dptext.errors import InputError
from dptext.formats import _paths

Array = Any
Batch = Any
Kind = Any  # a pyarrow.DataType
Schema = Any
Value = Any  # one row of a selected column: a text, nothing, or a list of such


@dataclass(frozen=True, slots=True)
class Column:
    """A selected field: the column's number, then the child's in each struct below."""

    path: str
    place: int
    steps: tuple[int, ...]


def column(schema: Schema, path: str, place: str, *, is_text: bool = True) -> Column:
    """Find a field by its path; lists on the way are gone through.

    Raises InputError when there is no such field or it cannot hold what is asked.
    """
    first, *names = _paths.parse(path)
    at = _number(list(schema.names), first, path, place)
    kind, steps = _inside(schema.field(at).type), []
    for name in names:
        if not _is(kind, "is_struct"):
            msg = f"{place}: field {path!r} leads into {_shown(kind)}, not a struct"
            raise InputError(msg)
        fields = [kind.field(i) for i in range(kind.num_fields)]
        steps.append(_number([field.name for field in fields], name, path, place))
        kind = _inside(fields[steps[-1]].type)
    if is_text and not _is_text(kind):
        msg = f"{place}: field {path!r} is of type {_shown(kind)}, not text"
        raise InputError(msg)
    return Column(path, at, tuple(steps))


def leaves(schema: Schema) -> Iterator[str]:
    """Give the paths of all fields that hold values, through lists and structs."""
    left: list[tuple[tuple[str, ...], Kind]] = [
        ((field.name,), _inside(field.type)) for field in schema
    ]
    while left:
        path, kind = left.pop(0)
        if _is(kind, "is_struct") and kind.num_fields:
            fields = (kind.field(i) for i in range(kind.num_fields))
            left += [((*path, field.name), _inside(field.type)) for field in fields]
        else:
            yield _paths.joined(path)


def _number(names: list[str], name: str, path: str, place: str) -> int:
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        msg = f"{place}: the name {name!r} of field {path!r} occurs twice"
    else:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "choose one with --field"
        msg = f"{place}: no field {path!r}; {hint}"
    raise InputError(msg)


def _is(kind: Kind, test: str) -> bool:
    """Apply a test of pyarrow.types, which an older release may lack."""
    from pyarrow import types

    found = getattr(types, test, None)
    return found is not None and bool(found(kind))


def _is_list(kind: Kind) -> bool:
    return _is(kind, "is_list") or _is(kind, "is_large_list")


def _inside(kind: Kind) -> Kind:
    while _is_list(kind):
        kind = kind.value_type
    return kind


def _is_text(kind: Kind) -> bool:
    if _is(kind, "is_dictionary"):
        kind = kind.value_type
    tests = ("is_string", "is_large_string", "is_string_view")
    return any(_is(kind, test) for test in tests)


def _shown(kind: Kind) -> str:
    """Name a type; a nested one without what is in it."""
    return str(kind).partition("<")[0]


def retyped(kind: Kind, steps: tuple[int, ...]) -> Kind:
    """Return a column's type with room for new words.

    Only a dictionary changes: its index may be too narrow for texts not yet known.
    """
    import pyarrow as pa

    if _is_list(kind):
        item = kind.value_field.with_type(retyped(kind.value_type, steps))
        return pa.large_list(item) if _is(kind, "is_large_list") else pa.list_(item)
    if steps:
        fields = [kind.field(i) for i in range(kind.num_fields)]
        child = fields[steps[0]]
        fields[steps[0]] = child.with_type(retyped(child.type, steps[1:]))
        return pa.struct(fields)
    if _is(kind, "is_dictionary"):
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    return kind


def values(array: Array, steps: tuple[int, ...]) -> list[Value]:
    """Return the value of every row of a column; what is inside a null is null."""
    import pyarrow.compute as pc

    if _is_list(array.type):
        inner = iter(values(array.flatten(), steps))
        counts = pc.list_value_length(array).to_pylist()
        return [
            None if count is None else [next(inner) for _ in range(count)]
            for count in counts
        ]
    if steps:
        return values(pc.struct_field(array, [steps[0]]), steps[1:])
    if _is(array.type, "is_temporal"):  # Python's own types are coarser
        array = array.cast("string")
    return list(array.to_pylist())


def texts(value: Value) -> Iterator[str | None]:
    """Give the texts of one row's value in order, None for each null."""
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    else:
        yield value


def refill(value: Value, new: Iterator[str]) -> Value:
    """Return a value of the same shape with new texts."""
    if isinstance(value, list):
        return [refill(item, new) for item in value]
    return value if value is None else next(new)


def rebuilt(
    array: Array, kind: Kind, steps: tuple[int, ...], new: list[Value]
) -> Array:
    """Return a column of a type (see retyped) with the values of one field replaced."""
    import pyarrow as pa

    if _is_list(kind):
        return _rebuilt_list(array, kind, steps, new)
    if steps:
        fields = [kind.field(i) for i in range(kind.num_fields)]
        children = [array.field(i) for i in range(kind.num_fields)]
        at, field = steps[0], fields[steps[0]]
        if not field.nullable:  # what lies inside a null struct
            new = ["" if value is None else value for value in new]
        children[at] = rebuilt(children[at], field.type, steps[1:], new)
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    if _is(kind, "is_dictionary"):
        coded = pa.array(new, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            coded.indices, coded.dictionary, ordered=kind.ordered
        )
    return pa.array(new, kind)


def _rebuilt_list(
    array: Array, kind: Kind, steps: tuple[int, ...], new: list[Value]
) -> Array:
    import pyarrow as pa

    offsets = [0]
    for value in new:
        offsets.append(offsets[-1] + len(value or ()))
    flat = [item for value in new if value is not None for item in value]
    inner = rebuilt(array.flatten(), kind.value_type, steps, flat)
    of = pa.LargeListArray if _is(kind, "is_large_list") else pa.ListArray
    width = pa.int64() if _is(kind, "is_large_list") else pa.int32()
    return of.from_arrays(
        pa.array(offsets, width), inner, type=kind, mask=array.is_null()
    )


def json_line(batch: Batch, row: int) -> bytes:
    """Return a row as one line of JSON, as near as JSON comes, for the quarantine."""
    shown: dict[str, object] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        try:
            shown[name] = array[row].as_py()
        except (ValueError, TypeError, ImportError, OverflowError):
            shown[name] = str(array.slice(row, 1))
    return json.dumps(shown, ensure_ascii=False, default=str).encode() + b"\n"
