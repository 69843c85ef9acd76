"""Tables and record batches of pyarrow."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dptext.formats import _arrow
from dptext.frames import Frame
from dptext.frames.columns import Columns


class ArrowTable(Frame[_arrow.Table]):
    """A table or a record batch; the other columns are shared with it.

    What metadata say of the new columns is left out, as in a Parquet file.
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
        """Return the table, or the batch, with new texts."""
        is_batch = isinstance(self.frame, pa.RecordBatch)
        table = pa.Table.from_batches([self.frame]) if is_batch else self.frame
        new = columns(table.select(list(names)), start)
        for name in columns.names(new.schema):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, new.schema.field(name), new.column(name))
        released = _arrow.released(table.schema, columns.selected(table.schema))
        table = table.replace_schema_metadata(released.metadata)
        if not is_batch:
            return table
        arrays = [
            column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            for column in table.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


KINDS = {pa.Table: ArrowTable, pa.RecordBatch: ArrowTable}
