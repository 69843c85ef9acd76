"""Spark as the engine: folders of files, and DataFrames.

The driver prepares settings, key and public measurements; tasks read, sanitize and
count, with the same code as on a single machine. A file is one task, which writes
output and sidecar as on a single machine: under hidden names, renamed when complete; so
a task that is killed, or run twice, leaves the same bytes. Text columns of a DataFrame
are sanitized in place, by the task that reads the partition. pyspark is imported
on use.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import accumulate
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from dptext import failures, keywords, lexicons, metrics, progress, sanitizer
from dptext.api import Overrides, StrPath
from dptext.engine import files, identifying
from dptext.engine.job import Job, Recipe, Written
from dptext.engine.run import Inspect, Run
from dptext.engine.source import Source, check_readable
from dptext.engine.tally import Tally, Totals
from dptext.errors import (
    DptextError,
    InputError,
    InternalError,
    MissingExtra,
    UsageError,
)
from dptext.frames import ArrowTable, PrivateColumns
from dptext.lexicons import store, topics
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.run.interface import noun, shown_in
from dptext.run.python import CHOICES, OF_TABLES, TABLE, fill, named, takes
from dptext.run.selection import Selection
from dptext.types import Lexicon

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dptext.formats import _arrow
    from dptext.report.notebook import Report

try:
    from pyspark.accumulators import AccumulatorParam
except ImportError:  # then nothing here is called
    AccumulatorParam = object

Spark = Any  # a SparkSession or SparkContext: pyspark need not be there
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
# The result of a task that failed: trying again would not help.
Failure = DptextError | InternalError | OSError

_TOPICS = "topics.json"  # a file of topics in an archive
_READY: dict[tuple[str, str], Pipeline] = {}


class Shipped(NamedTuple):
    """What workers need to build a pipeline.

    archive: name of the lexicon files that were sent to them; "" if every
    machine has them, as for the built-in lexicon.
    """

    recipe: Recipe
    archive: str = ""

    def pipeline(self) -> Pipeline:
        """Build the pipeline; the lexicon's arrays are memory-mapped.

        Raises LexiconError and UsageError if a file differs from the driver's.
        """
        name = self.recipe.digest, self.recipe.identity
        if name not in _READY:
            source = self.recipe.profile.lexicon
            if self.archive:
                from pyspark import SparkFiles

                source = SparkFiles.get(self.archive)
                if (named := topics.split(self.recipe.profile.lexicon)) is not None:
                    source = topics.named(os.path.join(source, _TOPICS), named[1])
            _READY.clear()
            _READY[name] = self.recipe.pipeline(lexicons.find(source))
        return _READY[name]


def attempted(work: Callable[P, T]) -> Callable[P, T | Failure]:
    """Wrap `work` to return its error, described without any text."""

    @wraps(work)
    def result(*args: P.args, **kwargs: P.kwargs) -> T | Failure:
        try:
            with failures.describe_failure():
                return work(*args, **kwargs)
        except (DptextError, InternalError, OSError) as error:
            return error

    return result


@contextlib.contextmanager
def sent(context: Spark, lexicon: Lexicon) -> Iterator[str]:
    """Have Spark copy a lexicon to every machine once; yield the archive's name.

    Nothing is sent for the built-in lexicon or on a single machine.
    """
    is_builtin = lexicon.digest == lexicons.builtin_digest()
    if is_builtin or context.master.startswith("local["):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, f"{lexicon.digest[:16]}.tar")
        if topics.topic_meta(lexicon) is None:
            store.save(lexicon, pathlib.Path(folder, "lexicon"))
        else:
            copy = pathlib.Path(folder, "lexicon", _TOPICS)
            copy.parent.mkdir()
            copy.write_bytes(topics.encode(topics.topic_file(lexicon)))
        with tarfile.open(archive, "w") as packed:
            for path in sorted(pathlib.Path(folder, "lexicon").iterdir()):
                packed.add(path, path.name)
        context.addArchive(archive)
        yield os.path.basename(archive)


# On one machine Spark gives up at the first failure, elsewhere at the fourth.
_LOCAL = re.compile(r"local(?:\[([0-9]+|\*)\])?")
_TRIES = 4
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # of the driver: an error is one line
}
# The names of Spark's own conditions; the rest of its messages may quote data.
_CONDITION = re.compile(r"\[([A-Z][A-Z_.]+)\]")


@contextlib.contextmanager
def open_session(master: str | None = None) -> Iterator[SparkSession]:
    """Start Spark for a block, or use and keep an existing session.

    The default master is that of spark-submit, else all cores of this machine. Raises
    MissingExtra, and UsageError if Spark cannot start.
    """
    spark_session = installed()
    active = spark_session.getActiveSession()
    if active is not None:
        yield active
        return
    builder = spark_session.builder.appName("dptext")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    if master is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        master = "local[*]"
    if master is not None:
        local = _LOCAL.fullmatch(master)
        if local:  # workers are this Python, not that of the path
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        tries = f"local[{local[1] or 1},{_TRIES}]" if local else master
        builder = builder.master(tries)
    try:
        waited = f"waiting for Spark at {master or 'its master'}"
        with progress.step(waited), _quiet():
            started = builder.getOrCreate()
    except Exception as error:
        lines = "its own lines above" if progress.enabled() else "a run without -q"
        raise UsageError(
            f"{noun('master')} {master}: Spark could not be started "
            f"({_reason(error)}); "
            f"{lines} may tell more"
        ) from None
    try:
        yield started
    finally:
        started.stop()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Start Java with standard error suppressed, unless notes are wanted.

    No setting can suppress the lines that it writes before it reads settings.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # about versions of pandas
        if not progress.enabled():
            kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, 2)
            os.dup2(nowhere, 2)
            os.close(nowhere)
        yield


def run_tasks(
    spark: SparkSession,
    work: Callable[[S], T | Failure],
    items: Sequence[S],
    passed: tuple[type[InputError], ...] = (),
) -> list[T | InputError]:
    """Run work on each item in a separate task; return the results in order.

    Raises the first error returned, except errors of types in `passed`, which are
    results, and DptextError if tasks fail.
    """
    tasks = spark.sparkContext.parallelize(items, len(items)).map(work)
    try:
        results = tasks.collect()
    except Exception as error:
        raise DptextError(
            f"Spark ended the run ({_reason(error)}): a task failed {_TRIES} times, or "
            "the cluster was lost; see the executors' logs"
        ) from None
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, passed):
            raise result
    return cast("list[T | InputError]", results)


def installed() -> Any:
    """Return Spark's session class. Raises MissingExtra, UsageError without Java."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra.for_package("Spark", "spark") from None
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise UsageError(
            "Spark needs Java, which is missing: install a runtime (on Debian "
            "default-jre-headless), or set JAVA_HOME"
        )
    return SparkSession


