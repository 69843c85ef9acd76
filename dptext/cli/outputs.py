"""What `dptext sanitize` writes to: one job for each output, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dptext import streams
from dptext.cli import folders, output_checks
from dptext.engines import choosing
from dptext.engines.serial import Job, Written
from dptext.errors import OutputError
from dptext.report.run import Opened, Reports


def planned(
    job: Job,
    out_dir: str | None,
    reports: Reports,
    *kept: Path | None,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input file.

    kept are other files that no output may take the place of, such as a key.
    Raises UsageError where formats, names or outputs do not go together.
    """
    if out_dir is None:
        if job.format is None:
            choosing.one_format(job.inputs)
        jobs = [job]
    else:
        output_checks.check_out_dir(job, reports)
        pairs = folders.outputs_of(job.inputs, out_dir, job.format, warn)
        for name, _ in pairs if job.format is None else ():
            choosing.one_format([name])
        jobs = [replace(job, inputs=(name,), output=path) for name, path in pairs]
    output_checks.check_standard(jobs, reports)
    output_checks.check_distinct(jobs, reports, kept)
    for each in jobs:
        output_checks.check_name(Path(each.output or "").name)
    return jobs


def of_all(
    job: Job,
    released: Sequence[tuple[Job, Written]],
    jobs: Sequence[Job],
    warn: Callable[[str], None],
) -> tuple[Job, list[Written]]:
    """Return the job of what was released now, and say of what was done already."""
    passed = len(jobs) - len(released)
    if passed:
        rest = f", so that reports are of the other {len(released)}" * bool(released)
        warn(f"{passed} of {len(jobs)} files are done already{rest}")
    inputs = tuple(name for each, _ in released for name in each.inputs)
    return replace(job, inputs=inputs), [written for _, written in released]


def make_folder(folder: str, jobs: Sequence[Job], reports: Reports) -> None:
    """Make the folder of the outputs, and see that all its files can be written."""
    try:
        for parent in {Path(folder), *(Path(job.output or "").parent for job in jobs)}:
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out-dir {folder}: {error.strerror}") from None
    for job in jobs:
        with streams.Release() as release:
            Opened.of(job, reports, release)
