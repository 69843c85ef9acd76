"""`dptext sanitize`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
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
    from dptext.engine.request import Request
    from dptext.guarantees.claims import SubjectLimit
    from dptext.guarantees.statement import Statement
    from dptext.pipeline import Pipeline

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
    from dptext import calibration, lexicons
    from dptext.engine.request import Request
    from dptext.profile import load

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
    if trial.plan:
        from dptext.cli import plan
        from dptext.evaluation.attackers import PublicText

        recipe = load(changes.profile(profile), over)
        lexicon = lexicons.find(recipe.lexicon, warn=answer.warn)
        ready = calibration.build(recipe, lexicon)
        plan.show(
            ready,
            _promised(
                ready=ready, records=records, fields=fields, keys=keys, budget=budget
            ),
            plan.measure_size(files or (), records.format, outs.chosen),
            PublicText.named(trial.public_text, records.field),
            limits=_limits(budget),
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
    release_all = None
    if cluster.engine == "spark":
        release_all = partial(spark.release, master=cluster.master, warn=answer.warn)
    request = Request(
        job=job,
        profile=load(changes.profile(profile), over),
        key=keys.key(),
        reports=reported.reports(keys.key_file),
        out_dir=outs.out_dir,
        in_place=outs.in_place,
        chosen=outs.chosen,
        read=context.meta[outputs.READ],
        bayes_risk=bayes_risk,
        ledger=budget.terms(),
        inspect=stopping.inspection(outs.fail_on, context, budget.subject),
        release_all=release_all,
    )
    jobs = request.jobs(answer.warn)
    if trial.preview is not None:
        _preview(request, trial.preview, answer.warn)
        return
    finished = request.carry_out(jobs, answer)
    if finished is not None:
        answer.show(finished.report, finished.outputs)
        if finished.left_out is not None and work.json:  # its warnings name them
            raise typer.Exit(finished.left_out.exit_code)
        if finished.left_out is not None:
            raise finished.left_out


def _promised(
    ready: Pipeline,
    records: groups.RecordOptions,
    fields: groups.FieldOptions,
    keys: groups.KeyOptions,
    budget: sanitize_options.LedgerOptions,
) -> Statement:
    """Return what a run with these options will promise."""
    from dptext.engine import documents

    return documents.promised(
        ready,
        "system" if keys.key_file is None else "key-file",
        identified=records.id is not None,
        fields=tuple(records.field) if records.field else None,
        subjects=_limits(budget),
        dropped=tuple(fields.drop or ()),
        pseudonyms=tuple(fields.pseudonym or ()),
    )


def _limits(budget: sanitize_options.LedgerOptions) -> SubjectLimit | None:
    """Return the limits of a ledger, None without one."""
    from dptext.guarantees.claims import SubjectLimit

    if budget.subject is None or budget.limit is None:
        return None
    return SubjectLimit(budget.subject, budget.limit, budget.limit_delta or 0.0)


def _preview(request: Request, number: int, warn: Callable[[str], None]) -> None:
    """Show what becomes of the first records, and of the fields in them.

    Raises UsageError unless standard error is a terminal: it is for one person's eyes.
    """
    from dptext.engine import source
    from dptext.engine.job import pseudonym_function

    if not sys.stderr.isatty():
        raise UsageError(
            "--preview shows original text: standard error must be a terminal"
        )
    job, key, ready = request.job, request.key, request.pipeline(warn)
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
    warn("a preview: nothing was written, sent, or recorded in a ledger")
