"""Plans the files of a run: one job per output, checked before reading anything.

An output is never a file that the run reads; output names differ.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

from dptext import formats, signatures, streams
from dptext.engine import source
from dptext.engine.job import Job
from dptext.errors import InputError, OutputError, UsageError
from dptext.report import document
from dptext.report.document import Document
from dptext.report.layout import sidecar_path
from dptext.run.interface import noun, option
from dptext.run.work import SIDECAR, Outputs, Reports
from dptext.settings import digest_of_path
from dptext.signatures import Key
from dptext.streams.outputs import OutputFile, Quarantine, Release

EVERY = Outputs()


def check_patterns(outputs: Outputs, names: Iterable[str]) -> None:
    """Raise UsageError for a pattern that matches no file: probably misspelt.

    Also raised if no input is a folder.
    """
    folders = list(filter(is_folder, names))
    paths = [
        path.relative_to(folder)
        for folder in folders
        for path in _files(folder, outputs.out_dir or "")
    ]
    for name, patterns in (("include", outputs.include), ("exclude", outputs.exclude)):
        for each in patterns:
            if not folders:
                raise UsageError(
                    f"{noun(name)}: patterns apply to files in folders, but no input "
                    "is a folder; leave the pattern out"
                )
            if not any(streams.matches(path, (each,)) for path in paths):
                shown = ", ".join(folders)
                raise UsageError(f"{noun(name)} {each}: no file of {shown} fits it")


def pair_outputs(
    names: Sequence[str],
    outputs: Outputs,
    format: str | None,
    warn: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Pair each input file with its output below out_dir.

    A folder stands for its selected files of known formats, at any depth, sorted by
    name; their outputs have the same paths below out_dir. Raises UsageError for a
    folder without such files, and for two outputs with the same name.
    """
    out_dir, pairs = outputs.out_dir or "", list[tuple[str, str]]()
    for name in names:
        if not is_folder(name):
            pairs.append((name, str(Path(out_dir, Path(name).name))))
            continue
        known, left_out = _known(name, out_dir, format, outputs)
        if left_out:
            warn(f"{name}: skipped files of unknown format: {left_out}")
        pairs += [
            (str(path), str(Path(out_dir, path.relative_to(name)))) for path in known
        ]
    for output, inputs in Counter(output for _, output in pairs).items():
        if inputs > 1:
            name = os.path.relpath(output, out_dir)
            raise UsageError(
                f"two inputs are named {name}; process them in separate runs with "
                "different output folders"
            )
    return pairs


def find_files(
    names: Sequence[str], format: str | None = None, chosen: Outputs = EVERY
) -> list[str]:
    """Replace each folder by its selected files of a known format.

    Raises UsageError for a folder without such files, InputError if it is unreadable.
    """
    files: list[str] = []
    for name in names:
        known = _known(name, name, format, chosen)[0] if is_folder(name) else [name]
        files += map(str, known)
    return files


def is_folder(name: str) -> bool:
    """Return whether an input is a folder."""
    return not streams.is_standard(name) and os.path.isdir(name)


def _known(
    name: str, out_dir: str, format: str | None, chosen: Outputs
) -> tuple[list[Path], int]:
    """Return a folder's selected files of known formats, and the number of others."""
    files = [
        path for path in _files(name, out_dir) if chosen.has(path.relative_to(name))
    ]
    known = [path for path in files if format or formats.by_suffix(str(path))]
    if not known:
        which = " that fits the patterns" if chosen.include or chosen.exclude else ""
        raise UsageError(f"{name}: this folder has no file of a known format{which}")
    return known, len(files) - len(known)


