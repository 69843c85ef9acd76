"""Parquet: texts in columns of strings, lists of strings, and structs of them.

Types: string, large_string, string_view, dictionary of them, list and large_list, and
fields of structs by dotted path. Other columns keep value and type; schema, metadata,
row groups (up to 64 MiB in memory) and the codec of the first column are kept.
Needs the extra "parquet".
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from dptext.errors import InputError, MissingExtra
from dptext.formats import _arrow, _paths
from dptext.formats._lines import Unreadable, too_long
from dptext.types import Fault, Record, Selection, Verbatim

SUFFIXES: tuple[str, ...] = (".parquet", ".pq")

File = Any  # a pyarrow.parquet.ParquetFile

_ROWS = 1024  # rows of a page
_IN_MEMORY = 2**30  # bytes of an input that cannot seek
_HELD = 2**26  # bytes of a row group that the writer holds back


@dataclass(frozen=True, slots=True)
class Head:
    """What all rows of a file share."""

    schema: _arrow.Schema
    columns: tuple[_arrow.Column, ...]
    codec: str
    int96: bool


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some rows of one row group, and their selected values: one list per column."""

    head: Head
    group: int
    batch: _arrow.Batch
    values: list[list[_arrow.Value]]
    identities: list[_arrow.Value] | None


def read(
    stream: BinaryIO, selection: Selection, place: str, start: int = 0
) -> Iterator[Record | Verbatim | Fault]:
    """Read one record per row; rows in messages count from 1."""
    file = _open(stream, place)
    head = _head(file, selection, place)
    identity = None
    if selection.id_field is not None:
        identity = _arrow.column(head.schema, selection.id_field, place, is_text=False)
    yield Verbatim(head, header=True)
    number = 0
    for group, batch in _batches(file, place):
        page = _page(head, group, batch, identity, f"{place}: rows from {number + 1}")
        for row in range(batch.num_rows):
            try:
                texts, name = _row(page, row, selection)
                yield Record(start + number, texts, Rest(page, row), name)
            except Unreadable as error:
                raw = _arrow.json_line(batch, row)
                yield Fault(f"{place}: row {number + 1}", str(error), raw)
            number += 1


def _open(stream: BinaryIO, place: str) -> File:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra.of("Parquet", "parquet") from None
    if not stream.seekable():
        # Not a temporary file: private text would stay on the disk.
        data = stream.read(_IN_MEMORY + 1)
        if len(data) > _IN_MEMORY:
            msg = (
                f"{place}: over {_IN_MEMORY >> 30} GiB cannot be read from a pipe or "
                "a compressed file; give the path of a plain one"
            )
            raise InputError(msg)
        stream = io.BytesIO(data)
    try:
        return pq.ParquetFile(stream, pre_buffer=False, buffer_size=2**20)
    except (pa.ArrowException, OSError):
        msg = f"{place}: not a Parquet file, or cut off; choose with --format"
        raise InputError(msg) from None


def _head(file: File, selection: Selection, place: str) -> Head:
    schema, metadata = file.schema_arrow, file.metadata
    found = {_arrow.column(schema, path, place) for path in selection.fields}
    columns = tuple(sorted(found, key=lambda column: (column.place, column.steps)))
    codec = "SNAPPY"
    if metadata.num_row_groups and metadata.num_columns:
        codec = metadata.row_group(0).column(0).compression
    leaves = (file.schema.column(i) for i in range(metadata.num_columns))
    int96 = any(leaf.physical_type == "INT96" for leaf in leaves)
    return Head(schema, columns, codec.replace("UNCOMPRESSED", "NONE"), int96)


def _batches(file: File, place: str) -> Iterator[tuple[int, _arrow.Batch]]:
    """Give the rows of each row group, a page at a time."""
    import pyarrow as pa

    try:
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
                yield group, batch
    except (pa.ArrowException, OSError):
        msg = f"{place}: damaged Parquet data; write the file again"
        raise InputError(msg) from None


def _page(
    head: Head,
    group: int,
    batch: _arrow.Batch,
    identity: _arrow.Column | None,
    place: str,
) -> Page:
    def of(column: _arrow.Column) -> list[_arrow.Value]:
        return _arrow.values(batch.column(column.place), column.steps)

    try:
        identities = None if identity is None else of(identity)
        return Page(head, group, batch, [of(c) for c in head.columns], identities)
    except UnicodeDecodeError:
        msg = f"{place}: not valid UTF-8; write the file again with strings as UTF-8"
        raise InputError(msg) from None


