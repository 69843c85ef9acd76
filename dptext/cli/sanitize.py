"""`dptext sanitize`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dptext.cli import (
    applying,
    groups,
    options,
    outputs,
    sanitize_options,
    screen,
    stopping,
)
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.guarantees.statement import Statement
    from dptext.pipeline import Pipeline
    from dptext.randomness import RunKey

EXAMPLES = (
    "dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl",
    "dptext sanitize exports -f body --profile readable --out-dir private",
)


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    records: groups.RecordOptions,
    fields: groups.FieldOptions,
    profile: options.Profile = "balanced",
    changes: groups.ProfileOptions,
    keys: groups.KeyOptions,
    budget: sanitize_options.LedgerOptions,
    outs: sanitize_options.OutputOptions,
    reported: groups.ReportOptions,
    trial: sanitize_options.TrialOptions,
    bayes_risk: sanitize_options.BayesRisk = None,
    work: groups.RunOptions,
    cluster: sanitize_options.ClusterOptions,
) -> None:
    """Replace the words in text fields of files; copy everything else."""
    from dptext import lexicons, pipeline, pseudonyms
    from dptext import profile as profiles
    from dptext.engine import survey
    from dptext.engine.run import JobOutputs, Run
    from dptext.streams.outputs import Release

    sanitize_options.check_line_buffered(outs, budget, work)
    sanitize_options.check_report_files(outs, reported)
    sanitize_options.check_seed_and_key(outs, budget, trial, keys)
    sanitize_options.check_cluster(
        cluster=cluster,
        files=files,
        records=records,
        outs=outs,
        budget=budget,
        reported=reported,
        work=work,
    )
    over = changes.overrides()
    answer = screen.Answer(work, context)
    warn = answer.warn
    if trial.plan:
        from dptext.cli import plan
        from dptext.evaluation.attackers import PublicText

        recipe = profiles.load(changes.profile(profile), over)
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        plan.show(
            ready,
            _promised(
                ready=ready, records=records, fields=fields, keys=keys, budget=budget
            ),
            plan.measure_size(files or (), records.format, outs.chosen),
            PublicText.named(trial.public_text, records.field),
            dropped=fields.drop or (),
            pseudonyms=fields.pseudonym or (),
            jobs=work.jobs,
            bayes_risk=bayes_risk,
            as_json=work.json,
            html=reported.html,
        )
        return
    if cluster.engine == "spark":
        from dptext import spark

        spark.installed()
    job = records.job(
        files=files, output=outs.output, subject=budget.subject, over=over, work=work
    )
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
        job,
        reports,
        [*context.meta[outputs.READ], *lists],
        out_dir=outs.out_dir,
        in_place=outs.in_place,
        chosen=outs.chosen,
        warn=warn,
    )
    key = keys.key()
    if job.selection.pseudonyms:
        pseudonyms.check(key)
    if trial.preview is not None:
        _check_terminal()
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        _preview(job=job, ready=ready, key=key, number=trial.preview, warn=warn)
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
        inspect = stopping.inspection(outs.fail_on, context, budget.subject)
        held = account is not None or inspect is not None
        opened = None if several else JobOutputs.open(job, reports, release, held=held)
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
                done = spark.release(
                    run=run,
                    jobs=planned,
                    reports=reports,
                    master=cluster.master,
                    warn=warn,
                )
            job, written = outputs.join_released(job, done, planned, warn)
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


def _promised(
    ready: Pipeline,
    records: groups.RecordOptions,
    fields: groups.FieldOptions,
    keys: groups.KeyOptions,
    budget: sanitize_options.LedgerOptions,
) -> Statement:
    """Return what a run with these options will promise."""
    from dptext.engine import documents
    from dptext.guarantees.claims import SubjectLimit

    limits = None
    if budget.subject is not None and budget.limit is not None:
        limits = SubjectLimit(budget.subject, budget.limit, budget.limit_delta or 0.0)
    return documents.promised(
        ready,
        "system" if keys.key_file is None else "key-file",
        identified=records.id is not None,
        fields=tuple(records.field) if records.field else None,
        subjects=limits,
        dropped=tuple(fields.drop or ()),
        pseudonyms=tuple(fields.pseudonym or ()),
    )


def _check_terminal() -> None:
    """Raise UsageError unless a preview is for the eyes of somebody alone."""
    if not sys.stderr.isatty():
        raise UsageError(
            "--preview shows original text: standard error must be a terminal"
        )


def _preview(
    job: Job, ready: Pipeline, key: RunKey, number: int, warn: Callable[[str], None]
) -> None:
    """Show what becomes of the first records, and of the fields in them."""
    from dptext.engine import source
    from dptext.engine.job import pseudonym_function

    selection, token = job.selection, pseudonym_function(job.selection, key)
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
    screen.preview(
        batch=batch,
        pipelines={"private": ready},
        key=key,
        tokens=tokens,
        dropped=dropped,
    )
