"""What `dptext sanitize` does with its options."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dptext import lexicons, pipeline, profile, streams
from dptext.cli import sanitize_jobs, screen
from dptext.cli.sanitize_jobs import Options
from dptext.engines import serial
from dptext.errors import OutputError, UsageError
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.report import assemble, document, html, terminal
from dptext.types import Lexicon


def sanitize(options: Options) -> None:
    """Carry out the command."""
    jobs = sanitize_jobs.jobs(options)
    key = _key(options)
    recipe = profile.load(options.profile, options.overrides)
    console = screen.console(stderr=True, quiet=options.quiet)
    made = build(recipe, console)
    done = _run(options, jobs, made, key, console)
    if options.report is not None:
        _write(options.report, document.encode(done))
    if options.html is not None:
        _write(options.html, html.render(done))
    terminal.show(done, console)


def _run(
    options: Options,
    jobs: Sequence[serial.Job],
    made: Pipeline,
    key: RunKey,
    console: Console,
) -> document.Document:
    """Carry out the jobs one by one, each with its public report; report on all."""
    tally = serial.Tally.of(made)
    written: list[serial.Written] = []
    measures: assemble.Measures | None = None
    if options.out_dir is not None:
        _make_folder(options.out_dir)
    for job in jobs:
        # No two records of a run have the same ordinal, so none share their noise.
        start = tally.records + tally.faults
        with _progress(console, options) as progress:
            written.append(
                serial.run(job, made, key, tally, start=start, progress=progress)
            )
        measures = measures or assemble.Measures.of(made, options.ruler)
        done = assemble.document(made, job, key, tally, written[-1:], measures)
        _publish(options, job, done)
    if len(jobs) == 1:
        return done
    whole = replace(jobs[0], inputs=options.files, output=None)
    assert measures is not None
    return assemble.document(made, whole, key, tally, written, measures)


def build(recipe: Profile, console: Console) -> Pipeline:
    """Open the lexicon and make the profile ready, saying what takes time."""

    def warn(message: str) -> None:
        console.print(f"dptext: {message}", markup=False, highlight=False)

    lexicon: Lexicon = lexicons.find(recipe.lexicon, warn=warn)
    return pipeline.build(recipe, lexicon)


def _make_folder(folder: str) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"--out-dir {folder}: {error.strerror}"
        raise OutputError(msg) from None


def _key(options: Options) -> RunKey:
    if options.key_file is not None and options.seed is not None:
        msg = "give --key-file or --seed, not both"
        raise UsageError(msg)
    if options.key_file is not None:
        return RunKey.from_file(options.key_file)
    if options.seed is not None:
        return RunKey.from_seed(options.seed)
    return RunKey.fresh()


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


def _publish(options: Options, job: serial.Job, done: document.Document) -> None:
    """Write the public report of an output, where there is to be one."""
    beside = sanitize_jobs.beside(options, job)
    if beside is not None:
        _write(beside, document.encode(document.public(done)))


def _write(path: Path, data: bytes) -> None:
    try:
        with streams.open_output(str(path)) as sink:
            sink.stream.write(data)
    except OSError as error:
        msg = f"{path}: the report cannot be written: {error.strerror or error}"
        raise OutputError(msg) from None
