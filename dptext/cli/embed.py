"""`dptext embed`: vectors instead of words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from dptext.cli import options, outputs
from dptext.cli.options import rare_measure, rare_setting, setting_option
from dptext.cli.parser import Number, one_of
from dptext.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pooled:
    """What a vector is of."""

    pool: Annotated[
        str,
        setting_option(
            metavar="NAME",
            help="word: one vector per word. mean, sif (weighted by frequency) or "
            "sentence (needs --model): one per text. Default: mean.",
            show_default=False,
            parser=one_of("word", "mean", "sif", "sentence"),
        ),
    ] = "mean"
    model: Annotated[
        str | None,
        setting_option(metavar="NAME", help="Sentence model, a folder or package."),
    ] = None
    subject: Annotated[
        str | None,
        rare_setting(
            help="Field with the person that a record is about. The report then bounds "
            "the loss of all vectors of one person.",
        ),
    ] = None
    most: Annotated[
        int,
        rare_setting(
            parser=Number(int, 1, 1_000_000),
            help="Most vectors of one subject, which share epsilon (or mu).",
        ),
    ] = 1
    public: Annotated[
        str | None,
        rare_measure(
            help="Public texts, one per line, to measure sentence vectors on. Default: "
            "frequent words.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Noise:
    """How vectors become private."""

    mechanism: options.Mechanism = None
    epsilon: Annotated[
        float | None,
        setting_option(
            parser=options.positive,
            metavar="NUMBER",
            help=f"{options.EPSILON[:-1]} or text, for one vector (with --most: for "
            "one subject). Default: 8.",
        ),
    ] = None
    risk: options.Risk = None
    mu: Annotated[
        float | None,
        rare_setting(
            parser=Number(float, 1e-6, 1000),
            help="Instead of an epsilon: mu of Gaussian differential privacy.",
        ),
    ] = None
    clip: Annotated[
        float | None,
        setting_option(
            parser=Number(float, 1e-6, 1e5),
            metavar="NUMBER",
            help="Shorten longer vectors to this length. Default: 1.",
        ),
    ] = None
    lexicon: options.Lexicon = None
    set_: options.Set = None


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    output: Annotated[
        str | None,
        options.output_option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write: .npy (vectors alone), .npz or .parquet. Its report "
            "goes beside it.",
        ),
    ] = None,
    records: options.Records,
    pooled: Pooled,
    noise: Noise,
    keys: options.Keys,
    reported: options.Reported,
    work: options.Work,
) -> None:
    """Release noisy vectors of words or texts, to train models on.

    Example: dptext embed tickets.jsonl -f text --epsilon 8 -o tickets.npy
    """
    from dptext.engine import survey
    from dptext.engine.job import Job
    from dptext.report import build, document, signatures
    from dptext.streams.outputs import Release
    from dptext.vectors import columns, job, release

    if pooled.subject is not None and records.id is not None:
        raise UsageError("give --id or --subject, not both: an id names one record")
    over = options.overrides(
        noise.set_,
        epsilon=noise.epsilon,
        risk=noise.risk,
        mechanism=noise.mechanism,
        lexicon=noise.lexicon,
    )
    settings = release.parse(over, asdict(pooled), clip=noise.clip, mu=noise.mu)
    answer = options.Answer(work, context)
    release.check_text("--delimiter", records.delimiter)
    columns.find(output)
    chosen = Job(
        inputs=tuple(files or ("-",)),
        output=output,
        selection=records.selected(pooled.subject),
        format=records.format,
        on_error=records.for_faulty(),
        quarantine=records.quarantine,
        batch_size=work.batch_size,
        jobs=work.jobs,
        any_language=survey.is_asked_for(over),
    )
    reports = reported.reports(keys.key_file)
    outputs.planned(chosen, None, reports, context.meta[outputs.READ])
    key = keys.key()
    with Release() as opened:
        # All is opened before anything is read, the data first: they appear last.
        sink = opened.open(output)
        beside = reports.beside(chosen)
        sidecar = None if beside is None else opened.open(str(beside))
        internal = outputs.Internal(reports, opened)
        aside = None
        if chosen.on_error == "quarantine" and records.quarantine is not None:
            aside = opened.aside(records.quarantine)
        ready = release.of(settings, answer.warn)
        with answer.bar() as bar:
            writer, counts = job.run(
                chosen, ready, key, sink, aside, progress=bar, warn=answer.warn
            )
        result = build.finished_vectors(ready, key.origin, chosen, counts, writer, sink)
        if sidecar is not None:
            encoded = document.encode(document.public(result))
            sidecar.stream.write(signatures.signed(encoded, reports.key))
        internal.write(result)
        opened.commit()
    copied = [name for name in (records.id,) if name is not None]
    released = outputs.released([chosen], reports, copied)
    answer.show(result, released, counts.identifying)
