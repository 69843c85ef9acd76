"""From the options of `dptext sanitize` to one job for each output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dptext import registry, streams
from dptext.engines import choosing, serial
from dptext.errors import UsageError
from dptext.report import exports
from dptext.types import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command, as given."""

    files: tuple[str, ...]
    output: str | None
    out_dir: str | None
    profile: str
    overrides: dict[str, Any]
    fields: tuple[str, ...]
    format: str | None
    id_field: str | None
    missing: str
    delimiter: str | None
    quoting: bool
    header: bool
    max_record_bytes: int
    on_error: str
    quarantine: str | None
    key_file: Path | None
    seed: int | None
    report: Path | None
    html: Path | None
    public_report: Path | None
    sidecar: bool
    bayes_risk: bool
    batch_size: int
    flush: bool
    jobs: int
    quiet: bool
    progress: bool | None


def jobs(options: Options) -> list[serial.Job]:
    """Return one job for each output."""
    if options.jobs > 1 and options.flush:
        msg = "--line-buffered writes every record at once: leave --jobs out"
        raise UsageError(msg)
    job = _job(options)
    if options.out_dir is None:
        if options.format is None:
            choosing.one_format(options.files)
        found = [job]
    else:
        _check_out_dir(options)
        folder = Path(options.out_dir)
        if options.format is None:
            for name in options.files:
                choosing.one_format([name])
        found = [
            replace(job, inputs=(name,), output=str(folder / Path(name).name))
            for name in options.files
        ]
    _check_standard(options, found)
    _check_open(found)
    _check_distinct(options, found)
    _check_names(found)
    return found


def beside(options: Options, job: serial.Job) -> Path | None:
    """Return where the public report goes; devices and pipes have none beside them."""
    if options.public_report is not None:
        return options.public_report
    if job.output is None or not options.sidecar:
        return None
    target = Path(job.output)
    if target.exists() and not target.is_file():
        return None
    return Path(job.output + exports.SIDECAR)


def _check_out_dir(options: Options) -> None:
    for name, given in (
        ("-o", options.output),
        ("--public-report", options.public_report),
    ):
        if given is not None:
            msg = f"give --out-dir or {name}, not both"
            raise UsageError(msg)
    if any(map(streams.is_standard, options.files)):
        msg = "--out-dir: standard input has no name; use -o, or name the files"
        raise UsageError(msg)
    seen: set[str] = set()
    for name in (Path(each).name for each in options.files):
        if name in seen:
            msg = f"--out-dir: two inputs are named {name}; run once for each"
            raise UsageError(msg)
        seen.add(name)


def _check_distinct(options: Options, jobs: Sequence[serial.Job]) -> None:
    """Refuse to write over an input, the key, or another file of the run."""
    keys = [str(options.key_file)] if options.key_file else []
    streams.check_distinct([*options.files, *keys], *_writes(options, jobs))


def _check_names(jobs: Sequence[serial.Job]) -> None:
    """Refuse outputs that a report could not name: its JSON is UTF-8."""
    for job in jobs:
        name = Path(job.output or "").name
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = name.encode("utf-8", "surrogateescape")
            msg = (
                f"the output's name {shown!r} is not UTF-8, so its report could not "
                "name it; choose another with -o"
            )
            raise UsageError(msg) from None


def _check_standard(options: Options, jobs: Sequence[serial.Job]) -> None:
    """Refuse two things on standard output: neither could be read back."""
    if sum(map(streams.is_standard, _writes(options, jobs))) > 1:
        msg = (
            "standard output carries one thing only, the data or a report: name files "
            "for the others with -o, --report, --html, --public-report, --quarantine"
        )
        raise UsageError(msg)


def _check_open(jobs: Sequence[serial.Job]) -> None:
    """Refuse standard streams that whoever started this has closed."""
    for job in jobs:
        reads = any(map(streams.is_standard, job.inputs))
        for name, used in (("stdin", reads), ("stdout", job.output is None)):
            if used and getattr(sys, name, None) is None:
                msg = f"{name} is closed; name a file"
                raise UsageError(msg)


def _writes(options: Options, jobs: Sequence[serial.Job]) -> Iterator[str | None]:
    """Give all that is written to; None is standard output."""
    for job in jobs:
        yield job.output
        report = beside(options, job)
        if report is not None:
            yield str(report)
    for page in (options.report, options.html):
        if page is not None:
            yield str(page)
    if options.quarantine is not None:
        yield options.quarantine


def _job(options: Options) -> serial.Job:
    if options.missing not in ("fail", "pass"):
        msg = f"--missing {options.missing}: choose fail or pass"
        raise UsageError(msg)
    on_error = options.on_error
    if options.quarantine is not None and on_error == "fail":
        on_error = "quarantine"
    if on_error not in ("fail", "skip", "quarantine"):
        msg = f"--on-error {on_error}: choose fail, skip or quarantine"
        raise UsageError(msg)
    if on_error == "quarantine" and options.quarantine is None:
        msg = "--on-error quarantine: name the file with --quarantine FILE"
        raise UsageError(msg)
    if options.format is not None and options.format not in registry.names("formats"):
        known = ", ".join(registry.names("formats"))
        msg = f"--format {options.format}: choose one of {known}"
        raise UsageError(msg)
    selection = Selection(
        fields=options.fields,
        id_field=options.id_field,
        missing=options.missing,
        delimiter=options.delimiter,
        quoting=options.quoting,
        header=options.header,
        max_record_bytes=options.max_record_bytes,
    )
    return serial.Job(
        inputs=options.files,
        output=options.output,
        selection=selection,
        format=options.format,
        on_error=on_error,
        quarantine=options.quarantine,
        batch_size=options.batch_size,
        flush=options.flush,
        jobs=options.jobs,
    )
