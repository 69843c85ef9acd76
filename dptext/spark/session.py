"""Sessions of Spark: the driver, the pipeline that each worker keeps, folders of files.

A file is one task. It writes its output and sidecar as one machine does: under hidden
names, renamed when complete; so that a task that is killed, or run twice, leaves the
same bytes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

from dptext import lexicons, progress, registry
from dptext.engine.job import Job, Recipe, Written
from dptext.engine.run import Reports, Run
from dptext.engine.source import Source
from dptext.engine.tally import BEGIN, Start, Totals
from dptext.errors import DptextError, InternalError, MissingExtra, UsageError
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.types import Lexicon

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Spark = Any  # a SparkSession or SparkContext: pyspark need not be there
P = ParamSpec("P")
T = TypeVar("T")
# What a task returns in the place of its result: trying again would not help.
Failure = DptextError | InternalError | OSError

_READY: dict[tuple[str, str], Pipeline] = {}


class Shipped(NamedTuple):
    """What workers make a pipeline from.

    archive names the files of the lexicon that were sent to them; "" where every
    machine has it, as the built-in one.
    """

    recipe: Recipe
    archive: str = ""

    def pipeline(self) -> Pipeline:
        """Return the pipeline; the lexicon's arrays are mapped, not read.

        Raises LexiconError and UsageError where a file is not that of the driver.
        """
        name = self.recipe.digest, self.recipe.identity
        if name not in _READY:
            source = self.recipe.profile.lexicon
            if self.archive:
                from pyspark import SparkFiles

                source = SparkFiles.get(self.archive)
            _READY.clear()
            _READY[name] = self.recipe.pipeline(lexicons.find(source))
        return _READY[name]


def attempted(work: Callable[P, T]) -> Callable[P, T | Failure]:
    """Have work return what went wrong, described without any text."""

    @wraps(work)
    def result(*args: P.args, **kwargs: P.kwargs) -> T | Failure:
        try:
            with registry.describe_failure():
                return work(*args, **kwargs)
        except (DptextError, InternalError, OSError) as error:
            return error

    return result


@contextlib.contextmanager
def sent(context: Spark, lexicon: Lexicon) -> Iterator[str]:
    """Have Spark copy a lexicon to every machine once; yield the archive's name.

    Nothing is sent where all machines have it: the built-in one, and one machine.
    """
    is_builtin = lexicon.digest == lexicons.builtin_digest()
    if is_builtin or context.master.startswith("local["):
        yield ""
        return
    import tarfile

    from dptext.lexicons import store

    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, f"{lexicon.digest[:16]}.tar")
        store.save(lexicon, Path(folder, "lexicon"))
        with tarfile.open(archive, "w") as packed:
            for path in sorted(Path(folder, "lexicon").iterdir()):
                packed.add(path, path.name)
        context.addArchive(archive)
        yield os.path.basename(archive)


# On one machine Spark gives up at the first failure, elsewhere at the fourth.
_LOCAL = re.compile(r"local(?:\[([0-9]+|\*)\])?")
_TRIES = 4
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # of the driver: what goes wrong is said in one line
}
# The names of Spark's own conditions; the rest of its messages may quote data.
_CONDITION = re.compile(r"\[([A-Z][A-Z_.]+)\]")

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextlib.contextmanager
def open_session(master: str | None = None) -> Iterator[SparkSession]:
    """Start Spark for a block; a session that is there already is used, and stays.

    Without a master it is that of spark-submit, else all cores of this machine. Raises
    MissingExtra and UsageError where Spark cannot start.
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
        if local:  # workers are this Python, whatever the path says
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
            f"--master {master}: Spark could not be started ({_reason(error)}); "
            f"{lines} may say more"
        ) from None
    try:
        yield started
    finally:
        started.stop()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Start Java, for all its life, without standard error where no notes are wanted.

    What it writes before it reads its settings no setting turns off.
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


def over(
    spark: SparkSession, work: Callable[[Item], Result | Failure], items: Sequence[Item]
) -> list[Result]:
    """Do work on each item as a task of its own; return the results in order.

    Raises the first error that is returned, and DptextError where tasks fail.
    """
    tasks = spark.sparkContext.parallelize(items, len(items)).map(work)
    try:
        results = tasks.collect()
    except Exception as error:
        raise DptextError(
            f"Spark ended the run ({_reason(error)}): a task failed {_TRIES} times, or "
            "the cluster went away; the executors' logs say more"
        ) from None
    for result in results:
        if isinstance(result, Exception):
            raise result
    return cast("list[Result]", results)


def installed() -> Any:
    """Return the class of sessions. Raises MissingExtra, UsageError without Java."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra.of("Spark", "spark") from None
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise UsageError(
            "Spark needs Java, which is not there: install a runtime (on Debian "
            "default-jre-headless), or set JAVA_HOME"
        )
    return SparkSession


def _reason(error: Exception) -> str:
    """Name an error without what it says."""
    conditions = _CONDITION.findall(str(error))
    return conditions[0] if conditions else type(error).__name__


class FileOutcome(NamedTuple):
    """What a task wrote, what it counted, and lines of warning."""

    written: Written
    totals: Totals
    warnings: list[str]


@attempted
def count(job: Job, *, to_end: bool) -> Start:
    """Count the records of a file; not to_end: only until enough texts are known."""
    source = Source(job, None, 0)
    with contextlib.ExitStack() as stack:
        source.open(stack)
        return source.count(to_end=to_end)


@attempted
def make_private(
    task: tuple[Job, Start], shipped: Shipped, measures: PublicMeasures, sidecar: bool
) -> FileOutcome:
    """Make a file private: its output appears with a sidecar, with these measures."""
    (job, start), warnings = task, list[str]()
    run = Run(
        shipped.pipeline(),
        shipped.recipe.key,
        measures=measures,
        start=start,
        warn=warnings.append,
    )
    written = run.release(job, Reports(sidecar=sidecar))
    return FileOutcome(written, run.tally.totals, warnings)


def release(
    run: Run,
    jobs: Sequence[Job],
    reports: Reports,
    master: str | None,
    warn: Callable[[str], None],
) -> list[tuple[Job, Written]]:
    """Carry out jobs of one file each; every output appears with its sidecar.

    Records have the numbers that they have on one machine, which randomness goes by:
    they are counted first, unless a field names them. Raises what Run.release does,
    for the first job that failed; the outputs of others are there.
    """
    began = time.monotonic()
    there = []  # by names that processes in other folders find
    for job in jobs:
        inputs = tuple(map(os.path.abspath, job.inputs))
        output = os.path.abspath(job.output or "")
        there.append(replace(job, inputs=inputs, output=output))
    with open_session(master) as spark:
        counting = partial(count, to_end=jobs[0].selection.id_field is None)
        counts: list[Start] = over(spark, counting, there)
        with sent(spark.sparkContext, run.pipeline.lexicon) as archive:
            work = partial(
                make_private,
                shipped=Shipped(Recipe.of(run.pipeline, run.key), archive),
                measures=run.measures,
                sidecar=reports.sidecar,
            )
            starts = accumulate(counts, Start.plus, initial=BEGIN)
            tasks = list(zip(there, starts, strict=False))
            outcomes: list[FileOutcome] = over(spark, work, tasks)
    for outcome in outcomes:
        run.tally.merge(outcome.totals)
        for line in outcome.warnings:
            warn(line)
    run.tally.seconds += time.monotonic() - began
    written = (outcome.written for outcome in outcomes)
    return list(zip(jobs, written, strict=True))
