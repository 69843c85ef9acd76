"""Parquet: texts in columns of strings, lists of strings, and structs of them.

Types: string, large_string, string_view, dictionary of them, list and large_list, and
fields of structs by dotted path. Other columns keep value and type. Nothing that may
depend on the selected texts is copied: no statistics, indexes,
filters, sort orders or footer keys, and not the sizes of row groups, which
writers cut by bytes. The codec is that of another column; metadata of columns is
handled by dptext.formats._arrow. Needs the extra "parquet".
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import formats
from dptext.errors import InputError, MissingExtra
from dptext.formats import (
    Input,
    Item,
    Replacement,
    Unreadable,
    _arrow,
    _fields,
    no_replacement,
)
from dptext.formats._arrow import ROWS, PageRow, RowPage, TableHead
from dptext.formats._arrow_fields import FieldChanges
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim

_GROUP_BYTES = 2**26  # a row group of the output is full at so many bytes
_GROUP_ROWS = 2**17  # or rows


class OpenStream:
    """A stream that a library may still write to after a failed run closed it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.closed = False

    def write(self, data: bytes) -> int:
        """Write; data after closing is ignored."""
        return len(data) if self._stream.closed else self._stream.write(data)

    def flush(self) -> None:
        """Do nothing: the owner flushes the stream."""

    def close(self) -> None:
        """Do nothing: the owner closes the stream."""


class FileHead(NamedTuple):
    """What all rows of a file share, and the treatment of other fields."""

    table: TableHead
    changes: FieldChanges | None

    @property
    def schema(self) -> _arrow.Schema:
        """Return the output schema."""
        return self.table.schema if self.changes is None else self.changes.schema


class Writer(formats.Writer):
    """Writes rows in new row groups, without faulty rows."""

    def __init__(self, stream: BinaryIO, replacement: Replacement) -> None:
        self._sink = OpenStream(stream)
        self._replacement = replacement
        self._head: FileHead | None = None
        self._file: _arrow.File = None
        self._page: RowPage | None = None
        self._kept: list[int] = []  # rows of the page
        self._batches: list[_arrow.Batch] = []  # rows with their old texts, and
        self._new: list[list[_arrow.Value]] = []  # the new values of each column
        self._blocks: list[_arrow.Batch] = []  # rows with new texts
        self._rows, self._bytes = 0, 0  # of all blocks

    def verbatim(self, item: Verbatim) -> None:
        """Take the schema; a second input must have the same one.

        Raises InputError if it differs.
        """
        import pyarrow.parquet as pq

        head = item.rest
        assert isinstance(head, FileHead)
        if self._head is None:
            self._head = head
            self._new = [[] for _ in head.table.columns]
            self._file = pq.ParquetWriter(
                self._sink,
                head.schema,
                compression=head.table.codec,
                use_deprecated_int96_timestamps=head.table.int96,
            )
        elif head.schema.equals(self._head.schema):
            self._rebuild(1)  # the old texts of two inputs may be of different types
        else:
            raise InputError(formats.DIFFERENT)

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Take a record; its page is rebuilt when the next page begins."""
        assert isinstance(record.rest, PageRow)
        page, row = record.rest
        if page is not self._page:
            self._rebuild(ROWS)
            self._page = page
        self._kept.append(row)
        new = iter(texts)
        for into, values in zip(self._new, page.values, strict=True):
            into.append(_arrow.refill(values[row], new))

    def close(self) -> None:
        """Write the held rows and the footer."""
        self._rebuild(1)
        self._write_group()
        if self._file is not None:
            self._file.close()

    def _rebuild(self, least: int) -> None:
        """Put new texts into waiting rows while there are at least `least`.

        Block sizes do not depend on the input's pages.
        """
        import pyarrow as pa

        if self._page is not None and self._kept:
            batch = self._page.batch
            if self._kept != list(range(batch.num_rows)):  # faults, another order
                batch = batch.take(pa.array(self._kept, pa.int32()))
            self._batches.append(batch)
            self._kept = []
        if not self._batches:
            return
        table = pa.Table.from_batches(self._batches)
        while table.num_rows >= least:
            self._add_block(table.slice(0, ROWS))
            table = table.slice(ROWS)
        self._batches = table.to_batches()

    def _add_block(self, table: _arrow.Table) -> None:
        """Add rows with new texts; write a row group when it is full."""
        for batch in table.combine_chunks().to_batches():
            rows = batch.num_rows
            assert self._head is not None
            block = _arrow.with_texts(
                self._head.table, batch, [new[:rows] for new in self._new]
            )
            if self._head.changes is not None:
                block = self._head.changes.apply(block, self._replacement)
            for new in self._new:
                del new[:rows]
            self._blocks.append(block)
            self._rows += block.num_rows
            self._bytes += sum(map(_arrow.size, block.columns))
        if self._bytes >= _GROUP_BYTES or self._rows >= _GROUP_ROWS:
            self._write_group()

    def _write_group(self) -> None:
        import pyarrow as pa

        if self._blocks:
            # In one piece, so that pages do not show where blocks ended.
            table = pa.Table.from_batches(self._blocks).combine_chunks()
            self._blocks, self._rows, self._bytes = [], 0, 0
            self._file.write_table(table, row_group_size=table.num_rows)


_MAGIC = b"PAR1"
IN_MEMORY = 2**30  # bytes of an input that cannot seek


class Format(formats.Format):
    """One record per row; rows in messages count from 1."""

    SUFFIXES: ClassVar = (".parquet", ".pq")
    IS_TEXT: ClassVar = False
    CHANGES_FIELDS: ClassVar = True
    MAY_LACK: ClassVar = True
    IS_STREAMED: ClassVar = False

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per row."""
        stream, selection, location, start = source[:4]
        file = _open(stream, location)
        batches = _batches(file, location)
        # Before the metadata of columns, at which pyarrow ends the process where its
        # reader refuses them.
        first = list(islice(batches, 1))
        head = _head(file, source)
        changes = None
        if selection.changed:
            changes = FieldChanges.from_selection(head.schema, selection, location)
        leaves = _arrow.copied_leaves(file.schema_arrow, selection)
        copied = tuple(leaf.path for leaf, _ in leaves)
        note = _index_note(file.schema_arrow, head, location)
        yield Verbatim(FileHead(head, changes), True, note, copied)
        number = 0
        for batch in chain(first, batches):
            page = RowPage.from_batch(
                head, batch, f"{location}: rows from {number + 1}"
            )
            for row in range(batch.num_rows):
                try:
                    yield page.record(row, selection, start + number)
                except Unreadable as error:
                    raw = _arrow.json_line(batch, row)
                    yield error.fault(f"{location}: row {number + 1}", raw)
                number += 1

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for rows."""
        return Writer(stream, replacement)

    def unchanged(
        self, stream: BinaryIO, selection: Selection
    ) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the values of unselected columns, batch by batch."""
        file = _open(stream, "file")
        copied = _arrow.copied_leaves(file.schema_arrow, selection)
        leaves = [leaf for leaf, _ in copied]
        for batch in _batches(file, "file"):
            for leaf in leaves:
                column = _arrow.values(batch.column(leaf.index), leaf.steps)
                yield leaf.path, list(_arrow.strings(column))

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield a record's copied strings with their paths."""
        assert isinstance(record.rest, PageRow)
        page, row = record.rest
        for leaf, kind in _arrow.copied_leaves(page.head.schema, selection):
            if _arrow.holds_text(kind):
                array = page.batch.column(leaf.index).slice(row, 1)
                (value,) = _arrow.values(array, leaf.steps)
                yield leaf.path, " ".join(filter(None, _arrow.texts(value)))


