"""Reads texts and labels of records, and two files record by record.

It uses dptext.formats, so that records and texts are the same as for `sanitize`. A
label is read like an id, by a separate pass over the file: it may be a number, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat, zip_longest

import msgspec

from dptext import formats, streams
from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.formats import _fields
from dptext.run.interface import noun, option
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim


@dataclass(frozen=True, slots=True)
class TextRow:
    """A record's texts, values of further fields (None if missing) and id."""

    texts: tuple[str, ...]
    values: tuple[str | None, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A record's texts before and after, and further fields of the original.

    identity: the id, if records are paired by id.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    values: tuple[str | None, ...] = ()
    identity: str | None = None


def one_text(texts: Sequence[str]) -> str:
    """Join a record's texts with line breaks."""
    return "\n".join(texts)


# Names of further fields, by the option that names them.
Values = Mapping[str, Sequence[str]]
_NO_VALUES: Values = {}


def records(
    path: str, selection: Selection, values: Values = _NO_VALUES
) -> Iterator[TextRow]:
    """Yield the records of a file with further fields; absent ones are None.

    Raises InputError with file and line for unreadable content, UsageError for values
    that the format does not support.
    """
    if streams.is_stream(path):
        raise UsageError("standard input cannot be read twice: give the path of a file")
    options = [(each, name) for each, names in values.items() for name in names]
    labels = [name for _, name in options]
    for name in labels:
        if name in selection.fields:
            raise UsageError(f"field {name!r} cannot be both a text and a label")
    module = formats.find(path, selection.format)
    with contextlib.ExitStack() as stack:

        def read_with(chosen: Selection) -> Iterator[Record | Verbatim | Fault]:
            stream = stack.enter_context(streams.open_input(path, chosen.encoding))
            return iter(module.read(formats.Input(stream, chosen, path)))

        def read_value(named_by: str, name: str) -> Iterator[Record | Verbatim | Fault]:
            try:
                yield from read_with(replace(selection, id_field=name))
            except UnknownFieldError:  # which names another option
                known = _copied_fields(path, selection)
                raise UnknownFieldError(_absent(path, name, named_by, known)) from None

        passes = [
            read_with(selection),
            *(read_value(each, name) for each, name in options),
        ]
        for first, *others in zip(*passes, strict=True):
            if isinstance(first, Fault):
                raise InputError(first.described())
            if isinstance(first, Record):
                read = tuple(map(_value, repeat(path), labels, others))
                key = selection.id_field
                identity = None if key is None else _value(path, key, first)
                yield TextRow(first.texts, read, identity)


def _copied_fields(path: str, selection: Selection) -> list[str]:
    module = formats.find(path, selection.format)
    with streams.open_input(path, selection.encoding) as stream:
        return list(module.copied(stream, selection.without_fields()))


def _absent(file: str, name: str, named_by: str, known: Sequence[str]) -> str:
    near = _fields.nearest(name, known, named_by)
    # Those of a table without header are data.
    shown = _fields.listed(known, "fields") if _fields.is_header(known) else ""
    return f"{file}: no record has the field {name!r} of {noun(named_by)}{near}{shown}"


def _value(path: str, name: str, item: Record | Verbatim | Fault) -> str | None:
    # The record itself has been read, so that a fault can only be the value's.
    if not isinstance(item, Record):
        return None
    if item.identity is None:
        raise UsageError(f"{path}: its format has no field {name!r}")
    if item.identity.startswith('"'):
        with contextlib.suppress(msgspec.DecodeError):
            return str(msgspec.json.decode(item.identity))
    return item.identity


def nothing_to_read(
    paths: Sequence[str], selection: Selection, values: Values
) -> InputError:
    """Return the error for files without a record that has text and all values.

    The error names a field that the first file lacks, and lists its fields.
    """
    file = ", ".join(paths[:3])
    known = _copied_fields(paths[0], selection)
    for name_of, names in {"field": selection.fields, **values}.items():
        for name in names if known else ():
            if not any(each == name or each.startswith(f"{name}.") for each in known):
                return InputError(_absent(file, name, name_of, known))
    needed = [repr(name) for names in values.values() for name in names]
    return InputError(f"{file}: no record has {' and '.join(['text', *needed])}")


def read_texts(
    paths: Sequence[str], selection: Selection, size: int = 2048
) -> Iterator[list[str]]:
    """Yield the texts of files in lists of about `size`."""
    rows = (row for path in paths for row in records(path, selection))
    while batch := [text for row in islice(rows, size) for text in row.texts]:
        yield batch


def pairs(
    original: str,
    private: str,
    selection: Selection,
    values: Values = _NO_VALUES,
) -> Iterator[Pair]:
    """Pair the records of two files by the selection's id field, else in order.

    With ids, the originals are held in memory, some may stay unpaired, and the order is
    that of the private file. Raises InputError if a record has no partner or other
    texts.
    """
    one = records(original, selection, values)
    two = records(private, selection.output_selection())
    joined: Iterable[tuple[TextRow | None, TextRow | None]] = zip_longest(one, two)
    if selection.id_field is not None:
        known: dict[str | None, TextRow] = {}
        for number, row in enumerate(one, 1):
            if known.setdefault(row.identity, row) is not row:
                msg = f"{original}: record {number} has the id of an earlier one"
                raise InputError(msg)
        joined = ((known.pop(row.identity, None), row) for row in two)
    for number, (first, second) in enumerate(joined, 1):
        if first is None or second is None:
            more, fewer = (original, private) if second is None else (private, original)
            raise InputError(
                f"{more}: record {number} has no counterpart in {fewer}; give both "
                f"files of one run, with {option('id')} if the private file leaves "
                "records out"
            )
        if len(first.texts) != len(second.texts):
            texts = f"{len(second.texts)} texts, its original {len(first.texts)}"
            msg = f"{private}: record {number} has {texts}; give files of one run"
            raise InputError(msg)
        yield Pair(first.texts, second.texts, first.values, first.identity)
