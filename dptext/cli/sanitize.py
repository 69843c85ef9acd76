"""`dptext sanitize`: the main job."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Annotated

from dptext.cli import accounts, clusters, groups, options, screen


def command(
    files: options.Files = None,
    *,
    layout: groups.Layout,
    id: options.Id = None,
    missing: options.Missing = "fail",
    max_record_bytes: options.MaxRecordBytes = 16 * 2**20,
    on_error: options.OnError = "fail",
    quarantine: options.Quarantine = None,
    profile: options.Profile = "balanced",
    changes: groups.Changes,
    key_file: options.KeyFile = None,
    seed: options.Seed = None,
    budget: accounts.Budget,
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
    in_place: Annotated[
        bool,
        options.output_option(
            "--in-place",
            help="Put the private texts in the place of the original files; a file "
            "whose report lies beside it is private already and stays.",
        ),
    ] = False,
    report: options.Report = None,
    html: options.Html = None,
    public_report: options.PublicReport = None,
    sidecar: options.Sidecar = True,
    sign_key: options.SignKey = None,
    batch_size: options.BatchSize = 4096,
    jobs: options.Jobs = 1,
    engine: clusters.Cluster,
    line_buffered: Annotated[
        bool,
        options.output_option("--line-buffered", help="Write every record at once."),
    ] = False,
    resume: Annotated[
        bool,
        options.output_option(
            "--resume",
            help="With --out-dir and --key-file: pass over files that are done, so "
            "that the same command goes on where it was interrupted.",
        ),
    ] = False,
    preview: Annotated[
        int | None,
        options.output_option(
            min=1,
            max=1000,
            help="Only show so many records on the terminal, originals and private "
            "texts side by side; nothing is written.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    progress: options.ProgressBar = None,
) -> None:
    """Privatize the text fields of records; everything else passes through unchanged.

    Data goes to standard output or -o, the privacy report to standard error; --report
    and --html write the internal report (functions of the private text!) to files.

    Example: dptext sanitize tickets.jsonl --field body -o tickets.private.jsonl
    """
    from dptext import lexicons, pipeline, streams
    from dptext import profile as profiles
    from dptext import progress as steps
    from dptext.cli import outputs, running
    from dptext.cli import preview as previews
    from dptext.engine.job import Job
    from dptext.engine.run import Opened, Reports, Run
    from dptext.report import signatures, views

    over = changes.overrides()
    steps.on(not quiet)
    running.check_buffering(jobs, line_buffered=line_buffered)
    budget.check(line_buffered=line_buffered, seed=seed)
    engine.check(
        files,
        out_dir,
        jobs=jobs,
        quarantine=quarantine,
        ledger=budget.ledger,
        sign_key=sign_key,
        resume=resume,
    )
    job = Job(
        inputs=tuple(files or ("-",)),
        output=None if output == "-" else output,
        selection=replace(
            layout.selection(),
            id_field=id,
            missing=missing,
            max_record_bytes=max_record_bytes,
            subject_field=budget.subject,
        ),
        format=layout.format,
        on_error=running.on_error(on_error, quarantine),
        quarantine=quarantine,
        batch_size=1 if line_buffered else batch_size,
        flush=line_buffered,
        jobs=jobs,
        resume=resume,
    )
    signing = running.signing(sign_key, key_file)
    reports = Reports(report, html, public_report, sidecar, signing)
    console = screen.console(stderr=True, quiet=quiet)
    warn = partial(running.warn, console)
    planned = outputs.planned(
        job,
        out_dir,
        reports,
        in_place=in_place,
        warn=warn,
    )
    several = in_place or out_dir is not None
    key = running.key(key_file, seed)
    if resume:
        running.check_resume(key, out_dir)
    recipe = profiles.load(profile, over)
    if preview is not None:
        previews.check()
        ready = pipeline.build(recipe, lexicons.find(recipe.lexicon, warn=warn))
        previews.show(job, preview, ready, key)
        return
    if not planned:
        warn("each file is private already, by the report beside it: nothing to do")
        return
    if out_dir is not None:
        outputs.make_folder(out_dir, planned, reports)
    shown = sys.stderr.isatty() if progress is None else progress
    with budget.account() as account, streams.Release() as release:
        # All is opened before anything is read, the data first: they appear last.
        opened = None
        if not several:
            held = account is not None
            opened = Opened.of(job, reports, release, held=held)
        sinks = [
            None if path is None else release.open(str(path)) for path in (report, html)
        ]
        words = lexicons.find(recipe.lexicon, warn=warn)
        ready = pipeline.build(recipe, words)
        bar = partial(running.progress_bar, console, shown and not quiet)
        run = Run(
            ready,
            key,
            bayes_risk=bayes_risk,
            account=account,
            warn=warn,
            progress=bar,
        )
        with run.charging(opened) as charging:
            if opened is not None:
                written = [run.carry_out(job, opened, charging)]
            else:
                released = engine.release(run, planned, reports, warn, out_dir or ".")
                job, written = outputs.of_all(job, released, planned, warn)
                if not written:
                    return
            result = run.report(job, written)
            view = views.report(result, signatures.of_signer(signing))
            running.write_internal(result, view, sinks)
            release.complete()
            charging.leave()
            release.commit()
    screen.show(view, console=console)