def _row(
    page: Page, row: int, selection: Selection
) -> tuple[tuple[str, ...], str | None]:
    """Return the texts and the identity of a row."""
    texts: list[str] = []
    for column, values in zip(page.head.columns, page.values, strict=True):
        value = values[row]
        for text in (value,) if isinstance(value, str) else _arrow.texts(value):
            if text is not None:
                texts.append(text)
            elif selection.missing != "pass":
                msg = f"field {column.path!r} is null"
                raise Unreadable(msg)
    if sum(map(len, texts)) > selection.max_record_bytes:
        raise Unreadable(too_long(selection.max_record_bytes))
    if page.identities is None:
        return tuple(texts), None
    name = page.identities[row]
    if name is None or isinstance(name, (dict, list)):
        how = "is null" if name is None else "is nested; it must be one value"
        msg = f"id field {selection.id_field!r} {how}"
        raise Unreadable(msg)
    return tuple(texts), json.dumps(name, ensure_ascii=False, default=str)


class Rest(NamedTuple):
    """Where a record came from."""

    page: Page
    row: int


class _Sink:
    """A stream that pyarrow may write to even when a failed run has closed it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.closed = False

    def write(self, data: bytes) -> int:
        return len(data) if self._stream.closed else self._stream.write(data)

    def flush(self) -> None:
        """Leave that to the owner of the stream."""

    def close(self) -> None:
        """Leave that to the owner of the stream."""


class Writer:
    """Writes rows in row groups as they came; rows that were faults are left out."""

    def __init__(self, stream: BinaryIO, selection: Selection) -> None:
        self._sink = _Sink(stream)
        self._private = selection.fields
        self._head: Head | None = None
        self._file: Any = None
        self._schema: _arrow.Schema = None
        self._page: Page | None = None
        self._kept: list[tuple[int, Sequence[str]]] = []
        self._held: list[_arrow.Batch] = []
        self._bytes = 0

    @property
    def copied(self) -> tuple[str, ...] | None:
        """Return the paths of the columns, and fields in them, that are copied."""
        if self._head is None:
            return None
        return tuple(_leaves(self._head.schema, self._private))

    def verbatim(self, item: Verbatim) -> None:
        """Take the schema; that of a second input must be the same.

        Raises InputError when it is not.
        """
        import pyarrow.parquet as pq

        head = item.rest
        assert isinstance(head, Head)
        self._write_group()
        if self._head is None:
            self._head, schema = head, head.schema
            for column in head.columns:
                field = schema.field(column.place)
                field = field.with_type(_arrow.retyped(field.type, column.steps))
                schema = schema.set(column.place, field)
            self._schema = schema
            self._file = pq.ParquetWriter(
                self._sink,
                schema,
                compression=head.codec,
                use_deprecated_int96_timestamps=head.int96,
            )
        elif not head.schema.equals(self._head.schema):
            msg = (
                "the columns of the inputs differ, so that one output cannot hold "
                "them; write each input to its own output"
            )
            raise InputError(msg)

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Take a record; its page is written when the next one begins."""
        assert isinstance(record.rest, Rest)
        page, row = record.rest
        if page is not self._page:
            self._finish_page()
            if self._page is not None and self._page.group != page.group:
                self._write_group()
            self._page = page
        self._kept.append((row, texts))

    def close(self) -> None:
        """Write all that is held back, and the footer."""
        self._write_group()
        if self._file is not None:
            self._file.close()

    def _finish_page(self) -> None:
        """Put the new texts of a page into its columns."""
        import pyarrow as pa

        page, kept = self._page, self._kept
        if page is None or not kept:
            return
        batch = page.batch
        if len(kept) < batch.num_rows:
            batch = batch.take(pa.array([row for row, _ in kept], pa.int32()))
        filled: list[list[_arrow.Value]] = [[] for _ in page.values]
        for row, texts in kept:
            new = iter(texts)
            for into, values in zip(filled, page.values, strict=True):
                into.append(_arrow.refill(values[row], new))
        arrays = list(batch.columns)
        for column, into in zip(page.head.columns, filled, strict=True):
            kind = self._schema.field(column.place).type
            arrays[column.place] = _arrow.rebuilt(
                arrays[column.place], kind, column.steps, into
            )
        done = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        self._kept = []
        self._held.append(done)
        self._bytes += done.nbytes
        if self._bytes >= _HELD:
            self._write_group()

    def _write_group(self) -> None:
        import pyarrow as pa

        self._finish_page()
        if self._held:
            table = pa.Table.from_batches(self._held, self._schema)
            self._held, self._bytes = [], 0
            self._file.write_table(table, row_group_size=table.num_rows)


def copied(stream: BinaryIO, selection: Selection) -> Iterator[str]:
    """Give the paths of all columns, and fields in them, that are not selected.

    Raises InputError when a selected one is not there.
    """
    schema = _open(stream, "file").schema_arrow
    for path in selection.fields:
        _arrow.column(schema, path, "file")
    yield from _leaves(schema, selection.fields)


def _leaves(schema: _arrow.Schema, fields: tuple[str, ...]) -> Iterator[str]:
    """Give the paths of all leaves that are none of these fields."""
    texts = {_paths.joined(_paths.parse(path)) for path in fields}
    return (path for path in _arrow.leaves(schema) if path not in texts)
