"""`dptext embed`: vectors instead of words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer

from dptext.cli import applying, options, outputs, screen, stopping
from dptext.cli.options import HIDDEN, Number, Text, one_of
from dptext.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pooled:
    """What a vector is of."""

    pool: Annotated[str, one_of("word", "mean", "sif", "sentence")] = "mean"
    model: Text = None
    subject: Annotated[
        Text,
        HIDDEN,
        "Field with the person that a record is about. The report then bounds the loss "
        "of all vectors of one person.",
    ] = None
    most: Annotated[int, Number(int, 1, 1_000_000)] = 1
    public: Text = None


@dataclass(frozen=True, slots=True)
class Noise:
    """How vectors become private."""

    mechanism: Text = None
    epsilon: Annotated[
        options.Epsilon,
        f"{options.EPSILON[:-1]} or text, for one vector (with --most: for one "
        "subject). Default: 8.",
    ] = None
    risk: Text = None
    mu: Annotated[float | None, Number(float, 1e-6, 1000)] = None
    clip: Annotated[float | None, Number(float, 1e-6, 1e5)] = None
    lexicon: Text = None
    set_: options.Texts = None


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    records: options.Records,
    pooled: Pooled,
    noise: Noise,
    keys: options.Keys,
    output: Annotated[
        Text,
        "File to write: .npy (vectors alone), .npz or .parquet. Its report goes beside "
        "it.",
    ] = None,
    fail_on: options.FailOn = None,
    reported: options.Reported,
    work: options.Work,
) -> None:
    """Release noisy vectors of words or texts, to train models on.

    Example: dptext embed tickets.jsonl -f text --epsilon 8 -o tickets.npy
    """
    from dptext.checking.contents import OF_VECTORS
    from dptext.report import document, signatures
    from dptext.streams.outputs import Release
    from dptext.vectors import columns, job, release
    from dptext.vectors import documents as vector_documents

    if pooled.subject is not None and records.id is not None:
        raise UsageError("give --id or --subject, not both: an id names one record")
    chosen = asdict(noise)
    clip, mu = chosen.pop("clip"), chosen.pop("mu")
    over = options.overrides(chosen.pop("set_"), **chosen)
    settings = release.parse(over, asdict(pooled), clip=clip, mu=mu)
    answer = screen.Answer(work, context)
    release.check_text("--delimiter", records.delimiter)
    columns.find(output)
    task = records.job(
        files=files, output=output, subject=pooled.subject, over=over, work=work
    )
    task = replace(task, typed=context.meta[applying.TYPED])
    reports = reported.reports(keys.key_file)
    outputs.planned(task, reports, context.meta[outputs.READ])
    key = keys.key()
    with Release() as opened:
        # All is opened before anything is read, the data first: they appear last.
        sink = opened.open(output, held=fail_on is not None)
        beside = reports.public_path(task)
        sidecar = None if beside is None else opened.open(str(beside))
        write = outputs.internal(reports, opened)
        aside = None
        if task.on_error == "quarantine" and task.quarantine is not None:
            aside = opened.open_quarantine(task.quarantine)
        ready = release.of(settings, answer.warn)
        with answer.bar() as bar:
            writer, counts = job.run(
                job=task,
                ready=ready,
                key=key,
                output=sink,
                aside=aside,
                progress=bar,
                warn=answer.warn,
            )
        if (inspect := stopping.inspection(fail_on, context)) is not None:
            inspect.look_at_vectors(task, sink)
        result = answer.with_warnings(
            vector_documents.finished(
                release=ready,
                key=key.origin,
                job=task,
                counts=counts,
                writer=writer,
                file=sink,
            ),
            counts.identifying,
            OF_VECTORS,
        )
        if sidecar is not None:
            encoded = document.encode(document.public(result))
            sidecar.stream.write(signatures.sign(encoded, reports.key))
        write(result)
        opened.commit()
    released = outputs.released([task], reports, ())
    answer.show(result, released)
