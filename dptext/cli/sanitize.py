"""`dptext sanitize`: the main job."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from dptext.engines.serial import Progress
    from dptext.randomness import RunKey


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Files to read; none or - is standard input."),
    ] = None,
    field: options.Fields = None,
    format: options.Format = None,
    id: options.Id = None,
    missing: Annotated[
        str,
        options.input_option(
            help="An absent or null text field: fail or pass.",
            callback=options.one_of("--missing", "fail", "pass"),
        ),
    ] = "fail",
    delimiter: options.Delimiter = None,
    quoting: options.Quoting = True,
    header: options.Header = True,
    max_record_bytes: Annotated[
        int,
        options.input_option(min=1, max=2**40, help="Longest record that is read."),
    ] = 16 * 2**20,
    on_error: Annotated[
        str,
        options.input_option(
            help="A record that cannot be read: fail, skip or quarantine.",
            callback=options.one_of("--on-error", "fail", "skip", "quarantine"),
        ),
    ] = "fail",
    quarantine: Annotated[
        str | None,
        options.input_option(
            help="Where unreadable records go, as they are (original text!)."
        ),
    ] = None,
    profile: options.Profile = "balanced",
    epsilon: options.Epsilon = None,
    epsilon_per_text: options.EpsilonPerText = None,
    risk: options.Risk = None,
    mechanism: options.Mechanism = None,
    decode: options.Decode = None,
    lexicon: options.Lexicon = None,
    set_: options.Set = None,
    key_file: Annotated[
        Path | None,
        options.setting_option(
            help="Secret of at least 32 random bytes: running again gives the same "
            "bytes."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        options.setting_option(
            help="For tests and papers: repeatable, and no privacy at all."
        ),
    ] = None,
    bayes_risk: options.BayesRisk = True,
    output: Annotated[
        str | None,
        options.output_option(
            "-o",
            "--output",
            help="File to write; else standard output. A sidecar OUTPUT.dptext.json "
            "with the public report is written beside it.",
        ),
    ] = None,
    out_dir: Annotated[
        str | None,
        options.output_option(
            help="Folder for the outputs of several files, one to one under the same "
            "names, each with its own sidecar."
        ),
    ] = None,
    report: options.Report = None,
    html: options.Html = None,
    public_report: Annotated[
        Path | None,
        options.output_option(
            help="Write the public report here instead of beside the output."
        ),
    ] = None,
    sidecar: Annotated[
        bool,
        options.output_option(
            "--sidecar/--no-sidecar", help="Whether OUTPUT.dptext.json is written."
        ),
    ] = True,
    batch_size: Annotated[
        int,
        options.output_option(
            min=1, help="Most records in a batch; changes no output."
        ),
    ] = 4096,
    jobs: options.Jobs = 1,
    line_buffered: Annotated[
        bool,
        options.output_option("--line-buffered", help="Write every record at once."),
    ] = False,
    quiet: options.Quiet = False,
    progress: Annotated[
        bool | None,
        options.output_option(
            "--progress/--no-progress",
            help="Progress on standard error; by default on a terminal.",
        ),
    ] = None,
) -> None:
    """Privatize the text fields of records; everything else passes through unchanged.

    Data goes to standard output or -o, the privacy report to standard error; --report
    and --html write the internal report (functions of the private text!) to files.

    Example: dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl
    """
    from dptext import lexicons, pipeline, streams
    from dptext import profile as profiles
    from dptext import progress as steps
    from dptext.cli import outputs
    from dptext.engines.serial import Job
    from dptext.report import document, terminal
    from dptext.report import html as page
    from dptext.report.run import Opened, Reports, Run
    from dptext.types import Selection

    over = options.overrides(
        epsilon=epsilon,
        epsilon_per_text=epsilon_per_text,
        risk=risk,
        mechanism=mechanism,
        decode=decode,
        lexicon=lexicon,
        settings=set_,
    )
    steps.on(not quiet)
    if jobs > 1 and line_buffered:
        msg = "--line-buffered writes every record at once: leave --jobs out"
        raise UsageError(msg)
    job = Job(
        inputs=tuple(files or ("-",)),
        output=None if output == "-" else output,
        selection=Selection(
            fields=tuple(field or ("text",)),
            id_field=id,
            missing=missing,
            delimiter=delimiter,
            quoting=quoting,
            header=header,
            max_record_bytes=max_record_bytes,
        ),
        format=format,
        on_error=_on_error(on_error, quarantine),
        quarantine=quarantine,
        batch_size=1 if line_buffered else batch_size,
        flush=line_buffered,
        jobs=jobs,
    )
    reports = Reports(report, html, public_report, sidecar)
    planned = outputs.planned(job, out_dir, reports, key_file)
    key = _key(key_file, seed)
    recipe = profiles.load(profile, over)
    console = screen.console(stderr=True, quiet=quiet)
    warn = partial(_warn, console)
    if out_dir is not None:
        outputs.make_folder(out_dir, planned, reports)
    shown = sys.stderr.isatty() if progress is None else progress
    with streams.Release() as release:
        # All is opened before anything is read, the data first: they appear last.
        opened = Opened.of(job, reports, release) if out_dir is None else None
        sinks = [
            None if path is None else release.open(str(path)) for path in (report, html)
        ]
        words = lexicons.find(recipe.lexicon, warn=warn)
        ready = pipeline.build(recipe, words)
        bar = partial(_progress_bar, console, shown and not quiet)
        run = Run(ready, key, bayes_risk=bayes_risk, warn=warn, progress=bar)
        if opened is not None:
            written = [run.carry_out(job, opened)]
        else:
            written = [run.release(each, reports) for each in planned]
        result = run.report(job, written)
        for sink, write in zip(sinks, (document.encode, page.render), strict=True):
            if sink is not None:
                sink.stream.write(write(result))
        release.commit()
    terminal.show(result, console)


def _on_error(on_error: str, quarantine: str | None) -> str:
    """Return what happens to faulty records: --quarantine alone says it, too."""
    if on_error == "quarantine" and quarantine is None:
        msg = "--on-error quarantine: name the file with --quarantine FILE"
        raise UsageError(msg)
    if on_error == "fail" and quarantine is not None:
        return "quarantine"
    return on_error


def _key(key_file: Path | None, seed: int | None) -> RunKey:
    from dptext.randomness import RunKey

    if key_file is not None and seed is not None:
        msg = "give --key-file or --seed, not both"
        raise UsageError(msg)
    if key_file is not None:
        return RunKey.from_file(key_file)
    return RunKey.fresh() if seed is None else RunKey.from_seed(seed)


def _warn(console: Console, line: str) -> None:
    console.print(f"dptext: {line}", soft_wrap=True)


@contextlib.contextmanager
def _progress_bar(console: Console, shown: bool) -> Iterator[Progress | None]:
    """Show records and words so far; yield what is to be told of them."""
    if not shown:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[records]:,} records, {task.fields[words]:,} words"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, records=0, words=0)
        yield lambda records, words: bar.update(task, records=records, words=words)
