"""Carry out a job as commands do: what it writes appears when it is done."""

from __future__ import annotations

from typing import Any

from dptext.engine.files import JobOutputs, SignedReports
from dptext.engine.job import Job, Written
from dptext.engine.run import Run
from dptext.engine.tally import Tally
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.streams.outputs import Release


def run(
    job: Job, pipeline: Pipeline, key: RunKey, tally: Tally, **more: Any
) -> Written:
    """Open the outputs of a job, carry it out, and publish them."""
    ready = Run(pipeline, key, warn=lambda line: None, **more)
    ready.tally = tally
    with Release() as release:
        opened = JobOutputs.open(job, SignedReports(sidecar=False), release)
        with ready.releasing(job, opened) as written:
            return written
