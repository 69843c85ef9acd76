"""What `dptext sanitize` writes to: one job for each output, checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dptext import streams
from dptext.engines import choosing
from dptext.engines.serial import Job
from dptext.errors import OutputError, UsageError
from dptext.report.run import Opened, Reports


def planned(
    job: Job, out_dir: str | None, reports: Reports, key_file: Path | None
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input.

    Raises UsageError where formats, names or outputs do not go together.
    """
    if out_dir is None:
        if job.format is None:
            choosing.one_format(job.inputs)
        jobs = [job]
    else:
        _check_out_dir(job, reports)
        for name in job.inputs if job.format is None else ():
            choosing.one_format([name])
        jobs = [
            replace(job, inputs=(name,), output=str(Path(out_dir, Path(name).name)))
            for name in job.inputs
        ]
    _check_standard(jobs, reports)
    _check_distinct(jobs, reports, key_file)
    for each in jobs:
        _check_name(Path(each.output or "").name)
    return jobs


def make_folder(folder: str, jobs: Sequence[Job], reports: Reports) -> None:
    """Make the folder of the outputs, and see that all its files can be written."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out-dir {folder}: {error.strerror}") from None
    for job in jobs:
        with streams.Release() as release:
            Opened.of(job, reports, release)


def _check_out_dir(job: Job, reports: Reports) -> None:
    for option, value in (("-o", job.output), ("--public-report", reports.public)):
        if value is not None:
            raise UsageError(f"give --out-dir or {option}, not both")
    if any(map(streams.is_standard, job.inputs)):
        raise UsageError(
            "--out-dir: standard input has no name; use -o, or name the files"
        )
    names = [Path(each).name for each in job.inputs]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UsageError(
                f"--out-dir: two inputs are named {name}; run once for each"
            )


def _check_standard(jobs: Sequence[Job], reports: Reports) -> None:
    """Refuse two things on standard output, and standard streams that are closed."""
    # Neither of two could be read back.
    if sum(map(streams.is_standard, _writes(jobs, reports))) > 1:
        raise UsageError(
            "standard output carries one thing only, the data or a report: name files "
            "for the others with -o, --report, --html, --public-report, --quarantine"
        )
    for job in jobs:
        reads = any(map(streams.is_standard, job.inputs))
        for name, used in (("stdin", reads), ("stdout", job.output is None)):
            if used and getattr(sys, name, None) is None:
                raise UsageError(f"{name} is closed; name a file")


def _check_distinct(
    jobs: Sequence[Job], reports: Reports, key_file: Path | None
) -> None:
    """Refuse to write over an input, the key, or another file of the run."""
    reads = [name for job in jobs for name in job.inputs]
    if key_file is not None:
        reads.append(str(key_file))
    streams.check_distinct(reads, *_writes(jobs, reports))


def _check_name(name: str) -> None:
    """Refuse an output that a report could not name: its JSON is UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode("utf-8", "surrogateescape")
        raise UsageError(
            f"the output's name {shown!r} is not UTF-8, so its report could not name "
            "it; choose another with -o"
        ) from None


def _writes(jobs: Sequence[Job], reports: Reports) -> Iterator[str | None]:
    """Yield all that is written to; None is standard output."""
    for job in jobs:
        yield job.output
        beside = reports.beside(job)
        yield from () if beside is None else (str(beside),)
    paths = (reports.internal, reports.page, jobs[0].quarantine)
    yield from (str(path) for path in paths if path is not None)
