"""Files of folders with Spark: each a task, the reports put together from all.

A file is one task. It writes its output and sidecar as one machine does: under hidden
names, renamed when complete; so that a task that is killed, or run twice, leaves the
same bytes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dptext.engine.job import Job, Written
from dptext.engine.pool import Recipe
from dptext.engine.run import Reports, Run
from dptext.engine.source import Source
from dptext.engine.tally import BEGIN, Start, Totals
from dptext.measures.public import PublicMeasures
from dptext.spark import session
from dptext.spark.session import Failure, Shipped, attempt


class FileTask(NamedTuple):
    """A file, and how many records and texts of the run come before it."""

    job: Job
    start: Start


class FileOutcome(NamedTuple):
    """What a task wrote, what it counted, and lines of warning."""

    written: Written
    totals: Totals
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Counting:
    """Counts the records of files; not to_end: only until enough texts are known."""

    to_end: bool

    def __call__(self, job: Job) -> Start | Failure:
        """Count those of a job."""
        return attempt(lambda: self._count(job))

    def _count(self, job: Job) -> Start:
        source = Source(job, None, 0)
        with contextlib.ExitStack() as stack:
            source.open(stack)
            return source.count(to_end=self.to_end)


@dataclass(frozen=True, slots=True)
class Releasing:
    """Makes files private; measures are the driver's, for the sidecars."""

    shipped: Shipped
    measures: PublicMeasures
    sidecar: bool

    def __call__(self, task: FileTask) -> FileOutcome | Failure:
        """Make one private: its output and sidecar appear."""
        return attempt(lambda: self._release(task))

    def _release(self, task: FileTask) -> FileOutcome:
        warnings: list[str] = []
        run = Run(
            self.shipped.pipeline(),
            self.shipped.recipe.key,
            measures=self.measures,
            start=task.start,
            warn=warnings.append,
        )
        reports = Reports(None, None, None, self.sidecar)
        written = run.release(task.job, reports)
        return FileOutcome(written, run.tally.totals, warnings)


def release(
    run: Run,
    jobs: Sequence[Job],
    reports: Reports,
    master: str | None,
    warn: Callable[[str], None],
) -> list[Written]:
    """Carry out jobs of one file each; every output appears with its sidecar.

    Records have the numbers that they have on one machine, which randomness goes by:
    they are counted first, unless a field names them. Raises what Run.release does,
    for the first job that failed; the outputs of others are there.
    """
    began = time.monotonic()
    there = [_absolute(job) for job in jobs]
    with session.open_session(master) as spark:
        counting = Counting(to_end=jobs[0].selection.id_field is None)
        counts: list[Start] = session.over(spark, counting, there)
        with session.sent(spark.sparkContext, run.pipeline.lexicon) as archive:
            shipped = session.Shipped(Recipe.of(run.pipeline, run.key), archive)
            work = Releasing(shipped, run.measures, reports.sidecar)
            tasks = list(map(FileTask, there, _starts(counts)))
            outcomes: list[FileOutcome] = session.over(spark, work, tasks)
    for outcome in outcomes:
        run.tally.merge(outcome.totals)
        for line in outcome.warnings:
            warn(line)
    run.tally.seconds += time.monotonic() - began
    return [outcome.written for outcome in outcomes]


def _starts(counts: Sequence[Start]) -> Iterator[Start]:
    """Give what comes before each file."""
    before = BEGIN
    for count in counts:
        yield before
        before = Start(before.records + count.records, before.texts + count.texts)


def _absolute(job: Job) -> Job:
    """Name files so that processes in other folders find them."""
    inputs = tuple(map(os.path.abspath, job.inputs))
    return replace(job, inputs=inputs, output=os.path.abspath(job.output or ""))
