"""`dptext sanitize`: the main job."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, outputs, preview
from dptext.cli.options import (
    output_option,
    rare_output,
    rare_setting,
)
from dptext.cli.parser import Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.run import Account


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where private texts go."""

    output: Annotated[
        str | None,
        output_option(
            "-o",
            "--output",
            metavar="FILE",
            help="Output file, or folder if the input is one. Its public report goes "
            "beside it.",
        ),
    ] = None
    out_dir: Annotated[
        str | None,
        output_option(
            metavar="FOLDER",
            help="Folder for the outputs of several files.",
        ),
    ] = None
    in_place: Annotated[
        bool,
        rare_output(
            "--in-place",
            help="Replace the original files with their private versions. A file "
            "with a report beside it is private already and stays.",
        ),
    ] = False
    resume: Annotated[
        bool,
        rare_output(
            "--resume",
            help="With --out-dir and --key-file: skip finished files, to continue an "
            "interrupted run.",
        ),
    ] = False
    line_buffered: Annotated[
        bool,
        rare_output("--line-buffered", help="Write each record immediately."),
    ] = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What subjects may lose over all runs with one ledger."""

    ledger: Annotated[
        Path | None,
        rare_setting(
            help="File that records the losses of each subject over all runs. "
            "Created if missing, with its key FILE.key beside it.",
        ),
    ] = None
    subject: Annotated[
        str | None,
        rare_setting(help="Field with the person that a record is about."),
    ] = None
    limit: Annotated[
        float | None,
        rare_setting(
            parser=Number(float, 1e-9, 100_000),
            help="Most nats that a subject may lose in all recorded runs. A run that "
            "would exceed it writes nothing and ends with exit code 3.",
        ),
    ] = None
    limit_delta: Annotated[
        float | None,
        rare_setting(
            parser=Number(float, 1e-18, 1),
            help="The same for deltas, if the settings have one.",
        ),
    ] = None

    @contextlib.contextmanager
    def account(self) -> Iterator[Account | None]:
        """Open the ledger for a block, if there is one."""
        if self.ledger is None or self.subject is None or self.limit is None:
            yield None
            return
        from dptext import ledger as ledgers
        from dptext.engine.run import Account
        from dptext.ledger import Limit

        with ledgers.opened(self.ledger, create=True) as opened:
            limit = Limit(self.limit, self.limit_delta or 0.0)
            yield Account(opened, self.subject, limit)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the work is done."""

    engine: Annotated[
        str,
        rare_output(
            help="local, or spark to run each file of --out-dir as a task of a "
            "cluster. The output is the same.",
            parser=one_of("local", "spark"),
        ),
    ] = "local"
    master: Annotated[
        str | None,
        rare_output(
            help="URL of Spark's master, such as spark://host:7077, yarn or local[4]. "
            "Default: that of spark-submit, else all cores of this machine.",
        ),
    ] = None


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    records: options.Records,
    profile: options.Profile = "balanced",
    changes: options.Changes,
    keys: options.Keys,
    budget: Budget,
    outs: Outputs,
    reported: options.Reported,
    shown: Annotated[
        int | None,
        output_option(
            "--preview",
            parser=Number(int, 1, 1000),
            metavar="NUMBER",
            help="Show this many records on the terminal and write nothing.",
        ),
    ] = None,
    bayes_risk: options.BayesRisk = True,
    work: options.Work,
    cluster: Cluster,
) -> None:
    """Replace the words in the text fields of files; copy everything else.

    Example: dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl
    """
    from dptext import lexicons, pipeline
    from dptext import profile as profiles
    from dptext.engine import survey
    from dptext.engine.job import Job
    from dptext.engine.run import Opened, Run
    from dptext.streams.outputs import Release

    over = changes.overrides()
    answer = options.Answer(work, context)
    warn = answer.warn
    if cluster.engine == "spark":
        from dptext.spark import session

        session.installed()
    job = Job(
        inputs=tuple(files or ("-",)),
        output=None if outs.output == "-" else outs.output,
        selection=records.selected(budget.subject),
        format=records.format,
        on_error=records.for_faulty(),
        quarantine=records.quarantine,
        batch_size=1 if outs.line_buffered else work.batch_size,
        flush=outs.line_buffered,
        jobs=work.jobs,
        resume=outs.resume,
        any_language=survey.is_asked_for(over),
    )
    reports = reported.reports(keys.key_file)
    recipe = profiles.load(profile, over)
    lists = *recipe.tokens.keep.files, *recipe.tokens.mask.files
    planned = outputs.planned(
        job,
        outs.out_dir,
        reports,
        [*context.meta[outputs.READ], *lists],
        in_place=outs.in_place,
        warn=warn,
    )
    key = keys.key()
    if shown is not None:
        if not sys.stderr.isatty():
            raise UsageError(
                "--preview shows original text: standard error must be a terminal"
            )
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        preview.show(preview.first_records(job, shown), {"private": ready}, key)
        warn("a preview: nothing was written, sent, or recorded in a ledger")
        return
    if not planned:
        warn("each file has a report beside it and is private already: nothing to do")
        return
    if outs.out_dir is not None:
        outputs.make_folder(outs.out_dir, planned, reports)
    several = outs.in_place or outs.out_dir is not None
    with budget.account() as account, Release() as release:
        # All is opened before anything is read, the data first: they appear last.
        held = account is not None
        opened = None if several else Opened.of(job, reports, release, held=held)
        internal = outputs.Internal(reports, release)
        words = lexicons.find(recipe.lexicon, warn=warn)
        run = Run(
            pipeline.build(recipe, words),
            key,
            bayes_risk=bayes_risk,
            account=account,
            warn=warn,
            progress=answer.bar,
        )
        if opened is not None:
            with run.releasing(job, opened) as each:
                written = [each]
                result = run.report(job, written)
                internal.write(result)
        else:
            if cluster.engine == "local":
                folder = Path(outs.out_dir or ".")
                done = run.release_all(planned, reports, folder)
            else:
                done = session.release(run, planned, reports, cluster.master, warn)
            job, written = outputs.of_all(job, done, planned, warn)
            if not written:
                return
            result = run.report(job, written)
            internal.write(result)
            release.commit()
    exact = all(each.copied is not None for each in written)
    most = 0 if exact or run.tally.records <= survey.SAMPLE else survey.SAMPLE
    released = outputs.released(planned, reports, run.tally.copied, most)
    answer.show(result, released, run.tally.identifying)