def _open(stream: BinaryIO, location: str) -> _arrow.File:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra.for_package("Parquet", "parquet") from None
    stream = seekable(stream, location, _MAGIC)
    try:
        return pq.ParquetFile(stream, pre_buffer=False, buffer_size=2**20)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(
            f"{location}: not a Parquet file, truncated, or encrypted; choose another "
            f"format with {option('format')}"
        ) from None


def seekable(stream: BinaryIO, location: str, magic: bytes) -> BinaryIO:
    """Return a seekable stream, in memory if necessary; check its first bytes.

    No temporary file is used: private text would stay on the disk. Raises InputError.
    """
    if stream.seekable():
        return stream
    data = stream.read(len(magic))
    data += stream.read(IN_MEMORY) if data == magic else b""
    if len(data) > IN_MEMORY:
        raise InputError(
            f"{location}: over {IN_MEMORY >> 30} GiB cannot be read from a pipe or a "
            "compressed file; give the path of a plain one"
        )
    return io.BytesIO(data)


def _head(file: _arrow.File, source: Input) -> TableHead:
    selection = source.selection
    private = {_fields.parse(path)[0] for path in selection.fields}
    leaves = [file.schema.column(i) for i in range(file.metadata.num_columns)]
    codec = "SNAPPY"
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    if (group := next((each for each in groups if each.num_rows), None)) is not None:
        for index, leaf in enumerate(leaves):
            if not any(f"{leaf.path}.".startswith(f"{name}.") for name in private):
                codec = group.column(index).compression.replace("UNCOMPRESSED", "NONE")
                break
    int96 = any(leaf.physical_type == "INT96" for leaf in leaves)
    # Of several inputs the first one does not tell how many values come.
    names = private if source.is_alone else ()
    short = {name for name in names if _values(file, name) <= _arrow.FEW}
    head = TableHead.from_schema(file.schema_arrow, selection, source.location, short)
    return replace(head, codec=codec, int96=int96)


def _values(file: _arrow.File, name: str) -> int:
    """Return how many values a column has: a bound on the distinct ones."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    leaves = [file.schema.column(i).path for i in range(file.metadata.num_columns)]
    return sum(
        group.column(index).num_values
        for group in groups
        for index, path in enumerate(leaves)
        if f"{path}.".startswith(f"{name}.")
    )


def _index_note(schema: _arrow.Schema, head: TableHead, location: str) -> str:
    """Name the texts whose dictionary index type differs from the input's."""
    changed = []
    for each in head.columns:
        before, after = (
            _arrow.leaf_type(part.field(each.index).type, each.steps)
            for part in (schema, head.schema)
        )
        if before != after:
            changed.append(f"{each.path!r} ({before.index_type})")
    if not changed:
        return ""
    return (
        f"{location}: the dictionary of {', '.join(changed)} has an int32 index in the "
        "copy, to have room for new texts"
    )


def _batches(file: _arrow.File, location: str) -> Iterator[_arrow.Batch]:
    import pyarrow as pa

    try:
        yield from file.iter_batches(batch_size=ROWS)
    except (pa.ArrowException, OSError):
        raise InputError(
            f"{location}: damaged or encrypted Parquet data; write the file again"
        ) from None
