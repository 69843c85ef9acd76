"""Writing rows back to a Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from dptext import formats
from dptext.errors import InputError
from dptext.formats import _arrow
from dptext.formats._parquet_rows import ROWS, Head, Page, Rest, leaves, rebuilt
from dptext.types import Record, Selection, Verbatim

_GROUP_BYTES = 2**26  # a row group of the output is full at so many bytes
_GROUP_ROWS = 2**17  # or rows


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


class Writer(formats.Writer):
    """Writes rows in row groups of its own; rows that were faults are left out."""

    def __init__(self, stream: BinaryIO, selection: Selection) -> None:
        self._sink = _Sink(stream)
        self._private = selection.fields
        self._head: Head | None = None
        self._file: _arrow.File = None
        self._page: Page | None = None
        self._kept: list[int] = []  # rows of the page
        self._batches: list[_arrow.Batch] = []  # rows with their old texts, and
        self._new: list[list[_arrow.Value]] = []  # the new values of each column
        self._blocks: list[_arrow.Batch] = []  # rows with new texts
        self._rows, self._bytes = 0, 0  # of all blocks

    @property
    def copied(self) -> tuple[str, ...] | None:
        """Return the paths of the columns, and fields in them, that are copied."""
        if self._head is None:
            return None
        return tuple(leaves(self._head.schema, self._private))

    def verbatim(self, item: Verbatim) -> None:
        """Take the schema; that of a second input must be the same.

        Raises InputError when it is not.
        """
        import pyarrow.parquet as pq

        head = item.rest
        assert isinstance(head, Head)
        if self._head is None:
            self._head = head
            self._new = [[] for _ in head.columns]
            self._file = pq.ParquetWriter(
                self._sink,
                head.schema,
                compression=head.codec,
                use_deprecated_int96_timestamps=head.int96,
            )
        elif head.schema.equals(self._head.schema):
            self._rebuild(1)  # the old texts of two inputs may be of different types
        else:
            raise InputError(
                "the columns of the inputs differ, so that one output cannot hold "
                "them; write each input to its own output"
            )

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Take a record; its page is rebuilt when the next one begins."""
        assert isinstance(record.rest, Rest)
        page, row = record.rest
        if page is not self._page:
            self._rebuild(ROWS)
            self._page = page
        self._kept.append(row)
        new = iter(texts)
        for into, values in zip(self._new, page.values, strict=True):
            into.append(_arrow.refill(values[row], new))

    def close(self) -> None:
        """Write all that is held back, and the footer."""
        self._rebuild(1)
        self._write_group()
        if self._file is not None:
            self._file.close()

    def _rebuild(self, least: int) -> None:
        """Put new texts into the rows that wait, while there are so many at least.

        Blocks are of as many rows whatever came in as a page.
        """
        import pyarrow as pa

        self._finish_page()
        if not self._batches:
            return
        table = pa.Table.from_batches(self._batches)
        while table.num_rows >= least:
            self._add_block(table.slice(0, ROWS))
            table = table.slice(ROWS)
        self._batches = table.to_batches()

    def _finish_page(self) -> None:
        import pyarrow as pa

        page, kept = self._page, self._kept
        if page is None or not kept:
            return
        batch = page.batch
        if len(kept) < batch.num_rows:
            batch = batch.take(pa.array(kept, pa.int32()))
        self._batches.append(batch)
        self._kept = []

    def _add_block(self, table: _arrow.Table) -> None:
        """Take rows with new texts; a full row group is written."""
        for batch in table.combine_chunks().to_batches():
            rows = batch.num_rows
            assert self._head is not None
            block = rebuilt(self._head, batch, [new[:rows] for new in self._new])
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