def _files(name: str, out_dir: str) -> list[Path]:
    """Return a folder's files by name, except hidden files, marks and outputs.

    Raises InputError for a folder that cannot be read, and for a link to one, which is
    not followed.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: {error.strerror}; its files are not read")

    files: list[Path] = []
    for parent, folders, names in os.walk(name, onerror=refuse):
        folders[:] = filter(_is_shown, folders)
        for link in filter(os.path.islink, (f"{parent}/{each}" for each in folders)):
            raise InputError(
                f"{link}: links to folders are not followed; name the folder itself"
            )
        files += (Path(parent, each) for each in filter(_is_shown, names))
    files = sorted(path for path in files if not path.name.endswith(SIDECAR))
    # Unlike Path.resolve it takes loops of links, which fail when they are opened.
    written = Path(os.path.realpath(out_dir))
    if written != Path(os.path.realpath(name)):
        files = [
            path
            for path in files
            if written not in Path(os.path.realpath(path)).parents
        ]
    return files


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedReports(Reports):
    """Files for the reports of a run, and the key that signs public ones."""

    signer: Key | None = None

    @classmethod
    def begin(
        cls, reports: Reports, key_file: bytes | str | os.PathLike[str] | None = None
    ) -> SignedReports:
        """Read the signing key of reports. Raises UsageError for an unsuitable key."""
        path, key = reports.sign_key, None
        if path is not None:
            named = None if isinstance(key_file, bytes) else key_file
            if named is not None and os.path.samefile(path, named):
                raise UsageError(
                    f"{noun('sign-key')}: give a file other than {noun('key-file')}, "
                    "which must stay secret"
                )
            key = signatures.read_private(path)
        shown = {each.name: getattr(reports, each.name) for each in fields(reports)}
        return cls(**shown, signer=key)


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
        reports: SignedReports,
        release: Release,
        *,
        held: bool = False,
    ) -> JobOutputs:
        """Open the files of a job as part of a release, the data first.

        held as in OutputFile.
        """
        # Vectors are no text: they have no encoding.
        encoding = None if job.converts else job.selection.encoding
        output = release.open(job.output, encoding, held=held)
        aside, beside = None, reports.public_path(job.output)
        if job.work.quarantine is not None:
            # For the user's eyes only: it holds original text.
            aside = release.open_quarantine(job.work.quarantine)
        public = None if beside is None else release.open(str(beside))
        return cls(
            release=release,
            output=output,
            aside=aside,
            public=public,
            key=reports.signer,
        )


def plan_jobs(
    job: Job,
    reports: SignedReports,
    read: Sequence[str],
    *,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """Return one job per output: the given job, or one for each input file.

    Each has the format of its inputs, unless standard input comes first.

    read: files that the command reads in addition to its inputs. Raises UsageError if
    formats, names or outputs are incompatible.
    """
    outputs = job.outputs
    once = list(filter(streams.is_stream, job.inputs))
    if outputs.is_several and once:
        raise UsageError(
            "the outputs of standard input, pipes and devices need a name; give -o FILE"
        )
    if len(set(once)) < len(once):
        raise UsageError(
            f"{source.location(once[0])} is named twice but can be read only once; "
            "name it once"
        )
    check_patterns(outputs, job.inputs)
    jobs = [_with_format(each) for each in _divide(job, warn)]
    source.check_files(jobs)
    paths = [
        reports.report,
        reports.html,
        job.work.quarantine,
        *(reports.public_path(each.output) for each in jobs),
    ]
    writes = [each.output for each in jobs]
    writes += [str(path) for path in paths if path is not None]
    inputs = [] if outputs.in_place else [name for each in jobs for name in each.inputs]
    streams.check_distinct([*inputs, *read], *writes)
    for each in jobs:
        _check_streams(each)
    return jobs


def _divide(job: Job, warn: Callable[[str], None]) -> list[Job]:
    """Return a job for each output, named by the place of outputs.

    Raises UsageError for a folder without a place for the copies of its files.
    """
    outputs = job.outputs
    if outputs.out_dir is not None:
        return [
            replace(
                job,
                inputs=(name,),
                output=path,
                name=os.path.relpath(path, outputs.out_dir),
            )
            for name, path in pair_outputs(job.inputs, outputs, job.format, warn)
        ]
    if outputs.in_place:
        originals = [name for name in job.inputs if not is_private(Path(name))]
        return [
            replace(job, inputs=(name,), output=name, name=os.path.normpath(name))
            for name in originals
        ]
    for name in filter(is_folder, job.inputs):
        raise UsageError(
            f"{name} is a folder; give {option('out-dir', 'FOLDER')} for its "
            "outputs, or name a single file"
        )
    return [job]


def _with_format(job: Job) -> Job:
    """Return a job with the format of its inputs, as far as file names show it."""
    if source.is_nameless(job.inputs[0]):
        source.one_format(job.inputs if job.format is None else ())
        return job
    return source.decide_format(job)


def _check_streams(job: Job) -> None:
    """Raise UsageError for closed standard streams, or names invalid in reports."""
    reads = any(map(streams.is_standard, job.inputs))
    for stream, used in (("stdin", reads), ("stdout", job.output is None)):
        if used and getattr(sys, stream, None) is None:
            raise UsageError(f"{stream} is closed; name a file instead")
    name = Path(job.output or "").name
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the output's name {os.fsencode(name)!r} is not UTF-8, so a report cannot "
            "contain it; choose another name with -o"
        ) from None


def is_private(path: Path) -> bool:
    """Return whether the public report beside a file belongs to it."""
    try:
        beside = streams.read_small(sidecar_path(path), "report")
        report = document.decode(beside, path.name)
        return report.output is not None and report.output.sha256 == digest_of_path(
            path
        )
    except (OSError, UsageError):
        return False


def make_folder(folder: str, jobs: Sequence[Job], reports: SignedReports) -> None:
    """Create the output folder, and check that all files can be written."""
    try:
        for parent in {Path(folder), *(Path(job.output or "").parent for job in jobs)}:
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot create the output folder: {error.strerror}; choose "
            f"another one with {option('out-dir')}"
        ) from None
    for job in jobs:
        with Release() as release:
            JobOutputs.open(job, reports, release)


def open_internal(
    reports: SignedReports, release: Release
) -> Callable[[Callable[[], Document]], None]:
    """Open the internal report's files, and return a function that writes it.

    The function takes a builder of the report, called only if there is a file.
    """
    opened, page = (
        None if path is None else release.open(str(path)).stream
        for path in (reports.report, reports.html)
    )

    def write(make: Callable[[], Document]) -> None:
        if opened is not None:
            opened.write(document.encode(make()))
        if page is not None:
            from dptext.report import html, views  # templates, only for pages

            shown = views.report(make(), signatures.describe_signer(reports.signer))
            page.write(html.render(shown))

    return write
