"""`dptext sanitize`: the main job."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import applying, options, outputs, parser, screen
from dptext.cli.options import Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.run import Account, Inspect
    from dptext.pipeline import Pipeline
    from dptext.randomness import RunKey


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where private texts go."""

    output: options.Text = None
    out_dir: options.Text = None
    in_place: bool = False
    resume: bool = False
    line_buffered: bool = False
    shuffle: bool = False
    include: options.Texts = None
    exclude: options.Texts = None
    fail_on: Annotated[str | None, one_of("identifying")] = None

    @property
    def chosen(self) -> outputs.Chosen:
        """Return which files of folders are meant."""
        return outputs.Chosen(tuple(self.include or ()), tuple(self.exclude or ()))

    def inspection(self, context: typer.Context, subject: str | None) -> Inspect | None:
        """Return what looks at outputs before they leave, None where nothing does."""
        if self.fail_on is None:
            return None
        from dptext.guarantees import policy
        from dptext.report.contents import StopAtIdentifying

        configured = parser.of_run(context)
        accepted = policy.of(configured.policy, configured.shown)
        return StopAtIdentifying(accepted.identifying, subject)


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """What subjects may lose over all runs with one ledger."""

    ledger: options.File = None
    subject: options.Text = None
    limit: Annotated[float | None, Number(float, 1e-9, 100_000)] = None
    limit_delta: Annotated[float | None, Number(float, 1e-18, 1)] = None

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

    engine: Annotated[str, one_of("local", "spark")] = "local"
    master: options.Text = None


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    records: options.Records,
    fields: options.FieldOptions,
    profile: str = "balanced",
    changes: options.Changes,
    keys: options.Keys,
    budget: LedgerOptions,
    outs: Outputs,
    reported: options.Reported,
    preview: Annotated[int | None, Number(int, 1, 1000)] = None,
    bayes_risk: bool = True,
    work: options.Work,
    cluster: Cluster,
) -> None:
    """Replace the words in the text fields of files; copy everything else.

    Example: dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl
    """
    from dptext import lexicons, pipeline, pseudonyms
    from dptext import profile as profiles
    from dptext.engine import survey
    from dptext.engine.run import Opened, Run
    from dptext.streams.outputs import Release

    over = changes.overrides()
    answer = screen.Answer(work, context)
    warn = answer.warn
    if cluster.engine == "spark":
        from dptext import spark

        spark.installed()
    job = records.job(files, outs.output, budget.subject, over, work)
    job = fields.added_to(job)
    size = 1 if outs.line_buffered else work.batch_size
    job = replace(
        job,
        flush=outs.line_buffered,
        resume=outs.resume,
        batch_size=size,
        typed=context.meta[applying.TYPED],
        shuffle=outs.shuffle,
    )
    reports = reported.reports(keys.key_file)
    recipe = profiles.load(changes.profile(profile), over)
    lists = *recipe.tokens.keep.files, *recipe.tokens.mask.files
    planned = outputs.planned(
        *(job, reports, [*context.meta[outputs.READ], *lists]),
        out_dir=outs.out_dir,
        in_place=outs.in_place,
        chosen=outs.chosen,
        warn=warn,
    )
    key = keys.key()
    if job.selection.pseudonyms:
        pseudonyms.check(key)
    if preview is not None:
        if not sys.stderr.isatty():
            raise UsageError(
                "--preview shows original text: standard error must be a terminal"
            )
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        _preview(job, ready, key, preview, warn)
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
        inspect = outs.inspection(context, budget.subject)
        held = account is not None or inspect is not None
        opened = None if several else Opened.of(job, reports, release, held=held)
        write = outputs.internal(reports, release)
        words = lexicons.find(recipe.lexicon, warn=warn)
        run = Run(
            pipeline.build(recipe, words),
            key,
            bayes_risk=bayes_risk,
            account=account,
            inspect=inspect,
            warn=warn,
            progress=answer.bar,
        )
        if opened is not None:
            with run.releasing(job, opened) as each:
                written = [each]
                result = answer.with_warnings(
                    run.report(job, written), run.tally.identifying
                )
                write(result)
        else:
            if cluster.engine == "local":
                folder = Path(outs.out_dir or ".")
                done = run.release_all(planned, reports, folder)
            else:
                done = spark.release(run, planned, reports, cluster.master, warn)
            job, written = outputs.of_all(job, done, planned, warn)
            if not written:
                return
            result = answer.with_warnings(
                run.report(job, written), run.tally.identifying
            )
            write(result)
            release.commit()
    exact = all(each.copied is not None for each in written)
    most = 0 if exact or run.tally.records <= survey.SAMPLE else survey.SAMPLE
    released = outputs.released(planned, reports, run.tally.copied, most)
    answer.show(result, released)


def _preview(
    job: Job, ready: Pipeline, key: RunKey, number: int, warn: Callable[[str], None]
) -> None:
    """Show what becomes of the first records, and of the fields in them."""
    from dptext.engine import source
    from dptext.engine.job import token_of

    selection, token = job.selection, token_of(job.selection, key)
    beginning = source.beginning(job, number)
    batch = beginning.records
    there = {name for record in batch for name in record.present or ()}
    for name in selection.changed:
        if name not in there:
            warn(f"field {name!r} is in none of these records")
    tokens: list[dict[str, str]] = []
    if selection.pseudonyms:
        tokens = beginning.pseudonyms(selection, token)
    dropped = [name for name in selection.dropped if name in there]
    screen.preview(batch, {"private": ready}, key, tokens, dropped)
