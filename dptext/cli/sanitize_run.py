"""What `dptext sanitize` does with its options."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dptext import lexicons, pipeline, profile, registry, streams
from dptext.engines import serial
from dptext.errors import OutputError, UsageError
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.report import assemble, document, terminal, verify
from dptext.types import Lexicon, Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command, as given."""

    files: tuple[str, ...]
    output: str | None
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
    public_report: Path | None
    sidecar: bool
    ruler: bool
    batch_size: int
    flush: bool
    quiet: bool
    progress: bool | None


def sanitize(options: Options) -> None:
    """Carry out the command."""
    job = _job(options)
    key = _key(options)
    recipe = profile.load(options.profile, options.overrides)
    console = Console(stderr=True, quiet=options.quiet)
    made = build(recipe, console)
    tally = serial.Tally.of(made)
    text_only = _text_only(job)
    with _progress(console, options) as progress:
        written = serial.run(job, made, key, tally, progress=progress)
    done = assemble.document(
        made, job, key, tally, written, text_only=text_only, ruler=options.ruler
    )
    _keep(options, done)
    terminal.show(done, console)


def build(recipe: Profile, console: Console) -> Pipeline:
    """Open the lexicon and make the profile ready, saying what takes time."""

    def warn(message: str) -> None:
        console.print(f"dptext: {message}", markup=False, highlight=False)

    lexicon: Lexicon = lexicons.find(recipe.lexicon, warn=warn)
    return pipeline.build(recipe, lexicon)


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
    _check_formats(options)
    if options.quarantine is not None:
        streams.check_distinct(options.files, options.quarantine)
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
    )


def _check_formats(options: Options) -> None:
    if options.format is None:
        found = serial.distinct_formats(options.files)
        if len(found) > 1:
            msg = (
                f"the inputs are of different formats ({', '.join(sorted(found))}); "
                "run once for each"
            )
            raise UsageError(msg)


def _key(options: Options) -> RunKey:
    if options.key_file is not None and options.seed is not None:
        msg = "give --key-file or --seed, not both"
        raise UsageError(msg)
    if options.key_file is not None:
        return RunKey.from_file(options.key_file)
    if options.seed is not None:
        return RunKey.from_seed(options.seed)
    return RunKey.fresh()


def _text_only(job: serial.Job) -> bool:
    """Tell whether the whole input is text, without other fields."""
    if job.format is not None:
        return job.format == "text"
    return serial.distinct_formats(job.inputs) == {"text"}


@contextlib.contextmanager
def _progress(console: Console, options: Options) -> Iterator[serial.Progress | None]:
    shown = sys.stderr.isatty() if options.progress is None else options.progress
    if not shown or options.quiet:
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[records]:,} records, {task.fields[words]:,} words"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, records=0, words=0)
        yield lambda records, words: bar.update(task, records=records, words=words)


def _keep(options: Options, done: document.Document) -> None:
    """Write the reports that were asked for."""
    public = document.encode(document.public(done))
    beside = options.public_report
    if beside is None and options.output is not None and options.sidecar:
        beside = Path(options.output + verify.SIDECAR)
    if beside is not None:
        _write(beside, public)
    if options.report is not None:
        _write(options.report, document.encode(done))


def _write(path: Path, data: bytes) -> None:
    try:
        with streams.open_output(str(path)) as sink:
            sink.stream.write(data)
    except OSError as error:
        msg = f"{path}: the report cannot be written: {error.strerror or error}"
        raise OutputError(msg) from None
