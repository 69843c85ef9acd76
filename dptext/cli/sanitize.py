"""`dptext sanitize`: the main job."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, outputs, preview
from dptext.cli.options import output_option, setting_option
from dptext.cli.values import Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.charging import Account
    from dptext.engine.job import Job, Written
    from dptext.engine.run import Reports, Run
    from dptext.randomness import RunKey


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
        output_option(
            "--in-place",
            help="Replace the original files with their private versions. A file "
            "with a report beside it is private already and stays.",
            hidden=True,
        ),
    ] = False
    resume: Annotated[
        bool,
        output_option(
            "--resume",
            help="With --out-dir and --key-file: skip finished files, to continue an "
            "interrupted run.",
            hidden=True,
        ),
    ] = False
    line_buffered: Annotated[
        bool,
        output_option(
            "--line-buffered", help="Write each record immediately.", hidden=True
        ),
    ] = False

    def of(self, files: Sequence[str]) -> Outputs:
        """Return where outputs go: for folders, --output names the folder of them."""
        if self.output is None or not any(map(os.path.isdir, files)):
            return self
        if self.out_dir is not None:
            raise UsageError("give --out-dir or -o, not both")
        return replace(self, output=None, out_dir=self.output)

    def check(self, jobs: int) -> None:
        """Refuse several processes where every record is to be written at once."""
        if jobs > 1 and self.line_buffered:
            raise UsageError(
                "--line-buffered writes every record at once: leave --jobs out"
            )

    def check_resume(self, key: RunKey) -> None:
        """Refuse to resume what cannot be resumed. Raises UsageError."""
        if not self.resume:
            return
        if self.out_dir is None:
            raise UsageError(
                "--resume is for folders of outputs (--out-dir); run a single file "
                "again instead: with --key-file that writes the same bytes"
            )
        if key.origin == "system":
            raise UsageError(
                "--resume: without a key every run draws other words, so there is "
                "nothing to continue; give --key-file"
            )


@dataclass(frozen=True, slots=True)
class Budget:
    """What subjects may lose over all runs with one ledger."""

    ledger: Annotated[
        Path | None,
        setting_option(
            help="File that records the losses of each subject over all runs. "
            "Created if missing, with its key FILE.key beside it.",
            hidden=True,
        ),
    ] = None
    subject: Annotated[
        str | None,
        setting_option(
            help="Field with the person that a record is about.", hidden=True
        ),
    ] = None
    limit: Annotated[
        float | None,
        setting_option(
            parser=Number(float, 1e-9, 100_000),
            hidden=True,
            help="Most nats that a subject may lose in all recorded runs. A run that "
            "would exceed it writes nothing and ends with exit code 3.",
        ),
    ] = None
    limit_delta: Annotated[
        float | None,
        setting_option(
            parser=Number(float, 1e-18, 1),
            help="The same for deltas, if the settings have one.",
            hidden=True,
        ),
    ] = None

    def check(self, *, line_buffered: bool, seed: int | None) -> None:
        """Refuse options that do not go together."""
        asked = self.ledger, self.subject, self.limit
        if None in asked and (*asked, self.limit_delta) != (None,) * 4:
            raise UsageError("--ledger, --subject and --limit go together: give all")
        if self.ledger is None:
            return
        if line_buffered:
            raise UsageError(
                "--ledger: nothing leaves before all of it is charged; leave "
                "--line-buffered out"
            )
        if seed is not None:
            raise UsageError(
                "--seed: anyone who knows it can repeat every draw, so a ledger has "
                "nothing to count; use --key-file"
            )

    @contextlib.contextmanager
    def account(self) -> Iterator[Account | None]:
        """Open the ledger for a block, if there is one."""
        if self.ledger is None or self.subject is None or self.limit is None:
            yield None
            return
        from dptext import ledger as ledgers
        from dptext.engine.charging import Account
        from dptext.ledger import Limit

        with ledgers.opened(self.ledger, create=True) as opened:
            limit = Limit(self.limit, self.limit_delta or 0.0)
            yield Account(opened, self.subject, limit)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the work is done."""

    engine: Annotated[
        str,
        output_option(
            help="local, or spark to run each file of --out-dir as a task of a "
            "cluster. The output is the same.",
            parser=one_of("local", "spark"),
            hidden=True,
        ),
    ] = "local"
    master: Annotated[
        str | None,
        output_option(
            help="URL of Spark's master, such as spark://host:7077, yarn or local[4]. "
            "Default: that of spark-submit, else all cores of this machine.",
            hidden=True,
        ),
    ] = None

    def check(
        self,
        files: Sequence[str] | None,
        out_dir: str | None,
        jobs: int,
        quarantine: str | None,
        ledger: Path | None,
        *,
        sign_key: Path | None = None,
        resume: bool = False,
    ) -> None:
        """Refuse options that do not go with the engine."""
        if self.engine == "local":
            if self.master is not None:
                raise UsageError("--master needs --engine spark: give both")
            return
        if not files or out_dir is None:
            raise UsageError("--engine spark: name files or folders, and --out-dir")
        if jobs > 1:
            raise UsageError(
                "--jobs: the master says how many tasks Spark runs, as in "
                f"--master 'local[{jobs}]'"
            )
        for option, value, reason in (
            (
                "--quarantine",
                quarantine,
                "tasks of several machines cannot add to one file; use "
                "--on-error skip, or",
            ),
            ("--resume", resume or None, "the manifest is kept by one process; use"),
            ("--ledger", ledger, "a ledger is charged by one process; use"),
            ("--sign-key", sign_key, "the key of reports stays on this machine; use"),
        ):
            if value is not None:
                raise UsageError(f"{option}: {reason} --engine local")
        from dptext.spark import session

        session.installed()

    def release(
        self,
        run: Run,
        jobs: Sequence[Job],
        reports: Reports,
        warn: Callable[[str], None],
        out_dir: str,
    ) -> list[tuple[Job, Written]]:
        """Carry out jobs whose outputs appear one by one; return what was not done."""
        if self.engine == "local":
            return run.release_all(jobs, reports, Path(out_dir))
        from dptext.spark import files

        written = files.release(run, jobs, reports, self.master, warn)
        return list(zip(jobs, written, strict=True))


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
    from dptext import lexicons, pipeline, progress, streams
    from dptext import profile as profiles
    from dptext.engine import language
    from dptext.engine.fields import SAMPLE
    from dptext.engine.job import Job
    from dptext.engine.run import Opened, Run
    from dptext.report import signatures, views

    outs = outs.of(files or ())
    over = changes.overrides()
    answer = options.Answer(work, context)
    warn = answer.warn
    progress.on(work.says_steps)
    outs.check(work.jobs)
    budget.check(line_buffered=outs.line_buffered, seed=keys.seed)
    cluster.check(
        files,
        outs.out_dir,
        jobs=work.jobs,
        quarantine=records.quarantine,
        ledger=budget.ledger,
        sign_key=reported.sign_key,
        resume=outs.resume,
    )
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
        any_language=language.is_asked_for(over),
    )
    reports = reported.reports(keys.key_file)
    planned = outputs.planned(
        job, outs.out_dir, reports, in_place=outs.in_place, warn=warn
    )
    key = keys.key()
    outs.check_resume(key)
    recipe = profiles.load(profile, over)
    if shown is not None:
        preview.check()
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        preview.show(job, shown, ready, key)
        return
    if not planned:
        warn("each file has a report beside it and is private already: nothing to do")
        return
    if outs.out_dir is not None:
        outputs.make_folder(outs.out_dir, planned, reports)
    several = outs.in_place or outs.out_dir is not None
    with budget.account() as account, streams.Release() as release:
        # All is opened before anything is read, the data first: they appear last.
        opened = None
        if not several:
            held = account is not None
            opened = Opened.of(job, reports, release, held=held)
        internal = outputs.Internal(reports, release)
        words = lexicons.find(recipe.lexicon, warn=warn)
        ready = pipeline.build(recipe, words)
        run = Run(
            ready,
            key,
            bayes_risk=bayes_risk,
            account=account,
            warn=warn,
            progress=answer.bar,
        )
        with run.charging(opened) as charging:
            if opened is not None:
                written = [run.carry_out(job, opened, charging)]
            else:
                done = cluster.release(run, planned, reports, warn, outs.out_dir or ".")
                job, written = outputs.of_all(job, done, planned, warn)
                if not written:
                    return
            result = run.report(job, written)
            view = views.report(result, signatures.of_signer(reports.key))
            internal.write(result, view)
            release.complete()
            charging.leave()
            release.commit()
    exact = all(each.copied is not None for each in written)
    most = 0 if exact or run.tally.records <= SAMPLE else SAMPLE
    released = outputs.released(planned, reports, run.tally.copied, most)
    answer.show(result, view, released, run.tally.identifying)
