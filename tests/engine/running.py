"""Carry out a job as commands do: what it writes appears when it is done."""

from __future__ import annotations

from typing import Any

from dptext import streams
from dptext.engine import run as runs
from dptext.engine.job import Job, Written
from dptext.engine.tally import Tally
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey


def run(
    job: Job, pipeline: Pipeline, key: RunKey, tally: Tally, **more: Any
) -> Written:
    """Open the outputs of a job, carry it out, and publish them."""
    with streams.Release() as release:
        opened = runs.Opened.of(job, runs.Reports(), release)
        written = runs.run_job(
            job, pipeline, key, tally, opened, warn=lambda line: None, **more
        )
        release.commit()
    return written
