"""Read texts and labels of records, and two files record by record.

Through dptext.formats, so that a record and a text are what they are to sanitize. A
label is read as an id is, by a pass over the file of its own: it may be a number, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import msgspec

from dptext import formats, streams
from dptext.errors import InputError, UsageError
from dptext.types import Fault, Record, Selection, Verbatim

Item = Record | Verbatim | Fault


@dataclass(frozen=True, slots=True)
class Row:
    """A record: its texts, the values of further fields (None: it has none), its id."""

    texts: tuple[str, ...]
    values: tuple[str | None, ...] = ()
    identity: str | None = None


def one_text(texts: Sequence[str]) -> str:
    """Return all texts of a record as one, joined by lines."""
    return "\n".join(texts)


@dataclass(frozen=True, slots=True)
class Pair:
    """The texts of a record before and after, and further fields of the original."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    values: tuple[str | None, ...] = ()


def records(
    path: str,
    selection: Selection,
    values: Sequence[str] = (),
    format: str | None = None,
) -> Iterator[Row]:
    """Read a file; values are further fields, None where absent, null or nested.

    Raises InputError with file and line for what cannot be read, UsageError for values
    that the format cannot have.
    """
    selections = [selection, *(replace(selection, id_field=name) for name in values)]
    for first, others in _passes(path, selections, format):
        named = zip(values, others, strict=True)
        identity = None
        if selection.id_field is not None:
            identity = _value(path, selection.id_field, first)
        read = tuple(_value(path, name, each) for name, each in named)
        yield Row(first.texts, read, identity)


def texts_of(
    paths: Sequence[str], fields: tuple[str, ...], format: str | None, size: int = 2048
) -> Iterator[list[str]]:
    """Read the texts of files, about size of them at a time."""
    selection = Selection(fields=fields, missing="pass")
    rows = (row for path in paths for row in records(path, selection, (), format))
    while batch := [text for row in islice(rows, size) for text in row.texts]:
        yield batch


def _passes(
    path: str, selections: Sequence[Selection], format: str | None
) -> Iterator[tuple[Record, list[Item]]]:
    """Read a file with several selections at once; faults of the first are errors."""
    if streams.is_standard(path):
        raise UsageError("standard input cannot be read twice: give the path of a file")
    module = formats.find(path, format)
    with contextlib.ExitStack() as stack:
        passes = [
            module.read(formats.Input(stack.enter_context(opened), each, path))
            for each in selections
            for opened in (streams.open_input(path, each.encoding),)
        ]
        for first, *others in zip(*passes, strict=True):
            if isinstance(first, Fault):
                raise InputError(f"{first.location}: {first.reason}")
            if isinstance(first, Record):
                yield first, others


def _value(path: str, name: str, item: Item) -> str | None:
    # The record itself has been read, so that a fault can only be the value's.
    if not isinstance(item, Record):
        return None
    if item.identity is None:
        raise UsageError(f"{path}: its format has no field {name!r}")
    if item.identity.startswith('"'):
        with contextlib.suppress(msgspec.DecodeError):
            return str(msgspec.json.decode(item.identity))
    return item.identity


def pairs(
    original: str,
    private: str,
    selection: Selection,
    values: Sequence[str] = (),
    format: str | None = None,
) -> Iterator[Pair]:
    """Read two files in pairs: by the id field of the selection, else in order.

    By id the originals are held in memory, and the order is that of the private file.
    Raises InputError where a record has no partner or other texts.
    """
    one = records(original, selection, values, format)
    two = records(private, selection, (), format)
    join = _in_order if selection.id_field is None else _by_id
    for number, mine, other in join(original, private, one, two):
        if len(mine.texts) != len(other.texts):
            raise InputError(
                f"{private}: record {number} has {len(other.texts)} texts where its "
                f"original has {len(mine.texts)}; give the two files of one run"
            )
        yield Pair(mine.texts, other.texts, mine.values)


def _in_order(
    original: str, private: str, one: Iterator[Row], two: Iterator[Row]
) -> Iterator[tuple[int, Row, Row]]:
    for number, (mine, other) in enumerate(zip_longest(one, two), 1):
        if mine is None or other is None:
            more, fewer = (original, private) if other is None else (private, original)
            raise InputError(
                f"{more}: record {number} has no partner in {fewer}; give the two "
                "files of one run, or --id where records were left out"
            )
        yield number, mine, other


def _by_id(
    original: str, private: str, one: Iterator[Row], two: Iterator[Row]
) -> Iterator[tuple[int, Row, Row]]:
    """Take the original of each private record; originals may be left over."""
    known: dict[str | None, Row] = {}
    for number, row in enumerate(one, 1):
        if row.identity in known:
            raise InputError(
                f"{original}: record {number} has the id of an earlier one"
            )
        known[row.identity] = row
    for number, row in enumerate(two, 1):
        mine = known.pop(row.identity, None)
        if mine is None:
            raise InputError(
                f"{private}: record {number} has an id that no record of {original} "
                "has, or that an earlier one has, too"
            )
        yield number, mine, row
