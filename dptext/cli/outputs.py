"""The outputs of a command: one job for each, checked before anything is read.

An output is never a file that the command reads; all have names, and different ones.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from dptext import streams
from dptext.errors import InputError, OutputError, UsageError
from dptext.streams.outputs import Release

if TYPE_CHECKING:
    from dptext.engine.job import Job, Written
    from dptext.engine.run import Reports
    from dptext.report.answer import RunOutputs
    from dptext.report.document import Document

# Key of the result of `check_named` in a context.
READ = "dptext.read"
# Options of any command that name files to write.
_OUTPUTS = (
    "output",
    "report",
    "html",
    "public_report",
    "quarantine",
    "csv",
    "latex",
    "figure",
    "resume",
)
# Options with other values than files to read.
_NO_FILES = (
    *_OUTPUTS,
    "files",
    "out_dir",
    "field",
    "id",
    "subject",
    "label",
    "attribute",
    "missing",
    "delimiter",
    "encoding",
    "format",
    "drop",
    "pseudonym",
)
# Words of --set that may be paths.
_WORD = re.compile(r"[^=\[\]{},:\s]+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Selects files of folders by patterns of their paths in the folder."""

    #: Only files that fit one of these; all files without any.
    include: tuple[str, ...] = ()
    #: No file that fits one of these.
    exclude: tuple[str, ...] = ()

    def check(self, names: Iterable[str], out_dir: str) -> None:
        """Raise UsageError for a pattern that no file fits: it is most likely misspelt.

        Also if no input is a folder.
        """
        folders = list(filter(_is_folder, names))
        paths = [
            path.relative_to(folder)
            for folder in folders
            for path in _files(folder, out_dir)
        ]
        for option, patterns in (
            ("--include", self.include),
            ("--exclude", self.exclude),
        ):
            for each in patterns:
                if not folders:
                    raise UsageError(
                        f"{option}: patterns are for the files of folders, and no "
                        "input is a folder; leave it out"
                    )
                if not any(streams.matches(path, (each,)) for path in paths):
                    shown = ", ".join(folders)
                    raise UsageError(f"{option} {each}: no file of {shown} fits it")

    def has(self, path: PurePath) -> bool:
        """Tell whether a file is selected, by its path in its folder."""
        is_included = streams.matches(path, self.include or ("*",))
        return is_included and not streams.matches(path, self.exclude)


EVERY = Chosen()


def check_named(
    params: Mapping[str, Any], configuration: Path | None
) -> tuple[str, ...]:
    """Raise UsageError for an output that other options or arguments name as well.

    params: options and arguments by name. Returns the files in them that the command
    reads beside its inputs.
    """
    reads = [] if configuration is None else [str(configuration)]
    for name, value in params.items():
        if name not in _NO_FILES:
            texts = map(str, value if isinstance(value, list | tuple) else [value])
            words = (word for text in texts for word in (text, *_WORD.findall(text)))
            reads += filter(os.path.exists, words)
    if params.get("ledger"):
        reads += [str(params["ledger"]), f"{params['ledger']}.key"]
    files = params.get("files") or ()
    writes = {name: params[name] for name in _OUTPUTS if params.get(name) is not None}
    inputs = map(params.get, ("file", "original", "private"))
    if "" in (*files, *inputs, *writes.values()):
        raise UsageError("the name of a file is empty (a variable that is not set?)")
    # A run without --output writes to standard output, and so does --json; so does a
    # plan, as JSON or not, unless it is a page.
    is_plan = bool(params.get("plan"))
    alone = "out_dir" in params and not (
        is_plan or any(params[name] for name in ("output", "out_dir", "in_place"))
    )
    as_json = params.get("as_json") or (is_plan and params.get("json"))
    names = [str(each) for each in writes.values()]
    if names.count("-") + alone + bool(as_json) > 1:
        raise UsageError(
            "standard output carries one thing only: name files for the others, as in "
            "--html FILE"
        )
    streams.check_distinct([*files, *reads], *names)
    for each in names:
        if each != str(params.get("output")) and not Path(each).parent.is_dir():
            raise OutputError(f"{each}: No such file or directory")
    return tuple(reads)


