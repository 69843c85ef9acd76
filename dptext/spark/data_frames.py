"""DataFrames of Spark: text columns become private where they lie, row by row."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from dptext import profile as profiles
from dptext.calls import Call, Choices, Missing, Path
from dptext.engines.pool import Recipe
from dptext.engines.tally import Tally
from dptext.errors import UsageError
from dptext.spark import workers
from dptext.spark.partitions import NUMBER, Partitions, Totalled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dptext.report.document import Document
    from dptext.types import Selection


# Archives of lexicons: an action may ask for them at any time.
_SENT = contextlib.ExitStack()
atexit.register(_SENT.close)


class Counts:
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
    **choices: Unpack[Choices],
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
    **choices: Unpack[Choices],
) -> tuple[DataFrame, Counts]: ...
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    id: str | None = None,
    missing: Missing = "fail",
    report: bool = False,
    **choices: Unpack[Choices],
) -> DataFrame | tuple[DataFrame, Counts]:
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

    from dptext.frames.arrow_tables import ArrowTable
    from dptext.frames.columns import Columns

    if NUMBER in df.columns:
        raise UsageError(f"columns: rename column {NUMBER!r}, whose name is taken")
    schema = to_arrow_schema(df.schema)
    paths = [columns] if isinstance(columns, str) else list(columns)
    empty = ArrowTable(pa.Table.from_batches([], schema))
    selection, names = empty.selected(paths, id, missing)
    call = Call(profile, overrides, choices)
    Columns(call.pipeline, call.key, selection).selected(schema)
    context = df.sparkSession.sparkContext
    archive = _SENT.enter_context(workers.sent(context, call.pipeline.lexicon))
    with_numbers = df.withColumn(NUMBER, functions.monotonically_increasing_id())
    counts = None
    if id is None:
        grouped = df.groupBy(functions.spark_partition_id()).count().collect()
        counts = {int(part): int(count) for part, count in grouped}
    totals = context.accumulator({}, Totalled())
    work = Partitions(
        workers.Shipped(Recipe.of(call.pipeline, call.key), archive),
        selection,
        tuple(names),
        counts,
        totals if report else None,
    )
    # Spark looks at the arguments of a function, and takes no other callable.
    private = with_numbers.mapInArrow(lambda batches: work(batches), df.schema)
    return (private, Counts(call, selection, totals)) if report else private
