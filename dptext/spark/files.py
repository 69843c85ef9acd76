"""Files of folders by Spark: each a task, the reports put together from all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dptext.engines.pool import Recipe
from dptext.engines.serial import Job, Written
from dptext.engines.tally import BEGIN, Start
from dptext.report.run import Reports, Run
from dptext.spark import cluster, workers
from dptext.spark.tasks import Counting, Outcome, Releasing, Task


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
    with cluster.session(master) as spark:
        counting = Counting(to_end=jobs[0].selection.id_field is None)
        counts: list[Start] = cluster.over(spark, counting, there)
        with workers.sent(spark.sparkContext, run.pipeline.lexicon) as archive:
            shipped = workers.Shipped(Recipe.of(run.pipeline, run.key), archive)
            work = Releasing(shipped, run.measures, reports.sidecar)
            tasks = list(map(Task, there, _starts(counts)))
            outcomes: list[Outcome] = cluster.over(spark, work, tasks)
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
