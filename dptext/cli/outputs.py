"""What `dptext sanitize` writes to: one job for each output, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dptext import streams
from dptext.cli import folders, output_checks
from dptext.engine import source
from dptext.engine.job import Job, Written
from dptext.engine.run import Opened, Reports
from dptext.errors import OutputError, UsageError
from dptext.report import document, exports


def planned(
    job: Job,
    out_dir: str | None,
    reports: Reports,
    *,
    in_place: bool = False,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input file.

    in_place: outputs take the places of their inputs, those left out that are private.
    Raises UsageError where formats, names or outputs do not go together.
    """
    if in_place:
        output_checks.check_in_place(job, out_dir, reports)
        originals = [name for name in job.inputs if not _is_private(Path(name))]
        jobs = [replace(job, inputs=(name,), output=name) for name in originals]
        if not jobs:
            return []
        for each in jobs if job.format is None else ():
            source.one_format(each.inputs)
    elif out_dir is None:
        if job.format is None:
            source.one_format(job.inputs)
        jobs = [job]
    else:
        output_checks.check_out_dir(job, reports)
        pairs = folders.outputs_of(job.inputs, out_dir, job.format, warn)
        for name, _ in pairs if job.format is None else ():
            source.one_format([name])
        jobs = [replace(job, inputs=(name,), output=path) for name, path in pairs]
    source.check_files(jobs)
    output_checks.check_standard(jobs, reports)
    output_checks.check_distinct(jobs, reports, in_place=in_place)
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


def _is_private(path: Path) -> bool:
    """Tell whether the public report beside a file is of this very file."""
    try:
        export = exports.on_disk(path)
        report = document.decode(export.report or b"", path.name)
    except (OSError, UsageError):
        return False
    return report.output is not None and report.output.sha256 == export.sha256


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
