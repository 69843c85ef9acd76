"""Spark as the engine: folders of files, and DataFrames.

The driver prepares settings, key and public measures; tasks read, make private and
count, files in dptext.spark.session and rows of a DataFrame here, by the same code as
one machine alone: text columns become private in place, row by row, made by the task
that reads the partition. pyspark is imported where it is used.
"""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from dptext import profile as profiles
from dptext import registry
from dptext.api import Call, CallChoices, Missing, Path, warn
from dptext.engine import survey
from dptext.engine.job import Recipe
from dptext.engine.tally import Start, Tally, Totals
from dptext.errors import InputError, UsageError
from dptext.metrics import FIRST_TEXTS
from dptext.spark import session
from dptext.spark.session import Shipped
from dptext.types import Selection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dptext.formats import _arrow
    from dptext.report.document import Document

try:
    from pyspark.accumulators import AccumulatorParam
except ImportError:  # then nothing here is called
    AccumulatorParam = object


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
        with registry.describe_failure():
            yield from self._privatized(batches)

    def _privatized(self, batches: Iterator[_arrow.Batch]) -> Iterator[_arrow.Batch]:
        from dptext.frames import ArrowTable, PrivateColumns

        pipeline = self._shipped.pipeline()
        columns, tally, part = None, None, 0
        for batch in batches:
            rest = batch.select(range(batch.num_columns - 1))
            if columns is None and batch.num_rows:
                part = batch.column(batch.num_columns - 1)[0].as_py() // _ROWS
                # The texts before are taken as one for each row.
                start = Start(0, min(self._begin(part), FIRST_TEXTS))
                tally = Tally.of(pipeline.lexicon, start)
                key = self._shipped.recipe.key
                columns = PrivateColumns(pipeline, key, self._selection, tally)
            if columns is not None:
                begin = self._begin(part) + columns.rows
                rest = ArrowTable(rest).privatized(self._names, columns, begin)
            yield rest
        if columns is not None and tally is not None:
            counted = None if self._counts is None else self._counts.get(part)
            if self._counts is not None and columns.rows != counted:
                raise InputError(
                    f"partition {part} has {columns.rows} rows, and had {counted} when "
                    "they were counted: name a column with id=, or write the DataFrame "
                    "to a file first"
                )
            if self._totals is not None:
                self._totals.add({part: tally.totals})

    def _begin(self, part: int) -> int:
        """Return the number of a partition's first row."""
        if self._counts is None:
            return part * _ROWS
        return sum(count for other, count in self._counts.items() if other < part)


# Archives of lexicons: an action may ask for them at any time.
_SENT = contextlib.ExitStack()
atexit.register(_SENT.close)


class DataFrameCounts:
    """What the tasks of a DataFrame have counted so far, as a report."""

    def __init__(self, call: Call, selection: Selection, totals: Any) -> None:
        self._call, self._selection, self._totals = call, selection, totals

    def report(self) -> Document:
        """Return the internal report of the partitions that are done.

        A partition counts once, however often Spark computes it. Before any action
        there is none; where an action takes only some rows, as `show` does, those
        partitions count that were read to their end.
        """
        tally = Tally.of(self._call.pipeline.lexicon)
        for _, totals in sorted(self._totals.value.items()):
            tally.merge(totals)
        self._call.tally = tally
        return self._call.report(self._selection)


Counts = DataFrameCounts  # as programs know it


@overload
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    id: str | None = ...,
    missing: Missing = ...,
    report: Literal[False] = ...,
    **choices: Unpack[CallChoices],
) -> DataFrame: ...
@overload
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    id: str | None = ...,
    missing: Missing = ...,
    report: Literal[True],
    **choices: Unpack[CallChoices],
) -> tuple[DataFrame, DataFrameCounts]: ...
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    id: str | None = None,
    missing: Missing = "fail",
    report: bool = False,
    **choices: Unpack[CallChoices],
) -> DataFrame | tuple[DataFrame, DataFrameCounts]:
    """Replace the words of columns of a DataFrame of Spark, when an action asks for it.

    Arguments, and the texts under a key, are those of `dptext.privatize` for the table
    that the DataFrame would give, with its rows in the order of `collect`. For that
    rows are counted at once, unless id names a column that randomness goes by. The key,
    a fresh one where none is given, is drawn by the driver: a task that is tried again,
    or run twice, writes the same texts.

    With report=True comes, as a second result, what gives the report after an action.

    Raises UsageError and LexiconError for settings, InputError for columns that hold no
    texts; tasks raise InputError for nulls, and where the rows of a partition are not
    as many as were counted.
    """
    import pyarrow as pa
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import to_arrow_schema

    from dptext.frames import ArrowTable, PrivateColumns

    if NUMBER in df.columns:
        raise UsageError(
            f"columns: rename column {NUMBER!r}, because dptext uses this name"
        )
    schema = to_arrow_schema(df.schema)
    paths = [columns] if isinstance(columns, str) else list(columns)
    empty = ArrowTable(pa.Table.from_batches([], schema))
    selection, names = empty.selected(paths, id, missing)
    call = Call(profile, overrides, choices)
    PrivateColumns(call.pipeline, call.key, selection).selected(schema)
    if kinds := empty.identifying(selection):
        warn(survey.warning(kinds, "columns="))
    context = df.sparkSession.sparkContext
    archive = _SENT.enter_context(session.sent(context, call.pipeline.lexicon))
    with_numbers = df.withColumn(NUMBER, functions.monotonically_increasing_id())
    counts = None
    if id is None:
        grouped = df.groupBy(functions.spark_partition_id()).count().collect()
        counts = {int(part): int(count) for part, count in grouped}
    totals = context.accumulator({}, Totalled())
    work = Partitions(
        Shipped(Recipe.of(call.pipeline, call.key), archive),
        selection,
        tuple(names),
        counts,
        totals if report else None,
    )
    # Spark looks at the arguments of a function, and takes no other callable.
    private = with_numbers.mapInArrow(lambda batches: work(batches), df.schema)
    return (private, DataFrameCounts(call, selection, totals)) if report else private
