"""What workers do with files: count their records, make them private.

A file is one task. It writes its output and sidecar as one machine does: under hidden
names, renamed when complete; so that a task that is killed, or run twice, leaves the
same bytes.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import NamedTuple

from dptext import formats
from dptext.engines.serial import Job, Written
from dptext.engines.source import Source
from dptext.engines.tally import Start, Totals
from dptext.measures.public import PublicMeasures
from dptext.report.run import Reports, Run
from dptext.spark.workers import Failure, Shipped, attempt


class Task(NamedTuple):
    """A file, and how many records and texts of the run come before it."""

    job: Job
    start: Start


class Outcome(NamedTuple):
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
            module = formats.find(None, source.open(stack, lambda line: None))
            return source.count(module, to_end=self.to_end)


@dataclass(frozen=True, slots=True)
class Releasing:
    """Makes files private; measures are the driver's, for the sidecars."""

    shipped: Shipped
    measures: PublicMeasures
    sidecar: bool

    def __call__(self, task: Task) -> Outcome | Failure:
        """Make one private: its output and sidecar appear."""
        return attempt(lambda: self._release(task))

    def _release(self, task: Task) -> Outcome:
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
        return Outcome(written, run.tally.totals, warnings)