def planned(
    job: Job,
    reports: Reports,
    read: Sequence[str],
    *,
    out_dir: str | None = None,
    in_place: bool = False,
    chosen: Chosen = EVERY,
    warn: Callable[[str], None] = lambda line: None,
) -> list[Job]:
    """Return one job for each output: the job itself, or one for each input file.

    read: files that the command reads beside its inputs; in_place: outputs replace
    their inputs, except private ones; chosen: selects files of folders. Raises
    UsageError if formats, names or outputs do not go together.
    """
    from dptext.engine import source

    is_several = in_place or out_dir is not None
    if is_several and any(map(streams.is_standard, job.inputs)):
        raise UsageError(
            "standard input has no name, so that its output had none; name the files"
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
        jobs = [replace(job, inputs=(name,), output=path) for name, path in pairs]
    elif in_place:
        originals = [name for name in job.inputs if not _is_private(Path(name))]
        jobs = [replace(job, inputs=(name,), output=name) for name in originals]
    for each in jobs if job.format is None else ():
        source.one_format(each.inputs)
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


def join_released(
    job: Job,
    released: Sequence[tuple[Job, Written]],
    jobs: Sequence[Job],
    warn: Callable[[str], None],
) -> tuple[Job, list[Written]]:
    """Return the job of the outputs released now, and warn of those done before."""
    if passed := len(jobs) - len(released):
        rest = ""
        if released:
            rest = f"; the reports are about the other {len(released)}"
        warn(f"{passed} of {len(jobs)} files are done already{rest}")
    inputs = tuple(name for each, _ in released for name in each.inputs)
    return replace(job, inputs=inputs), [written for _, written in released]


def released(
    jobs: Sequence[Job], reports: Reports, copied: Iterable[str], first: int = 0
) -> RunOutputs:
    """Return the outputs of a run; first: number of records behind copied fields."""
    from dptext.report import signatures
    from dptext.report.answer import RunOutputs

    paths = [job.output for job in jobs]
    in_place = paths == [job.inputs[0] for job in jobs]
    folder = os.path.commonpath([str(Path(path or "").parent) for path in paths])
    public, internal, page = (
        None if path is None else str(path)
        for path in (reports.public_path(jobs[0]), reports.internal, reports.page)
    )
    return RunOutputs(
        outputs=paths,
        folder=None if in_place else folder,
        public=public,
        internal=internal,
        page=page,
        copied=tuple(copied),
        first=first,
        signed=signatures.describe_signer(reports.key),
    )


def _is_private(path: Path) -> bool:
    """Tell whether the public report beside a file belongs to this file."""
    from dptext.checking import exports
    from dptext.report import document

    try:
        export = exports.on_disk(path)
        report = document.decode(export.report or b"", path.name)
    except (OSError, UsageError):
        return False
    return report.output is not None and report.output.sha256 == export.sha256


def make_folder(folder: str, jobs: Sequence[Job], reports: Reports) -> None:
    """Make the folder of the outputs, and check that all files can be written."""
    from dptext.engine.run import JobOutputs

    try:
        for parent in {Path(folder), *(Path(job.output or "").parent for job in jobs)}:
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: no folder of outputs can be made here: {error.strerror}"
        ) from None
    for job in jobs:
        with Release() as release:
            JobOutputs.open(job, reports, release)


def internal(reports: Reports, release: Release) -> Callable[[Document], None]:
    """Open the files of the internal report, and return the function that writes it."""
    opened, page = (
        None if path is None else release.open(str(path)).stream
        for path in (reports.internal, reports.page)
    )

    def write(result: Document) -> None:
        from dptext.report import document

        if opened is not None:
            opened.write(document.encode(result))
        if page is not None:
            from dptext.report import html, signatures, views

            shown = views.report(result, signatures.describe_signer(reports.key))
            page.write(html.render(shown))

    return write


def pair_outputs(
    names: Sequence[str],
    out_dir: str,
    format: str | None,
    warn: Callable[[str], None],
    chosen: Chosen = EVERY,
) -> list[tuple[str, str]]:
    """Return each input file with its output below out_dir.

    Of a folder these are the chosen files of a known format, at any depth, by name;
    their outputs have the same paths below out_dir. Raises UsageError for a folder
    without any, and for two outputs of one name.
    """
    pairs: list[tuple[str, str]] = []
    for name in names:
        if not _is_folder(name):
            pairs.append((name, str(Path(out_dir, Path(name).name))))
            continue
        known, left_out = _known(name, out_dir, format, chosen)
        if left_out:
            warn(f"{name}: skipped files of unknown format: {left_out}")
        pairs += [
            (str(path), str(Path(out_dir, path.relative_to(name)))) for path in known
        ]
    for output, inputs in Counter(output for _, output in pairs).items():
        if inputs > 1:
            name = os.path.relpath(output, out_dir)
            raise UsageError(
                f"two inputs are named {name}; run once for each, into two folders"
            )
    return pairs


def find_files(
    names: Sequence[str], format: str | None = None, chosen: Chosen = EVERY
) -> list[str]:
    """Return files; a folder is replaced by its selected files of a known format.

    Raises UsageError for a folder without any, InputError for one that cannot be read.
    """
    files: list[str] = []
    for name in names:
        known = _known(name, name, format, chosen)[0] if _is_folder(name) else [name]
        files += map(str, known)
    return files


def _is_folder(name: str) -> bool:
    return not streams.is_standard(name) and os.path.isdir(name)


def _known(
    name: str, out_dir: str, format: str | None, chosen: Chosen
) -> tuple[list[Path], int]:
    """Return the chosen files of a known format in a folder, and how many are not."""
    from dptext import formats

    files = [
        path for path in _files(name, out_dir) if chosen.has(path.relative_to(name))
    ]
    known = [path for path in files if format or formats.by_suffix(str(path))]
    if not known:
        which = " that fits the patterns" if chosen != EVERY else ""
        raise UsageError(f"{name}: this folder has no file of a known format{which}")
    return known, len(files) - len(known)


def _files(name: str, out_dir: str) -> list[Path]:
    """Return the files in a folder by name, without hidden ones, marks and outputs.

    Raises InputError for a folder that cannot be read, and for a link to one, which is
    not followed.
    """
    from dptext.report.layout import SIDECAR

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: {error.strerror}; its files are not read")

    files: list[Path] = []
    for parent, folders, names in os.walk(name, onerror=refuse):
        folders[:] = filter(_is_shown, folders)
        for link in filter(os.path.islink, (f"{parent}/{each}" for each in folders)):
            raise InputError(
                f"{link}: a link to a folder, which is not followed; name that folder"
            )
        files += (Path(parent, each) for each in filter(_is_shown, names))
    files = sorted(path for path in files if not path.name.endswith(SIDECAR))
    written = Path(out_dir).resolve()
    if written != Path(name).resolve():
        files = [path for path in files if written not in path.resolve().parents]
    return files


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))
