"""`dptext sanitize`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_INPUT = "Input"
_GUARANTEE = "Guarantee"
_OUTPUT = "Output and report"


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Files to read; none or - is standard input."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write; else standard output. A sidecar OUTPUT.dptext.json "
            "with the public report is written beside it.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    out_dir: Annotated[
        str | None,
        typer.Option(
            help="Folder for the outputs of several files, one to one under the same "
            "names, each with its own sidecar.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            "-p",
            "--profile",
            help="Recipe: a name that `dptext profiles` lists, or a .yaml file.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = "balanced",
    field: Annotated[
        list[str] | None,
        typer.Option(
            "-f",
            "--field",
            help="Text field (dotted path in JSON, column in CSV); repeatable. "
            "Default: text.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="jsonl, csv, tsv, text or parquet; else by suffix.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            help="Field that names a record, unique; else its place in the input.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="An absent or null text field: fail or pass.", rich_help_panel=_INPUT
        ),
    ] = "fail",
    delimiter: Annotated[
        str | None,
        typer.Option(help="Field delimiter of CSV or TSV.", rich_help_panel=_INPUT),
    ] = None,
    quoting: Annotated[
        bool,
        typer.Option(
            "--quoting/--no-quoting",
            help="Whether quotes enclose fields in CSV and TSV.",
            rich_help_panel=_INPUT,
        ),
    ] = True,
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Whether CSV and TSV begin with column names; without, --field 1 is "
            "the first column.",
            rich_help_panel=_INPUT,
        ),
    ] = True,
    max_record_bytes: Annotated[
        int,
        typer.Option(
            min=1,
            max=2**40,
            help="Longest record that is read.",
            rich_help_panel=_INPUT,
        ),
    ] = 16 * 2**20,
    on_error: Annotated[
        str,
        typer.Option(
            help="A record that cannot be read: fail, skip or quarantine.",
            rich_help_panel=_INPUT,
        ),
    ] = "fail",
    quarantine: Annotated[
        str | None,
        typer.Option(
            help="Where unreadable records go, as they are (original text!).",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Epsilon per word.", rich_help_panel=_GUARANTEE),
    ] = None,
    epsilon_per_text: Annotated[
        float | None,
        typer.Option(
            help="Epsilon of a whole text, in equal parts for its words.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            help="Choose epsilon so that the best possible guess of a word succeeds "
            "this often, as in 10%.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="Mechanism with its default parameters.", rich_help_panel=_GUARANTEE
        ),
    ] = None,
    lexicon: Annotated[
        str | None,
        typer.Option(
            help="Lexicon: a name that `dptext lexicon list` shows, or a file.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Override one key of the profile, as in --set tokens.number=mask.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="Secret of at least 32 random bytes: running again gives the same "
            "bytes.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="For tests and papers: repeatable, and no privacy at all.",
            rich_help_panel=_GUARANTEE,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write the internal report (functions of the private text!) as JSON.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write the internal report as a page for browsers.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    public_report: Annotated[
        Path | None,
        typer.Option(
            help="Write the public report here instead of beside the output.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    sidecar: Annotated[
        bool,
        typer.Option(
            "--sidecar/--no-sidecar",
            help="Whether OUTPUT.dptext.json is written.",
            rich_help_panel=_OUTPUT,
        ),
    ] = True,
    bayes_risk: Annotated[
        bool,
        typer.Option(
            "--bayes-risk/--no-bayes-risk",
            help="Whether the report measures the risk.",
            rich_help_panel=_OUTPUT,
        ),
    ] = True,
    batch_size: Annotated[
        int,
        typer.Option(
            min=1,
            help="Most records in a batch; changes no output.",
            rich_help_panel=_OUTPUT,
        ),
    ] = 4096,
    jobs: Annotated[
        int,
        typer.Option(
            "-j",
            "--jobs",
            min=1,
            max=256,
            help="Processes that replace words; changes no output. Worth it for large "
            "files and mechanisms with noise.",
            rich_help_panel=_OUTPUT,
        ),
    ] = 1,
    line_buffered: Annotated[
        bool,
        typer.Option(
            "--line-buffered",
            help="Write every record at once.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "-q",
            "--quiet",
            help="No report, notes or progress on standard error.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            help="Progress on standard error; by default on a terminal.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
) -> None:
    """Privatize the text fields of records; everything else passes through unchanged.

    Data goes to standard output or -o, the privacy report to standard error.

    Example: dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl
    """
    from dptext.cli import options, sanitize_jobs, sanitize_run

    sanitize_run.sanitize(
        sanitize_jobs.Options(
            files=tuple(files or ("-",)),
            output=None if output == "-" else output,
            out_dir=out_dir,
            profile=profile,
            overrides=options.overrides(
                epsilon, epsilon_per_text, risk, mechanism, lexicon, set_ or []
            ),
            fields=tuple(field or ("text",)),
            format=format,
            id_field=id,
            missing=missing,
            delimiter=delimiter,
            quoting=quoting,
            header=header,
            max_record_bytes=max_record_bytes,
            on_error=on_error,
            quarantine=quarantine,
            key_file=key_file,
            seed=seed,
            report=report,
            html=html,
            public_report=public_report,
            sidecar=sidecar,
            bayes_risk=bayes_risk,
            batch_size=1 if line_buffered else batch_size,
            flush=line_buffered,
            jobs=jobs,
            quiet=quiet,
            progress=progress,
        )
    )
