"""`dptext embed`: vectors instead of words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer

from dptext.cli import applying, groups, options, outputs, screen, stopping
from dptext.cli.options import GUARANTEE, LEDGER, MEASURES, OUTPUT
from dptext.cli.values import Number, one_of
from dptext.errors import UsageError

EXAMPLES = (
    "dptext embed tickets.jsonl -f text --epsilon 8 -o tickets.npy",
    "dptext embed tickets.jsonl -f text --pool word -o tickets.parquet",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The unit that a vector stands for: a word, a text or texts of a person."""

    pool: Annotated[
        str,
        typer.Option(
            "--pool",
            parser=one_of("word", "mean", "sif", "sentence"),
            metavar="NAME",
            help="word: one vector per word. mean, sif (weighted by frequency) or "
            "sentence (needs --model): one per text.",
            rich_help_panel=GUARANTEE,
        ),
    ] = "mean"
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Sentence model, a folder or package.",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject",
            metavar="NAME",
            help="Field with the person that a record is about. The report then bounds "
            "the loss of all vectors of one person.",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = None
    most: Annotated[
        int,
        typer.Option(
            "--most",
            parser=Number(kind=int, low=1, high=1_000_000),
            metavar="NUMBER",
            help="Most vectors of one subject, which share epsilon (or mu).",
            rich_help_panel=LEDGER,
            hidden=True,
        ),
    ] = 1
    public: Annotated[
        str | None,
        typer.Option(
            "--public",
            metavar="FILE",
            help="Public texts, one per line: the directions that privunit keeps, and "
            "measures of sentence vectors. Default: frequent words.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOptions:
    """How vectors become private."""

    mechanism: options.Mechanism = None
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            parser=Number(kind=float, low=0, above=True),
            metavar="NUMBER",
            help="Epsilon per word or text, for one vector (with --most: for one "
            "subject). Default: 8.",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    risk: options.Risk = None
    mu: Annotated[
        float | None,
        typer.Option(
            "--mu",
            parser=Number(kind=float, low=1e-6, high=1000),
            metavar="NUMBER",
            help="Instead of an epsilon: mu of Gaussian differential privacy.",
            rich_help_panel=GUARANTEE,
            hidden=True,
        ),
    ] = None
    clip: Annotated[
        float | None,
        typer.Option(
            "--clip",
            parser=Number(kind=float, low=1e-6, high=1e5),
            metavar="NUMBER",
            help="Shorten longer vectors to this length. Default: 1.",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    lexicon: options.Lexicon = None
    set_: options.SetKey = None


VectorFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File to write: .npy (vectors alone), .npz or .parquet. Its report goes "
        "beside it.",
        rich_help_panel=OUTPUT,
    ),
]


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    records: groups.RecordOptions,
    pooled: PoolOptions,
    noise: NoiseOptions,
    keys: groups.KeyOptions,
    output: VectorFile = None,
    fail_on: options.FailOn = None,
    reported: groups.ReportOptions,
    work: groups.RunOptions,
) -> None:
    """Release noisy vectors of words or texts, to train models on."""
    from dptext.vectors import columns, release
    from dptext.vectors.request import VectorRequest

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
    inspect = stopping.inspection(fail_on, context)
    request = VectorRequest(
        job=task,
        settings=settings,
        key=keys.key(),
        reports=reported.reports(keys.key_file),
        read=context.meta[outputs.READ],
        inspect=None if inspect is None else inspect.look_at_vectors,
    )
    finished = request.planned().carry_out(answer)
    answer.show(finished.report, finished.outputs)