def _reason(error: Exception) -> str:
    """Describe an error without its message, which may contain text."""
    conditions = _CONDITION.findall(str(error))
    return conditions[0] if conditions else type(error).__name__


class FileOutcome(NamedTuple):
    """Output, counts and warnings of a task."""

    written: Written
    totals: Totals
    warnings: list[str]


@attempted
def count_texts(job: Job) -> int:
    """Count the texts of a file, up to FIRST_TEXTS."""
    check_readable(job)
    source = Source(job, None)
    with contextlib.ExitStack() as stack:
        source.open(stack)
        return source.count_texts()


@attempted
def make_private(
    task: tuple[Job, int],
    shipped: Shipped,
    measures: PublicMeasures,
    sidecar: bool,
    inspect: Inspect | None = None,
) -> FileOutcome:
    """Sanitize a file: its output appears with a sidecar that has these measures.

    task: the job, and the number of earlier texts in the run.
    """
    (job, texts), warnings = task, list[str]()
    run = Run(
        shipped.pipeline(),
        shipped.recipe.key,
        measures=measures,
        texts=texts,
        inspect=inspect,
        warn=warnings.append,
    )
    written = run.release(job, files.SignedReports(sidecar=sidecar))
    return FileOutcome(written, run.tally.totals, warnings)


