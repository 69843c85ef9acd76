"""`dptext embed`: vectors instead of words."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from dptext.cli import groups, options, screen
from dptext.cli.overrides import overrides
from dptext.errors import UsageError


def command(
    files: options.Files = None,
    output: Annotated[
        str | None,
        options.output_option(
            "-o",
            "--output",
            help="File to write: .npy (the vectors alone), .npz, .parquet or .arrow. A "
            "sidecar OUTPUT.dptext.json with the public report is written beside it.",
        ),
    ] = None,
    *,
    layout: groups.Layout,
    id: options.Id = None,
    missing: options.Missing = "fail",
    max_record_bytes: options.MaxRecordBytes = 16 * 2**20,
    on_error: options.OnError = "fail",
    quarantine: options.Quarantine = None,
    pool: Annotated[
        str,
        options.setting_option(
            help="What a vector is of: word, each word; mean or sif, a text, the mean "
            "of its words or the mean weighted by smooth inverse frequency; sentence, "
            "a text, by the sentence model --model.",
            callback=options.one_of("--pool", "word", "mean", "sif", "sentence"),
        ),
    ] = "mean",
    model: Annotated[
        str | None,
        options.setting_option(help="Sentence model: a folder or package."),
    ] = None,
    mechanism: options.Mechanism = None,
    epsilon: Annotated[
        float | None,
        options.setting_option(
            help=f"{options.EPSILON[:-1]} or text, that of one vector; with --most, of "
            "all vectors of one subject. Default: 8."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        options.setting_option(
            min=1e-12, max=1, help="Delta of normal noise. Default: 0.00001."
        ),
    ] = None,
    mu: Annotated[
        float | None,
        options.setting_option(
            min=1e-6,
            max=1000,
            help="Instead of an epsilon: mu of Gaussian differential privacy.",
        ),
    ] = None,
    risk: groups.Risk = None,
    clip: Annotated[
        float | None,
        options.setting_option(
            min=1e-6,
            max=1e5,
            help="Length to which longer vectors are shortened, where the mechanism or "
            "the sentence model needs one. Default: 1.",
        ),
    ] = None,
    dimensions: Annotated[
        int | None,
        options.setting_option(min=1, max=2**20, help="Dimensions of privemb."),
    ] = None,
    beta: Annotated[
        float | None,
        options.setting_option(
            min=1e-6,
            max=1e5,
            help="Instead of --dimensions: how much longer than before distances may "
            "become by privemb's projection, as in 0.9.",
        ),
    ] = None,
    subject: Annotated[
        str | None,
        options.setting_option(
            help="Field that names whom a record is about: the report says what all "
            "vectors of one subject lose together."
        ),
    ] = None,
    most: Annotated[
        int,
        options.setting_option(
            min=1,
            max=1_000_000,
            help="Most vectors of one subject: these share epsilon (delta, mu).",
        ),
    ] = 1,
    lexicon: options.Lexicon = None,
    set_: options.Set = None,
    key_file: options.KeyFile = None,
    seed: options.Seed = None,
    public: Annotated[
        Path | None,
        options.measure_option(
            help="Public texts, one a line, by which sentence vectors are measured; "
            "else frequent words."
        ),
    ] = None,
    report: options.Report = None,
    html: options.Html = None,
    public_report: options.PublicReport = None,
    sidecar: options.Sidecar = True,
    sign_key: options.SignKey = None,
    batch_size: options.BatchSize = 4096,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    progress: options.ProgressBar = None,
) -> None:
    """Release noisy vectors of words or texts instead of words, to train models on.

    The vectors go to -o, the privacy report to standard error; --report and --html
    write the internal report (functions of the private text!) to files.

    Example: dptext embed tickets.jsonl -f text --pool mean --epsilon 8 -o tickets.npy
    """
    from dptext import progress as steps
    from dptext import streams
    from dptext.cli import outputs, running
    from dptext.engine.job import Job
    from dptext.engine.run import Reports
    from dptext.report import build, document, signatures, views
    from dptext.report import html as pages
    from dptext.report.document import encode
    from dptext.vectors import columns, job, release
    from dptext.vectors import settings as settings_

    over = overrides(
        set_, epsilon=epsilon, risk=risk, mechanism=mechanism, lexicon=lexicon
    )
    if subject is not None and id is not None:
        raise UsageError("give --id or --subject, not both: an id names one record")
    settings = settings_.chosen(
        over,
        {
            "pool": pool,
            "model": model,
            "public": None if public is None else str(public),
            "subject": subject,
            "most": most,
        },
        delta=delta,
        clip=clip,
        dimensions=dimensions,
        beta=beta,
        mu=mu,
    )
    steps.on(not quiet)
    settings_.check_text("--delimiter", layout.delimiter)
    columns.find(output)
    chosen = Job(
        inputs=tuple(files or ("-",)),
        output=output,
        selection=replace(
            layout.selection(),
            id_field=id,
            subject_field=subject,
            missing=missing,
            max_record_bytes=max_record_bytes,
        ),
        format=layout.format,
        on_error=running.on_error(on_error, quarantine),
        quarantine=quarantine,
        batch_size=batch_size,
        jobs=jobs,
    )
    signing = running.signing(sign_key, key_file)
    reports = Reports(report, html, public_report, sidecar, signing)
    outputs.planned(chosen, None, reports)
    key = running.key(key_file, seed)
    console = screen.console(stderr=True, quiet=quiet)
    warn = partial(running.warn, console)
    shown = sys.stderr.isatty() if progress is None else progress
    with streams.Release() as opened:
        # All is opened before anything is read, the data first: they appear last.
        sink = opened.open(output)
        beside = reports.beside(chosen)
        sidecar_sink = None if beside is None else opened.open(str(beside))
        sinks = [
            None if path is None else opened.open(str(path)) for path in (report, html)
        ]
        aside = None
        if chosen.on_error == "quarantine" and quarantine is not None:
            aside = opened.aside(quarantine)
        ready = release.of(settings, warn)
        with running.progress_bar(console, shown and not quiet) as bar:
            writer, counts = job.run(chosen, ready, key, sink, aside, progress=bar)
        result = build.finished_vectors(ready, key.origin, chosen, counts, writer, sink)
        if sidecar_sink is not None:
            encoded = encode(document.public(result))
            sidecar_sink.stream.write(signatures.signed(encoded, signing))
        view = views.report(result, signatures.of_signer(signing))
        internal, page = sinks
        if internal is not None:
            internal.stream.write(encode(result))
        if page is not None:
            page.stream.write(pages.render(view))
        opened.commit()
    screen.show(view, console=console)
