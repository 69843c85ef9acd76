"""Fields of an Arrow table that are left out or replaced.

A struct without remaining fields is left out itself: Parquet cannot hold it. Replaced
values of any type become strings, those inside of lists one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from dptext.errors import InputError
from dptext.formats import Replacement, _arrow, _fields
from dptext.formats._arrow import Array, ArrowColumn, Batch, Field, Kind, Schema
from dptext.run.interface import option, unit
from dptext.run.selection import REPLACEMENT, Selection, check_uses

# Types with values that are spelled differently from format to format.
_NO_VALUES = (
    "is_binary",
    "is_large_binary",
    "is_binary_view",
    "is_fixed_size_binary",
)


class Treatment(Enum):
    """How a field is treated."""

    DROPPED = "left out"
    REPLACED = "replaced"


# By the numbers of fields in a schema or a struct; others stay.
Plan = Mapping[int, "Treatment | Plan"]


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """The treatment of unselected fields, and the resulting schema."""

    plan: Plan
    schema: Schema

    @classmethod
    def from_selection(
        cls, schema: Schema, selection: Selection, location: str
    ) -> FieldChanges:
        """Find the fields. Raises UsageError if one is missing or a text field.

        Raises InputError for a path that does not lead through structs and lists.
        """
        leaves = list(_arrow.leaves(schema))
        known = [*schema.names, *(leaf.path for leaf, _ in leaves)]
        kinds = {leaf.path: kind for leaf, kind in leaves}
        texts = set(_arrow.columns(schema, selection.fields, location))
        uses = {
            Treatment.DROPPED: _find_columns(
                schema, selection.dropped, selection, known
            ),
            Treatment.REPLACED: _find_columns(
                schema, selection.replaced, selection, known
            ),
        }
        plan: dict[int, Treatment | Plan] = {}
        for use, columns in uses.items():
            for column in columns:
                _add(plan, column, use)
        for column in texts:
            _check_apart(plan, column)
        for column in uses[Treatment.REPLACED]:
            kind = kinds.get(_fields.joined(_fields.parse(column.path)))
            if kind is None or kind.num_fields or _arrow.is_kind(kind, *_NO_VALUES):
                raise InputError(
                    f"{location}: {unit()} {column.path!r} holds no text, numbers or "
                    f"dates, so it cannot become a {REPLACEMENT}; leave it out "
                    f"({option('drop')})"
                )
        # Refuses fields within each other, by their paths.
        _fields.tree(selection)
        return cls(plan, _schema(schema, plan))

    def apply(self, batch: Batch, replacement: Replacement) -> Batch:
        """Return rows without dropped fields, and with replaced ones."""
        import pyarrow as pa

        arrays = [
            array if changed is None else _output_array(array, changed, replacement)
            for index, array in enumerate(batch.columns)
            if (changed := self.plan.get(index)) is not Treatment.DROPPED
            and _output_type(array.type, changed) is not None
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _find_columns(
    schema: Schema, paths: Iterable[str], selection: Selection, known: list[str]
) -> list[ArrowColumn]:
    columns = []
    for path in paths:
        if not _is_there(schema, _fields.parse(path)):
            raise _fields.unknown(path, selection.option_name(path), known)
        columns.append(_arrow.column(schema, path, "the input", is_text=False))
    return columns


def _is_there(schema: Schema, names: tuple[str, ...]) -> bool:
    """Return whether a path leads to a field through structs and lists."""
    first, *others = names
    if first not in schema.names:
        return False
    kind = _arrow.inside(schema.field(schema.names.index(first)).type)
    for name in others:
        known = (
            [field.name for field in _arrow.subfields(kind)]
            if _arrow.is_kind(kind, "is_struct")
            else []
        )
        if name not in known:
            return False
        kind = _arrow.inside(kind.field(known.index(name)).type)
    return True


def _add(
    plan: dict[int, Treatment | Plan], column: ArrowColumn, use: Treatment
) -> None:
    *parents, last = column.index, *column.steps
    for step in parents:
        inner = plan.setdefault(step, {})
        if not isinstance(inner, dict):
            return  # refused by its path
        plan = inner
    plan.setdefault(last, use)


def _check_apart(plan: Plan, text: ArrowColumn) -> None:
    """Raise UsageError for a text that is also left out or replaced."""
    inner: Treatment | Plan | None = plan
    for step in (text.index, *text.steps):
        if not isinstance(inner, Mapping):
            break
        inner = inner.get(step)
    if isinstance(inner, Treatment):
        is_dropped = inner is Treatment.DROPPED
        check_uses(text.path, True, is_dropped, not is_dropped)


def _schema(schema: Schema, plan: Plan) -> Schema:
    import pyarrow as pa

    fields = [_field(field, plan.get(index)) for index, field in enumerate(schema)]
    gone = {
        name for name, field in zip(schema.names, fields, strict=True) if field is None
    }
    replaced = {schema.names[n] for n, use in plan.items() if use is Treatment.REPLACED}
    metadata = _arrow.without_columns(schema.metadata, gone, replaced)
    return pa.schema([field for field in fields if field is not None], metadata)


def _field(field: Field, change: Treatment | Plan | None) -> Field | None:
    """Return the output field, None if it is dropped."""
    if change is None:
        return field
    kind = _output_type(field.type, change)
    if kind is None:
        return None
    changed = _arrow.bare(field).with_type(kind)
    # A missing value is null, whatever it was.
    return changed.with_nullable(True) if change is Treatment.REPLACED else changed


def _output_type(kind: Kind, change: Treatment | Plan | None) -> Kind | None:
    """Return the type after a change, None if nothing is left."""
    import pyarrow as pa

    if change is None or change is Treatment.DROPPED:
        return kind if change is None else None
    if _arrow.is_list(kind):
        item = _field(kind.value_field, change)
        if item is None:
            return None
        is_large = _arrow.is_kind(kind, "is_large_list")
        return pa.large_list(item) if is_large else pa.list_(item)
    if change is Treatment.REPLACED:
        return pa.string()
    assert isinstance(change, Mapping)
    fields = [
        _field(field, change.get(index))
        for index, field in enumerate(_arrow.subfields(kind))
    ]
    remaining = [field for field in fields if field is not None]
    return pa.struct(remaining) if remaining else None


def _replaced(
    values: Iterable[object], replacement: Replacement
) -> Iterator[str | None]:
    """Yield the replacements of values; a text without a visible character stays."""
    for value in values:
        spelled = _fields.replacement_input(value, "")
        if spelled is not None:
            yield replacement(spelled)
        else:
            yield value if isinstance(value, str) else None


def _output_array(
    array: Array, change: Treatment | Plan, replacement: Replacement
) -> Array:
    """Return a changed column that still has at least one field."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = _output_type(array.type, change)
    if _arrow.is_list(array.type):
        counts = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
        inner = _output_array(array.flatten(), change, replacement)
        return _arrow.rebuilt_lists(array, kind, inner, counts)
    if change is Treatment.REPLACED:
        return pa.array(
            list(_replaced(_arrow.values(array, ()), replacement)), pa.string()
        )
    assert isinstance(change, Mapping)
    children = []
    for index, field in enumerate(_arrow.subfields(array.type)):
        inner_change = change.get(index)
        child = array.field(index)
        if inner_change is None:
            children.append(child)
        elif _output_type(field.type, inner_change) is not None:
            children.append(_output_array(child, inner_change, replacement))
    fields = _arrow.subfields(kind)
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
