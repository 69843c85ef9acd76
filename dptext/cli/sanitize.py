"""`dptext sanitize`: the main command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dptext import progress
from dptext.cli import options, parser, screen
from dptext.errors import UsageError
from dptext.run.choices import Choices
from dptext.run.interface import refuse_alone, refuse_both
from dptext.run.marks import MEASURES, OUTPUT, Number, Option
from dptext.run.selection import Selection
from dptext.run.work import Keys, LedgerUse, Outputs, Reports, Work, check_together

if TYPE_CHECKING:
    from dptext.engine.request import Request

EXAMPLES = (
    "dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl",
    "dptext sanitize exports -f body --profile balanced --out-dir private",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Options to preview a run."""

    plan: Annotated[
        bool, Option("Show the guarantee of a run; read no text.", OUTPUT)
    ] = False
    public_text: Annotated[
        str | None,
        Option(
            "Public text of the same kind, to measure an additional attacker. Needs "
            "--plan; the fields are those of --field.",
            MEASURES,
            metavar="FILE",
            hidden=True,
        ),
    ] = None
    preview: Annotated[
        int | None,
        Option(
            "Show this many records and write nothing.",
            OUTPUT,
            parse=Number(kind=int, low=1, high=1000),
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a preview with a plan, or public text without a plan."""
        refuse_both("plan", self.plan, "preview", self.preview is not None)
        refuse_alone("public-text", self.public_text is not None, "plan", self.plan)


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    selection: Selection,
    choices: Choices,
    keys: Keys,
    ledger: LedgerUse,
    outs: Outputs,
    reports: Reports,
    trial: Trial,
    work: Work,
    shown: options.Shown,
) -> None:
    """Replace the words in text fields of files; copy everything else."""
    from dptext.engine.files import SignedReports
    from dptext.engine.request import Request, open_key
    from dptext.randomness import RunKey

    check_together(
        files or (), keys=keys, ledger=ledger, outputs=outs, reports=reports, work=work
    )
    refuse_both("plan", trial.plan, "seed", keys.seed is not None)
    answer = screen.Answer(shown, context)
    release_all = None
    if work.engine == "spark" and not trial.plan:
        from dptext import spark

        spark.installed()
        release_all = partial(spark.release, master=work.master, warn=answer.warn)
    request = Request.begin(
        files or (),
        selection,
        choices,
        outputs=outs,
        ledger=ledger,
        work=work,
        needs=context.meta[parser.NEEDS],
        key=RunKey.fresh() if trial.plan else open_key(keys),
        reports=SignedReports.begin(reports, keys.key_file),
        read=context.meta[options.READ],
        inspect=options.inspection(
            outs.fail_on, partial(parser.find_configuration, context), ledger.subject
        ),
        release_all=release_all,
    )
    if trial.plan:
        _plan(request, keys, trial.public_text, shown=shown, warn=answer.warn)
        return
    jobs = request.jobs(answer.warn)
    if trial.preview is not None:
        _preview(request, trial.preview, answer.warn)
        return
    finished = request.carry_out(jobs, answer)
    if finished is not None:
        answer.show(finished.report, finished.outputs)
        if finished.left_out is not None and shown.json:  # its warnings name them
            raise typer.Exit(finished.left_out.exit_code)
        if finished.left_out is not None:
            raise finished.left_out


def _plan(
    request: Request,
    keys: Keys,
    public_text: str | None,
    shown: options.Shown,
    warn: Callable[[str], None],
) -> None:
    """Print the plan and statement of a run before any text is read.

    With a public text, an attacker learns from one half and reads the other half.
    """
    from dptext.engine import plan
    from dptext.evaluation.attackers import PublicText, read_by_halves

    ready = request.pipeline(warn)
    public = PublicText.named(public_text, request.job.selection.fields)
    with progress.step("planning"):
        result = plan.planned(
            request,
            ready,
            "system" if keys.key_file is None else "key-file",
            ((), ()) if public is None else read_by_halves(ready, public),
        )
    screen.deliver(result, shown.json, plan.view(result), html=request.reports.html)


def _preview(request: Request, number: int, warn: Callable[[str], None]) -> None:
    """Preview the first sanitized records, and the treatment of their fields.

    Raises UsageError unless standard error is a terminal: it is for one person's eyes.
    """
    from dptext.engine import source
    from dptext.engine.job import find_replacement

    if not sys.stderr.isatty():
        raise UsageError(
            "--preview shows original text: standard error must be a terminal"
        )
    job, key, ready = request.job, request.key, request.pipeline(warn)
    selection = job.selection
    beginning = source.beginning(job, number)
    batch = beginning.records
    there = {name for record in batch for name in record.present or ()}
    for name in selection.changed:
        if name not in there:
            warn(f"field {name!r} is in none of these records")
    dropped = [name for name in selection.dropped if name in there]
    screen.preview(
        batch=batch,
        pipelines={"private": ready},
        key=key,
        replaced=beginning.replacements(selection, find_replacement(selection, key)),
        dropped=dropped,
    )
    warn("a preview: nothing was written, sent, or recorded in a ledger")
