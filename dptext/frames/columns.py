"""New texts for columns of Arrow tables: the same ones as for a file of these rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dptext import pipeline as pipelines
from dptext.engine.survey import Language
from dptext.engine.tally import Tally
from dptext.errors import InputError, MissingExtra
from dptext.formats import Unreadable, _arrow
from dptext.formats._arrow import ROWS, Head, PageRow, RowPage
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record, Selection

_LOCATION = "the table"


class Columns:
    """Makes the columns of one run private; its tables are rows of one input.

    tally counts what is done, where there is one, and language looks at the first
    records. rows, how many there were so far.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        selection: Selection,
        tally: Tally | None = None,
        language: Language | None = None,
    ) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra.of("a table", "parquet") from None
        self.rows = 0
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._selection = selection
        self._tally = tally
        self._language = language or Language()

    def __call__(self, table: _arrow.Table, start: int = 0) -> _arrow.Table:
        """Return a table with new texts; start is the number of its first row.

        The schema is the same but for what may tell of the old texts: metadata, and the
        width of a dictionary's index. Raises InputError for a column that holds no
        text, and for a null where none may be.
        """
        import pyarrow as pa

        head = Head.of(table.schema, self._selection, _LOCATION)
        head = replace(head, schema=head.schema.remove_metadata())
        batches = list(self._batches(head, table, start))
        self._language.close()
        self.rows += table.num_rows
        if self._tally is not None:
            counts = dict.fromkeys(self._selection.fields, table.num_rows)
            self._tally.fields.update(counts)
        return pa.Table.from_batches(batches, schema=head.schema).unify_dictionaries()

    def selected(self, schema: _arrow.Schema) -> tuple[_arrow.ArrowColumn, ...]:
        """Return where the texts stand in a table. Raises InputError."""
        return _arrow.columns(schema, self._selection.fields, _LOCATION)

    def names(self, schema: _arrow.Schema) -> list[str]:
        """Return the names of the columns that hold texts: those that change."""
        numbers = (column.index for column in self.selected(schema))
        return [schema.names[number] for number in dict.fromkeys(numbers)]

    def _batches(
        self, head: Head, table: _arrow.Table, start: int
    ) -> Iterator[_arrow.Batch]:
        """Give the rows with new texts, a page at a time."""
        records = self._records(head, table, start)
        page: RowPage | None = None
        new: list[list[_arrow.Value]] = []
        for batch in pipelines.batches(records):
            self._language.look(batch)
            private = self._pipeline.privatize(batch, self._randomness)
            if self._tally is not None:
                self._tally.count(private)
            for record, texts in zip(batch, private.texts, strict=True):
                assert isinstance(record.rest, PageRow)
                if record.rest.page is not page:
                    if page is not None:
                        yield _arrow.with_texts(head, page.batch, new)
                    page, new = record.rest.page, [[] for _ in head.columns]
                left = iter(texts)
                for into, values in zip(new, page.values, strict=True):
                    into.append(_arrow.refill(values[record.rest.row], left))
        if page is not None:
            yield _arrow.with_texts(head, page.batch, new)

    def _records(self, head: Head, table: _arrow.Table, start: int) -> Iterator[Record]:
        number = start
        for batch in table.to_batches(max_chunksize=ROWS):
            page = RowPage.of(head, batch, f"{_LOCATION}: rows from {number}")
            for row in range(batch.num_rows):
                try:
                    yield page.record(row, self._selection, number)
                except Unreadable as error:
                    is_id = str(error).startswith("id field")
                    advice = "" if is_id else "; missing='pass' leaves nulls unchanged"
                    raise InputError(
                        f"row {number}, counted from 0: {error}{advice}"
                    ) from None
                number += 1


def array(values: Any, name: str) -> _arrow.Array:
    """Return a column of Python values as an Arrow array.

    A column of nulls alone is taken for one of texts. Raises InputError for values of
    which Arrow can make no column; its own message would quote them.
    """
    import pyarrow as pa

    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(
            f"column {name!r} holds values of several types; make all of them texts"
        ) from None
    if _arrow.is_kind(column.type, "is_null"):
        return column.cast(pa.string())
    return column
