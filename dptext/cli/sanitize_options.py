"""Options that `dptext sanitize` alone has, and the rules between its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import groups, options
from dptext.cli.groups import refuse_both
from dptext.cli.options import FOLDERS, LEDGER, MEASURES, OUTPUT
from dptext.cli.values import Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.folders import Chosen
    from dptext.engine.request import Terms

_LOCAL = "use --engine local"

BayesRisk = Annotated[
    bool | None,
    typer.Option(
        "--bayes-risk/--no-bayes-risk",
        help="Measure the risk, or leave it out. Default: where it takes seconds.",
        rich_help_panel=MEASURES,
        hidden=True,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where private texts go."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file, or folder if the input is one. Its public report goes "
            "beside it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    out_dir: Annotated[
        str | None,
        typer.Option(
            "--out-dir",
            metavar="FOLDER",
            help="Folder for the outputs of several files.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    in_place: Annotated[
        bool,
        typer.Option(
            "--in-place",
            help="Replace the original files with their private versions. A file with "
            "a report beside it is private already and stays.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = False
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="With --out-dir and --key-file: skip finished files, to continue an "
            "interrupted run.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = False
    line_buffered: Annotated[
        bool,
        typer.Option(
            "--line-buffered",
            help="Write each record immediately.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = False
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Write records in random order, drawn by the key of the run. All are "
            "held in memory.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = False
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="PATTERN",
            help="Of a folder, read the files that fit this pattern, as in "
            "'2026/*.csv'; repeatable.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="PATTERN",
            help="Of a folder, leave out files that fit this pattern; repeatable.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = None
    fail_on: options.FailOn = None

    def __post_init__(self) -> None:
        """Raise UsageError for two places of the output, and two orders of records."""
        output, out_dir = self.output is not None, self.out_dir is not None
        refuse_both("--out-dir", out_dir, "--output", output)
        refuse_both("--in-place", self.in_place, "--output", output)
        refuse_both("--in-place", self.in_place, "--out-dir", out_dir)
        refuse_both("--in-place", self.in_place, "--resume", self.resume)
        if self.shuffle:
            self._check_shuffle()
        if self.fail_on is not None and self.line_buffered:
            raise UsageError(
                "--fail-on: nothing leaves before all of it was looked at; leave "
                "--line-buffered out"
            )
        if self.resume and not out_dir:
            raise UsageError(
                "--resume is for folders of outputs (--out-dir); run a single file "
                "again instead: with --key-file that writes the same bytes"
            )

    def _check_shuffle(self) -> None:
        """Refuse options that fix the place or the time of a record in the output."""
        if self.line_buffered:
            raise UsageError(
                "--shuffle: no record leaves before all are read; leave "
                "--line-buffered out"
            )
        if self.resume:
            raise UsageError(
                "--shuffle: the manifest of --resume does not note single records; "
                "leave one of them out"
            )
        if self.in_place:
            raise UsageError(
                "--shuffle: --in-place keeps the place of each record; write to "
                "another file with -o"
            )

    @property
    def chosen(self) -> Chosen:
        """Return which files of folders are meant."""
        from dptext.engine.folders import Chosen

        return Chosen(tuple(self.include or ()), tuple(self.exclude or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerOptions:
    """The losses of subjects over all runs with one ledger."""

    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="File that records the losses of each subject over all runs. Created "
            "if missing, with its key FILE.key beside it.",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = None
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject",
            metavar="NAME",
            help="Field with the person that a record is about.",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = None
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            parser=Number(kind=float, low=1e-9, high=100_000),
            metavar="NUMBER",
            help="Most nats that a subject may lose in all recorded runs. A run that "
            "would exceed it writes nothing and ends with exit code 3.",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = None
    limit_delta: Annotated[
        float | None,
        typer.Option(
            "--limit-delta",
            parser=Number(kind=float, low=1e-18, high=1),
            metavar="NUMBER",
            help="The same for deltas, if the settings have one.",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a part of a ledger."""
        needed = (self.ledger, self.subject, self.limit)
        is_asked = self.limit_delta is not None or any(
            each is not None for each in needed
        )
        if is_asked and any(each is None for each in needed):
            raise UsageError("--ledger, --subject and --limit go together: give all")

    def terms(self) -> Terms | None:
        """Return the ledger of the run and its limits, if there is one."""
        from dptext.engine.request import Terms

        if self.ledger is None or self.subject is None or self.limit is None:
            return None
        return Terms(
            path=self.ledger,
            subject=self.subject,
            nats=self.limit,
            delta=self.limit_delta or 0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """Ways to see a run before it takes place."""

    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Show what a run will promise; read no text.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    public_text: Annotated[
        str | None,
        typer.Option(
            "--public-text",
            metavar="FILE",
            help="Public text of the same kind, for one more attacker, of --plan. "
            "Its fields are those of --field.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None
    preview: Annotated[
        int | None,
        typer.Option(
            "--preview",
            parser=Number(kind=int, low=1, high=1000),
            metavar="NUMBER",
            help="Show this many records and write nothing.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a preview of a plan, and public text without a plan."""
        refuse_both("--plan", self.plan, "--preview", self.preview is not None)
        if self.public_text is not None and not self.plan:
            raise UsageError("--public-text is about --plan: give both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """The machines that do the work."""

    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            parser=one_of("local", "spark"),
            metavar="local|spark",
            help="local, or spark to run each file of --out-dir as a task of a "
            "cluster. The output is the same.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = "local"
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="URL of Spark's master, such as spark://host:7077, yarn or local[4]. "
            "Default: that of spark-submit, else all cores of this machine.",
            rich_help_panel=FOLDERS,
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a master without a cluster."""
        if self.master is not None and self.engine == "local":
            raise UsageError("--master needs --engine spark: give both")


def check_line_buffered(
    outs: OutputOptions, budget: LedgerOptions, work: groups.RunOptions
) -> None:
    """Refuse options that hold records back, if each is written at once."""
    if not outs.line_buffered:
        return
    usual = groups.RunOptions()
    if work.jobs != usual.jobs:
        raise UsageError(
            "--line-buffered writes every record at once: leave --jobs out"
        )
    if budget.ledger is not None:
        raise UsageError(
            "--ledger: nothing leaves before all of it is charged; leave "
            "--line-buffered out"
        )
    if work.batch_size != usual.batch_size:
        raise UsageError(
            "--line-buffered writes every record at once: leave --batch-size out"
        )


def check_report_files(outs: OutputOptions, reported: groups.ReportOptions) -> None:
    """Refuse one public report for several outputs, and files without reports."""
    is_named = reported.public_report is not None
    refuse_both("--out-dir", outs.out_dir is not None, "--public-report", is_named)
    refuse_both("--in-place", outs.in_place, "--public-report", is_named)
    if outs.in_place and not reported.sidecar:
        raise UsageError(
            "--in-place needs the report beside a file, which marks the file as private"
        )


def check_seed_and_key(
    outs: OutputOptions,
    budget: LedgerOptions,
    trial: TrialOptions,
    keys: groups.KeyOptions,
) -> None:
    """Refuse a seed if draws are counted or only planned, and --resume without key."""
    is_seeded = keys.seed is not None
    refuse_both("--plan", trial.plan, "--seed", is_seeded)
    if budget.ledger is not None and is_seeded:
        raise UsageError(
            "--seed: anyone who knows it can repeat every draw, so a ledger has "
            "nothing to count; use --key-file"
        )
    if outs.resume and keys.key_file is None and not is_seeded:
        raise UsageError(
            "--resume: without a key every run draws other words, so there is nothing "
            "to continue; give --key-file"
        )


def check_cluster(
    cluster: ClusterOptions,
    files: Sequence[str] | None,
    records: groups.RecordOptions,
    outs: OutputOptions,
    budget: LedgerOptions,
    reported: groups.ReportOptions,
    work: groups.RunOptions,
) -> None:
    """Refuse options that need one process on one machine, if a cluster works."""
    if cluster.engine == "local":
        return
    if outs.shuffle:
        raise UsageError(f"--shuffle: one process orders the records; {_LOCAL}")
    if work.jobs != groups.RunOptions().jobs:
        raise UsageError(
            "--jobs: the master says how many tasks Spark runs, as in --master "
            "'local[4]'"
        )
    if records.quarantine is not None:
        raise UsageError(
            "--quarantine: tasks of several machines cannot add to one file; use "
            f"--on-error skip, or {_LOCAL}"
        )
    if outs.resume:
        raise UsageError(f"--resume: the manifest is kept by one process; {_LOCAL}")
    if budget.ledger is not None:
        raise UsageError(f"--ledger: a ledger is charged by one process; {_LOCAL}")
    if reported.sign_key is not None:
        raise UsageError(f"--sign-key: the key stays on this machine; {_LOCAL}")
    if not files or outs.out_dir is None:
        raise UsageError("--engine spark: name files or folders, and --out-dir")