def release(
    run: Run,
    jobs: Sequence[Job],
    reports: files.SignedReports,
    master: str | None,
    warn: Callable[[str], None],
) -> list[tuple[Job, Written]]:
    """Execute jobs with one file each; every output appears with its sidecar.

    The first texts of each file are counted in advance, so that figures on the first
    texts of a run are as on a single machine. Raises the errors of Run.release for the
    first job that failed; the outputs of other jobs exist.
    """
    began = time.monotonic()
    path = os.path.abspath  # a name that processes in other folders find
    there = [
        replace(job, inputs=tuple(map(path, job.inputs)), output=path(job.output or ""))
        for job in jobs
    ]
    with open_session(master) as spark:
        passed = () if jobs[0].work.treatment == "fail" else (InputError,)
        counted = run_tasks(spark, count_texts, there, passed)
        counts = [0 if isinstance(each, InputError) else each for each in counted]
        with sent(spark.sparkContext, run.pipeline.lexicon) as archive:
            work = partial(
                make_private,
                shipped=Shipped(Recipe.from_pipeline(run.pipeline, run.key), archive),
                measures=run.measures,
                sidecar=reports.sidecar,
                inspect=run.inspect,
            )
            tasks = list(zip(there, accumulate(counts, initial=0), strict=False))
            outcomes = run_tasks(spark, work, tasks, passed)
    written = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, InputError):
            run.leave_out(job, outcome)
            continue
        run.tally.merge(outcome.totals)
        for line in outcome.warnings:
            warn(line)
        written.append((job, outcome.written))
    run.tally.seconds += time.monotonic() - began
    return written


# The column of row numbers, gone from the result: Spark puts the partition above these
# bits, and the row in it below.
NUMBER = "__dptext_row"
_ROWS = 2**33

Done = dict[int, Totals]  # by partition


class TallyParam(AccumulatorParam):  # type: ignore[misc, unused-ignore]
    """Collects the counts of partitions; a recomputed partition counts once."""

    def zero(self, value: Done) -> Done:
        """Return the totals of no partitions."""
        return {}

    def addInPlace(self, value1: Done, value2: Done) -> Done:
        """Add the totals of more partitions."""
        return value1 | value2


class Partitions:
    """Sanitizes the batches of a partition; it is sent to every worker.

    counts: the number of rows of each partition, None if rows have ids; totals:
    the accumulator for a report, if requested.
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
        """Yield each batch with new texts, without the row number column."""
        with failures.describe_failure(), shown_in(TABLE):
            yield from self._privatized(batches)

    def _privatized(self, batches: Iterator[_arrow.Batch]) -> Iterator[_arrow.Batch]:
        pipeline = self._shipped.pipeline()
        columns, tally, part = None, None, 0
        for batch in batches:
            rest = batch.select(range(batch.num_columns - 1))
            if columns is None and batch.num_rows:
                part = batch.column(batch.num_columns - 1)[0].as_py() // _ROWS
                # The texts before are taken as one for each row.
                before = min(self._begin(part), metrics.FIRST_TEXTS)
                tally = Tally.begin(pipeline.lexicon, before)
                key = self._shipped.recipe.key
                columns = PrivateColumns(
                    pipeline, key, self._selection, tally, is_whole=False
                )
            if columns is not None:
                begin = self._begin(part) + columns.rows
                rest = ArrowTable(rest).privatized(self._names, columns, begin)
            yield rest
        if columns is not None and tally is not None:
            counted = None if self._counts is None else self._counts.get(part)
            if self._counts is not None and columns.rows != counted:
                raise InputError(
                    f"partition {part} has {columns.rows} rows, but {counted} were "
                    "counted: name an id column with id=, or write the DataFrame to a "
                    "file first"
                )
            if self._totals is not None:
                self._totals.add({part: tally.totals})

    def _begin(self, part: int) -> int:
        """Return the row number at which a partition begins."""
        if self._counts is None:
            return part * _ROWS
        return sum(count for other, count in self._counts.items() if other < part)


# Archives of lexicons: an action may ask for them at any time.
_SENT = contextlib.ExitStack()
atexit.register(_SENT.close)


class DataFrameCounts:
    """Counts of a DataFrame's finished tasks, as a report."""

    def __init__(self, call: sanitizer.Call, selection: Selection, totals: Any) -> None:
        self._call, self._selection, self._totals = call, selection, totals

    def report(self) -> Report:
        """Return the internal report on the finished partitions.

        A partition counts once, however often Spark computes it. Before any action none
        none have been counted; if an action takes only some rows, as `show` does, those
        partitions count that were read completely.
        """
        tally = Tally.begin(self._call.pipeline.lexicon)
        for _, totals in sorted(self._totals.value.items()):
            tally.merge(totals)
        self._call.tally = tally
        return self._call.end(self._selection)()


