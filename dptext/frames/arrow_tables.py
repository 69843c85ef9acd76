"""Tables and record batches of pyarrow."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dptext.formats import _arrow
from dptext.frames import Frame
from dptext.frames.columns import Columns


class ArrowTable(Frame[_arrow.Table]):
    """A table; the other columns are shared with it.

    What its metadata say of the new columns is left out, as in a Parquet file.
    """

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        names: list[str] = self.frame.schema.names
        return names

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column."""
        return list(self.frame.column(name).slice(0, rows).to_pylist())

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> _arrow.Table:
        """Return the table with new texts."""
        table = self.frame
        new = columns(table.select(list(names)), start)
        for name in columns.names(new.schema):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, new.schema.field(name), new.column(name))
        released = _arrow.released(table.schema, columns.selected(table.schema))
        return table.replace_schema_metadata(released.metadata)


class ArrowBatch(Frame[_arrow.Batch]):
    """A record batch."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        names: list[str] = self.frame.schema.names
        return names

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column."""
        return list(self.frame.column(name).slice(0, rows).to_pylist())

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> _arrow.Batch:
        """Return the batch with new texts."""
        table = pa.Table.from_batches([self.frame])
        new = ArrowTable(table).privatized(names, columns, start)
        arrays = [
            column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            for column in new.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=new.schema)


KINDS = {pa.Table: ArrowTable, pa.RecordBatch: ArrowBatch}
