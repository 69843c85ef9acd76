"""Rows of a partition of a DataFrame, made private by the task that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dptext import failures
from dptext.engines.tally import Start, Tally, Totals
from dptext.errors import InputError
from dptext.metrics import FIRST_TEXTS
from dptext.spark.workers import Shipped
from dptext.types import Selection

try:
    from pyspark.accumulators import AccumulatorParam
except ImportError:  # then nothing here is called
    AccumulatorParam = object

if TYPE_CHECKING:
    from dptext.formats import _arrow

# The column of row numbers, gone from the result: Spark puts the partition above these
# bits, and the row in it below.
NUMBER = "__dptext_row"
_ROWS = 2**33

Done = dict[int, Totals]  # by partition


class Totalled(AccumulatorParam):  # type: ignore[misc, unused-ignore]
    """Collects what partitions count; one that is computed again counts once."""

    def zero(self, value: Done) -> Done:
        """Return the totals of no partition."""
        return {}

    def addInPlace(self, value1: Done, value2: Done) -> Done:
        """Add the totals of more partitions."""
        return value1 | value2


class Partitions:
    """Makes the batches of one partition private; it is sent to every worker.

    counts holds the number of rows of each partition, None where rows have names of
    their own; totals is the accumulator of a report, if there is one.
    """

    def __init__(
        self,
        shipped: Shipped,
        selection: Selection,
        names: tuple[str, ...],
        counts: Mapping[int, int] | None,
        totals: Any,
    ) -> None:
        self._shipped, self._selection, self._names = shipped, selection, names
        self._counts, self._totals = counts, totals

    def __call__(self, batches: Iterator[_arrow.Batch]) -> Iterator[_arrow.Batch]:
        """Give each batch with new texts, without the column of row numbers."""
        with failures.described():
            yield from self._privatized(batches)

    def _privatized(self, batches: Iterator[_arrow.Batch]) -> Iterator[_arrow.Batch]:
        from dptext.frames.arrow_tables import ArrowBatch
        from dptext.frames.columns import Columns

        pipeline = self._shipped.pipeline()
        columns, tally, part = None, None, 0
        for batch in batches:
            rest = batch.select(range(batch.num_columns - 1))
            if columns is None and batch.num_rows:
                part = batch.column(batch.num_columns - 1)[0].as_py() // _ROWS
                tally = Tally.of(pipeline.lexicon, self._start(part))
                key = self._shipped.recipe.key
                columns = Columns(pipeline, key, self._selection, tally)
            if columns is not None:
                begin = self._begin(part) + columns.rows
                rest = ArrowBatch(rest).privatized(self._names, columns, begin)
            yield rest
        if columns is not None and tally is not None:
            self._check(part, columns.rows)
            if self._totals is not None:
                self._totals.add({part: tally.totals})

    def _begin(self, part: int) -> int:
        """Return the number of a partition's first row."""
        if self._counts is None:
            return part * _ROWS
        return sum(count for other, count in self._counts.items() if other < part)

    def _start(self, part: int) -> Start:
        """Return what comes before a partition, its texts taken as one for each row."""
        return Start(0, min(self._begin(part), FIRST_TEXTS))

    def _check(self, part: int, rows: int) -> None:
        if self._counts is not None and rows != self._counts.get(part):
            raise InputError(
                f"partition {part} has {rows} rows, and had {self._counts.get(part)} "
                "when they were counted: name a column with id=, or write the "
                "DataFrame to a file first"
            )
