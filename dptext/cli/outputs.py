"""What `dptext sanitize` writes to: one job for each output, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dptext import formats, streams
from dptext.cli import output_checks
from dptext.engines import choosing
from dptext.engines.serial import Job, Written
from dptext.errors import OutputError
from dptext.report.exports import SIDECAR
from dptext.report.run import Opened, Reports


def planned(
    job: Job, out_dir: str | None, reports: Reports, *kept: Path | None
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input.

    kept are other files that no output may take the place of, such as a key.
    Raises UsageError where formats, names or outputs do not go together.
    """
    if out_dir is None:
        if job.format is None:
            choosing.one_format(job.inputs)
        jobs = [job]
    else:
        named = dict(_each(job, Path(out_dir)))
        output_checks.check_out_dir(job, reports, list(named.values()))
        for name in named if job.format is None else ():
            choosing.one_format([name])
        jobs = [
            replace(job, inputs=(name,), output=str(Path(out_dir, output)))
            for name, output in named.items()
        ]
    output_checks.check_standard(jobs, reports)
    output_checks.check_distinct(jobs, reports, kept)
    for each in jobs:
        output_checks.check_name(Path(each.output or "").name)
    return jobs


def _each(job: Job, out_dir: Path) -> Iterator[tuple[str, str]]:
    """Yield each input with the name of its output; of folders the files in them.

    These are the files of known formats, hidden ones, reports and outputs left out.
    """
    for name in job.inputs:
        folder = Path(name)
        if streams.is_standard(name) or not folder.is_dir():
            yield name, folder.name
            continue
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in inside.parts)
            known = job.format is not None or formats.by_suffix(path.name) is not None
            ours = path.name.endswith(SIDECAR) or path.is_relative_to(out_dir)
            if known and path.is_file() and not (hidden or ours):
                yield str(path), str(inside)


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
        for parent in (Path(folder), *(Path(job.output or "").parent for job in jobs)):
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out-dir {folder}: {error.strerror}") from None
    for job in jobs:
        with streams.Release() as release:
            Opened.of(job, reports, release)
