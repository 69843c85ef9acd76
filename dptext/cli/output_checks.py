"""What the outputs of a run may not be: two of one name, an input, or unnamed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from dptext import streams
from dptext.errors import DptextError, UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.run import Reports

_PATH = str | Path
# Options that name files to write, in whatever command.
_OUTPUTS = ("output", "report", "html", "public_report", "quarantine", "csv", "resume")
# Options whose values are names of fields and the like.
_NO_FILES = (
    *(*_OUTPUTS, "out", "out_dir", "field", "id", "subject", "label", "attribute"),
    *("missing", "delimiter", "format"),
)
# Options that may name a folder that is read.
_FOLDERS = (
    *("lexicon", "set_", "profile", "mechanism", "model", "encoder", "masked_model"),
    "classifier",
)
# The files that the running command reads, and folders of models, by its options.
_READ: ContextVar[tuple[str, ...]] = ContextVar("_READ", default=())
_WITHIN: ContextVar[tuple[Path, ...]] = ContextVar("_WITHIN", default=())


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


def check_named(params: Mapping[str, object], configuration: Path | None) -> None:
    """Refuse an output, of any command, that is a file which the command reads.

    params are its options and arguments by name. Files are those whose paths these
    hold, or a profile or `--set` in them, a configuration, and those that ship or were
    imported.
    """
    named = {
        name: tuple(_paths(params[name])) for name in params if name not in _NO_FILES
    }
    inputs = named.pop("files", ())
    ledger = params.get("ledger")
    named["ledger"] = (f"{ledger}", f"{ledger}.key") if ledger else ()
    named["configuration"] = () if configuration is None else (str(configuration),)
    folders = (path for name in _FOLDERS for path in named.get(name, ()))
    _READ.set(tuple(path for paths in named.values() for path in paths))
    _WITHIN.set(tuple(Path(path).resolve() for path in folders if os.path.isdir(path)))
    writes = [params[name] for name in _OUTPUTS if isinstance(params.get(name), _PATH)]
    _check(inputs, map(str, writes))


def check_distinct(
    jobs: Sequence[Job], reports: Reports, *, in_place: bool = False
) -> None:
    """Refuse to write over an input, another file that is read, or one twice."""
    reads = [] if in_place else [name for job in jobs for name in job.inputs]
    _check(reads, _writes(jobs, reports))


def _check(inputs: Iterable[str], outputs: Iterable[str | None]) -> None:
    """Refuse outputs that are inputs, or other files that the command reads."""
    from dptext.lexicons import store

    writes = list(outputs)
    streams.check_distinct([*inputs, *_READ.get()], *writes)
    shipped, imported = Path(__file__).parents[1], store.user_folder().parent
    for name in writes:
        path = None if streams.is_standard(name) else Path(str(name)).resolve()
        for folder in (*_WITHIN.get(), shipped, imported.resolve()):
            if path is not None and path.is_file() and folder in path.parents:
                raise UsageError(
                    f"{name} is a part of {folder}, which this run may read; name "
                    "another file"
                )


def _paths(value: object, *, opens: bool = True) -> Iterator[str]:
    """Yield the files that a value names, or a profile or KEY=VALUE in it does.

    opens, whether profiles are read: those that a profile names are not.
    """
    if isinstance(value, Mapping | list | tuple):
        inside = value.values() if isinstance(value, Mapping) else value
        for each in inside:
            yield from _paths(each, opens=opens)
    elif isinstance(value, _PATH):
        from dptext import settings

        path = str(value)
        if os.path.exists(path):
            yield path
        with contextlib.suppress(DptextError, OSError):  # the command says it
            if opens and Path(path).suffix in (".yaml", ".yml"):
                data = settings.read_yaml(Path(path), "profile")
                yield from _paths(data, opens=False)
            elif opens and "=" in path:
                text = f"value: {path.partition('=')[2]}".encode()
                yield from _paths(
                    settings.decode_yaml(text, "--set", "value"), opens=False
                )


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
