"""What the outputs of a run may not be: two of one name, an input, or unnamed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dptext import streams
from dptext.engines.serial import Job
from dptext.errors import UsageError
from dptext.report.run import Reports


def check_out_dir(job: Job, reports: Reports) -> None:
    """Refuse what does not go with a folder of outputs, one for each input."""
    for option, value in (("-o", job.output), ("--public-report", reports.public)):
        if value is not None:
            raise UsageError(f"give --out-dir or {option}, not both")
    if any(map(streams.is_standard, job.inputs)):
        raise UsageError(
            "--out-dir: standard input has no name; use -o, or name the files"
        )


def check_standard(jobs: Sequence[Job], reports: Reports) -> None:
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


def check_in_place(job: Job, out_dir: str | None, reports: Reports) -> None:
    """Refuse what does not go with outputs that take the places of their inputs."""
    for option, value in (
        ("-o", job.output),
        ("--out-dir", out_dir),
        ("--public-report", reports.public),
        ("--resume", job.resume or None),
    ):
        if value is not None:
            raise UsageError(f"give --in-place or {option}, not both")
    if not reports.sidecar:
        raise UsageError(
            "--in-place: the report beside a file tells that it is private"
        )
    if any(map(streams.is_standard, job.inputs)):
        raise UsageError("--in-place: name the files")


def check_distinct(
    jobs: Sequence[Job],
    reports: Reports,
    kept: Iterable[Path | None],
    *,
    in_place: bool = False,
) -> None:
    """Refuse to write over an input, what is kept, or another file of the run."""
    reads = [] if in_place else [name for job in jobs for name in job.inputs]
    reads += [str(path) for path in kept if path is not None]
    streams.check_distinct(reads, *_writes(jobs, reports))


def check_name(name: str) -> None:
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
