"""The files of a run: one job for each output, checked before anything is read.

An output is never a file that the run reads; all have names, and different ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from dptext import streams
from dptext.engine import source
from dptext.engine.folders import EVERY, Chosen, is_folder, pair_outputs
from dptext.engine.job import Job
from dptext.errors import OutputError, UsageError
from dptext.report import document, signatures
from dptext.report.document import Document
from dptext.report.layout import SIDECAR, sidecar_path
from dptext.report.signatures import Key
from dptext.settings import digest_of_path
from dptext.streams.outputs import OutputFile, Quarantine, Release


@dataclass(frozen=True, slots=True)
class Reports:
    """Files for the reports of a run."""

    #: The internal report as JSON.
    internal: Path | None = None
    #: The internal report as a page.
    page: Path | None = None
    #: The public report; None for a sidecar beside each output.
    public: Path | None = None
    #: Whether outputs have public reports beside them.
    sidecar: bool = False
    #: Signs public reports.
    key: Key | None = None

    def public_path(self, job: Job) -> Path | None:
        """Return the path of a job's public report; devices have none beside them."""
        if self.public is not None:
            return self.public
        if job.output is None or not self.sidecar:
            return None
        is_open = streams.descriptor(job.output) is not None
        if is_open or streams.is_stream(job.output):
            return None
        return Path(job.output + SIDECAR)


class JobOutputs(NamedTuple):
    """The open files of a job."""

    release: Release
    output: OutputFile
    #: For faulty records.
    aside: Quarantine | None
    #: For the public report.
    public: OutputFile | None
    #: Signs the public report.
    key: Key | None

    @classmethod
    def open(
        cls,
        job: Job,
        reports: Reports,
        release: Release,
        *,
        held: bool = False,
    ) -> JobOutputs:
        """Open the files of a job as a part of a release, the data first.

        held as in OutputFile.
        """
        output = release.open(job.output, job.selection.encoding, held=held)
        aside, beside = None, reports.public_path(job)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            aside = release.open_quarantine(job.quarantine)
        public = None if beside is None else release.open(str(beside))
        return cls(
            release=release, output=output, aside=aside, public=public, key=reports.key
        )


def plan_jobs(
    job: Job,
    reports: Reports,
    read: Sequence[str],
    *,
    out_dir: str | None = None,
    in_place: bool = False,
    chosen: Chosen = EVERY,
    converts: bool = False,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input file.

    Each has the format of its inputs, unless standard input is the first of them.

    read: files that the command reads beside its inputs; in_place: outputs replace
    their inputs, except private ones; chosen: selects files of folders; converts:
    outputs have another format. Raises UsageError if formats, names or outputs do not
    go together.
    """
    is_several = in_place or out_dir is not None
    once = list(filter(streams.is_stream, job.inputs))
    if is_several and once:
        raise UsageError(
            "standard input, pipes and devices give no name to an output; name the "
            "files, or give -o FILE"
        )
    if len(set(once)) < len(once):
        raise UsageError(
            f"{source.location(once[0])} is named twice and can be read once; leave "
            "one out"
        )
    chosen.check(job.inputs, out_dir or "")
    jobs = [job]
    if out_dir is not None:
        pairs = pair_outputs(
            names=job.inputs,
            out_dir=out_dir,
            format=job.format,
            warn=warn,
            chosen=chosen,
        )
        jobs = [
            replace(
                job, inputs=(name,), output=path, name=os.path.relpath(path, out_dir)
            )
            for name, path in pairs
        ]
    elif not in_place:
        for name in filter(is_folder, job.inputs):
            raise UsageError(
                f"{name} is a directory; give --out-dir FOLDER for the copies of its "
                "files, or name one file"
            )
    else:
        originals = [name for name in job.inputs if not is_private(Path(name))]
        jobs = [
            replace(job, inputs=(name,), output=name, name=os.path.normpath(name))
            for name in originals
        ]
    jobs = [_with_format(each, converts=converts) for each in jobs]
    source.check_files(jobs)
    paths = [
        reports.internal,
        reports.page,
        job.quarantine,
        *map(reports.public_path, jobs),
    ]
    writes = [each.output for each in jobs]
    writes += [str(path) for path in paths if path is not None]
    inputs = [] if in_place else [name for each in jobs for name in each.inputs]
    streams.check_distinct([*inputs, *read], *writes)
    for each in jobs:
        _check_streams(each)
    return jobs


def _with_format(job: Job, *, converts: bool) -> Job:
    """Return a job with the format of its inputs, as far as files tell it."""
    if source.is_nameless(job.inputs[0]):
        source.one_format(job.inputs if job.format is None else ())
        return job
    output = None if converts else job.output
    return replace(source.decide_format(replace(job, output=output)), output=job.output)


def _check_streams(job: Job) -> None:
    """Raise UsageError for closed standard streams, and names not valid in reports."""
    reads = any(map(streams.is_standard, job.inputs))
    for stream, used in (("stdin", reads), ("stdout", job.output is None)):
        if used and getattr(sys, stream, None) is None:
            raise UsageError(f"{stream} is closed; name a file")
    name = Path(job.output or "").name
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the output's name {os.fsencode(name)!r} is not UTF-8, so its report "
            "could not name it; choose another with -o"
        ) from None


def is_private(path: Path) -> bool:
    """Tell whether the public report beside a file belongs to this file."""
    try:
        beside = streams.read_small(sidecar_path(path), "report")
        report = document.decode(beside, path.name)
        return report.output is not None and report.output.sha256 == digest_of_path(
            path
        )
    except (OSError, UsageError):
        return False


def make_folder(folder: str, jobs: Sequence[Job], reports: Reports) -> None:
    """Make the folder of the outputs, and check that all files can be written."""
    try:
        for parent in {Path(folder), *(Path(job.output or "").parent for job in jobs)}:
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: no folder of outputs can be made here: {error.strerror}; name "
            "another one with --out-dir"
        ) from None
    for job in jobs:
        with Release() as release:
            JobOutputs.open(job, reports, release)


def open_internal(reports: Reports, release: Release) -> Callable[[Document], None]:
    """Open the files of the internal report, and return the function that writes it."""
    opened, page = (
        None if path is None else release.open(str(path)).stream
        for path in (reports.internal, reports.page)
    )

    def write(result: Document) -> None:
        if opened is not None:
            opened.write(document.encode(result))
        if page is not None:
            from dptext.report import html, views  # templates, only for pages

            shown = views.report(result, signatures.describe_signer(reports.key))
            page.write(html.render(shown))

    return write