Counts = DataFrameCounts  # as programs know it


@overload
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[False] = ...,
    **options: Unpack[keywords.TableCall],
) -> DataFrame: ...
@overload
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[True],
    **options: Unpack[keywords.TableCall],
) -> tuple[DataFrame, DataFrameCounts]: ...
@takes(*OF_TABLES, *CHOICES)
def privatize(
    df: DataFrame,
    columns: str | Sequence[str],
    profile: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    report: bool = False,
    **options: Unpack[keywords.TableCall],
) -> DataFrame | tuple[DataFrame, DataFrameCounts]:
    """Replace the words in columns of a Spark DataFrame, lazily.

    Arguments, and the texts under a key, are as for `dptext.privatize` on the table
    that the DataFrame would give, with rows in the order of `collect`. For that, rows
    are counted immediately, unless id names a column that randomness depends on. The
    key, fresh if none is given, is drawn by the driver: a task that is retried or run
    twice writes the same texts.

    With report=True the second result gives the report after an action.

    Raises UsageError and LexiconError for settings, InputError for columns that hold no
    texts; tasks raise InputError for nulls, and if a partition has not
    as many rows as were counted.
    """
    import pyarrow as pa
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    if NUMBER in df.columns:
        raise UsageError(
            f"columns: rename column {NUMBER!r}, because dptext uses this name"
        )
    schema = to_arrow_schema(df.schema)
    with shown_in(TABLE):
        empty = ArrowTable(pa.Table.from_batches([], schema))
        chosen = fill(Selection, {"fields": columns, **options})
        selection, names = empty.selected(chosen)
        choices = named(CHOICES, options)
        call = sanitizer.Sanitizer.for_one_call(profile, overrides, **choices).begin()
        private_columns = PrivateColumns(call.pipeline, call.key, selection)
        private_columns.selected(schema)
    new_schema = df.schema
    if selection.changed:
        new = empty.privatized(names, private_columns, 0).schema
        # Types of Arrow and of Spark are not one to one: others stay unchanged.
        fields = [
            df.schema[field.name]
            if field.type == schema.field(field.name).type
            else from_arrow_schema(pa.schema([field]))[0]
            for field in new
        ]
        new_schema = StructType(fields)
    if kinds := empty.identifying(selection):
        with shown_in(TABLE):
            call.warn(identifying.warning(kinds))
    context = df.sparkSession.sparkContext
    archive = _SENT.enter_context(sent(context, call.pipeline.lexicon))
    with_numbers = df.withColumn(NUMBER, functions.monotonically_increasing_id())
    counts = None
    if selection.id_field is None:
        grouped = df.groupBy(functions.spark_partition_id()).count().collect()
        counts = {int(part): int(count) for part, count in grouped}
    totals = context.accumulator({}, TallyParam())
    work = Partitions(
        shipped=Shipped(Recipe.from_pipeline(call.pipeline, call.key), archive),
        selection=selection,
        names=tuple(names),
        counts=counts,
        totals=totals if report else None,
    )
    # Spark looks at the arguments of a function, and takes no other callable.
    private = with_numbers.mapInArrow(lambda batches: work(batches), new_schema)
    return (private, DataFrameCounts(call, selection, totals)) if report else private
