"""What `dptext sanitize` does with its options."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dptext import lexicons, pipeline, profile, progress, streams
from dptext.cli import sanitize_jobs, screen
from dptext.cli.sanitize_jobs import Options
from dptext.engines import serial
from dptext.engines.tally import Tally
from dptext.errors import OutputError, UsageError
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.report import assemble, document, html, terminal
from dptext.types import Lexicon


def sanitize(options: Options) -> None:
    """Carry out the command."""
    progress.on(not options.quiet)
    jobs = sanitize_jobs.jobs(options)
    key = _key(options)
    recipe = profile.load(options.profile, options.overrides)
    console = screen.console(stderr=True, quiet=options.quiet)
    one = jobs[0] if options.out_dir is None else None
    if one is None:
        _try_out_dir(options, jobs)
    with streams.Release() as release:
        # All is opened before anything is read, the data first: they appear last.
        files = None if one is None else _open(release, options, one)
        report, page = (
            None if path is None else release.open(str(path))
            for path in (options.report, options.html)
        )
        ready = _Ready(options, build(recipe, console), key, console)
        if one is not None and files is not None:
            done = ready.report(one, [ready.carry_out(one, files)])
        else:
            done = _each(ready, options, jobs)
        if report is not None:
            report.stream.write(document.encode(done))
        if page is not None:
            page.stream.write(html.render(done))
        release.commit()
    terminal.show(done, console)


@dataclass(frozen=True)
class _Files:
    """What a job writes to, opened."""

    sinks: serial.Sinks
    sidecar: streams.Output | None


def _open(release: streams.Release, options: Options, job: serial.Job) -> _Files:
    sinks = serial.Sinks.of(job, release)
    beside = sanitize_jobs.beside(options, job)
    return _Files(sinks, None if beside is None else release.open(str(beside)))


class _Ready:
    """All that the jobs of a run share."""

    def __init__(
        self, options: Options, made: Pipeline, key: RunKey, console: Console
    ) -> None:
        self._options = options
        self._made = made
        self._key = key
        self._console = console
        self._measures: assemble.Measures | None = None
        self._tally = Tally.of(made.lexicon)

    def carry_out(self, job: serial.Job, files: _Files) -> serial.Written:
        """Carry out a job and write its public report."""
        tally = self._tally
        # No two records of a run have the same ordinal, so none share their noise.
        start = tally.records + tally.faults
        with _progress(self._console, self._options) as shown:
            written = serial.run(
                job,
                self._made,
                self._key,
                tally,
                files.sinks,
                start=start,
                progress=shown,
                warn=lambda message: _say(self._console, message),
            )
        if files.sidecar is not None:
            done = document.public(self.report(job, [written]))
            files.sidecar.stream.write(document.encode(done))
        return written

    def report(
        self, job: serial.Job, written: Sequence[serial.Written]
    ) -> document.Document:
        """Return the internal report of what was done so far."""
        self._measures = self._measures or assemble.Measures.of(
            self._made, self._options.bayes_risk
        )
        return assemble.document(
            self._made, job, self._key, self._tally, written, self._measures
        )


def _each(
    ready: _Ready, options: Options, jobs: Sequence[serial.Job]
) -> document.Document:
    """Carry out jobs one by one: each output appears with its sidecar."""
    written: list[serial.Written] = []
    for job in jobs:
        with streams.Release() as release:
            written.append(ready.carry_out(job, _open(release, options, job)))
            release.commit()
    return ready.report(replace(jobs[0], inputs=options.files, output=None), written)


def build(recipe: Profile, console: Console) -> Pipeline:
    """Open the lexicon and make the profile ready, saying what takes time."""
    lexicon: Lexicon = lexicons.find(
        recipe.lexicon, warn=lambda message: _say(console, message)
    )
    return pipeline.build(recipe, lexicon)


def _say(console: Console, message: str) -> None:
    console.print(f"dptext: {message}", markup=False, highlight=False, soft_wrap=True)


def _try_out_dir(options: Options, jobs: Sequence[serial.Job]) -> None:
    """Make the folder, and see that all its files can be written."""
    _make_folder(str(options.out_dir))
    for job in jobs:
        with streams.Release() as release:
            _open(release, options, job)


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
