"""`dptext embed`: vectors instead of words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated

import typer

from dptext.cli import options, outputs, parser, screen, stopping
from dptext.cli.parser import Take
from dptext.run.choices import Choices
from dptext.run.files import Outputs, Reports
from dptext.run.interface import refuse_both
from dptext.run.marks import GUARANTEE, LEDGER, MEASURES, OUTPUT, Names, Option, Writes
from dptext.run.selection import FIELDS, FILE_LAYOUT, Selection
from dptext.run.values import Number, one_of
from dptext.run.work import Keys, Work

EXAMPLES = (
    "dptext embed tickets.jsonl -f text --epsilon 8 -o tickets.npy",
    "dptext embed tickets.jsonl -f text --pool word -o tickets.parquet",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The unit that a vector stands for: a word, a text or texts of a person."""

    pool: Annotated[
        str,
        Option(
            "word: one vector per word. mean, sif (weighted by frequency) or "
            "sentence (needs --model): one per text.",
            GUARANTEE,
            parse=one_of("word", "mean", "sif", "sentence"),
            metavar="NAME",
        ),
    ] = "mean"
    model: Annotated[
        str | None,
        Option("Sentence model, a folder or package.", GUARANTEE, metavar="NAME"),
    ] = None
    subject: Annotated[
        str | None,
        Option(
            "Field with the person that a record is about. The report then bounds "
            "the loss of all vectors of one person.",
            LEDGER,
            metavar="NAME",
            hidden=True,
        ),
        FIELDS,
        Names(),
    ] = None
    most: Annotated[
        int,
        Option(
            "Most vectors of one subject, which share epsilon (or mu).",
            LEDGER,
            parse=Number(kind=int, low=1, high=1_000_000),
            metavar="NUMBER",
            hidden=True,
        ),
    ] = 1
    public: Annotated[
        str | None,
        Option(
            "Public texts, one per line: the directions that privunit keeps, and "
            "measures of sentence vectors. Default: frequent words.",
            MEASURES,
            metavar="FILE",
            hidden=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOptions:
    """The noise of vectors."""

    mu: Annotated[
        float | None,
        Option(
            "Instead of an epsilon: mu of Gaussian differential privacy.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1000),
            metavar="NUMBER",
            hidden=True,
        ),
    ] = None
    clip: Annotated[
        float | None,
        Option(
            "Shorten longer vectors to this length. Default: 1.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1e5),
            metavar="NUMBER",
        ),
    ] = None


VectorFile = Annotated[
    str | None,
    Option(
        "File to write: .npy (vectors alone), .npz or .parquet. Its report goes "
        "beside it.",
        OUTPUT,
        metavar="FILE",
        short="-o",
    ),
    Writes(),
]


def command(
    context: typer.Context,
    files: options.Files = None,
    *,
    selection: Annotated[
        Selection,
        Take(f"fields {FILE_LAYOUT} id_field missing max_record_bytes"),
    ],
    pooled: PoolOptions,
    choices: Annotated[
        Choices,
        Take(
            "mechanism risk lexicon overrides",
            is_typed=True,
            epsilon="Epsilon per word or text, for one vector (with --most: for one "
            "subject). Default: 8.",
        ),
    ],
    noise: NoiseOptions,
    keys: Keys,
    output: VectorFile = None,
    outs: Annotated[Outputs, Take("fail_on")],
    reports: Annotated[
        Reports, Take("report html public_report sidecar sign_key", is_typed=True)
    ],
    faulty: Annotated[Work, Take("on_error quarantine")],
    work: Annotated[Work, Take("jobs batch_size", is_typed=True)],
    shown: options.Shown,
) -> None:
    """Release noisy vectors of words or texts, to train models on."""
    from dptext.engine.files import SignedReports
    from dptext.engine.job import Job
    from dptext.engine.language import is_asked_for
    from dptext.engine.request import Request, open_key
    from dptext.vectors import columns, release
    from dptext.vectors.run import VectorRun

    refuse_both(
        "id", selection.id_field is not None, "subject", pooled.subject is not None
    )
    over = choices.keys
    settings = release.parse(over, asdict(pooled), clip=noise.clip, mu=noise.mu)
    answer = screen.Answer(shown, context)
    release.check_text("--delimiter", selection.delimiter)
    columns.find(output)
    task = Job(
        inputs=tuple(files or ("-",)),
        output=None if output == "-" else output,
        selection=replace(selection, subject_field=pooled.subject),
        work=replace(work, on_error=faulty.on_error, quarantine=faulty.quarantine),
        any_language=is_asked_for(over),
        needs=context.meta[parser.NEEDS],
        converts=True,
    )
    inspect = stopping.inspection(outs.fail_on, context)
    request = Request(
        job=task,
        profile=settings.recipe,
        key=open_key(keys),
        reports=SignedReports.begin(reports, keys.key_file),
        read=context.meta[outputs.READ],
        inspect=None if inspect is None else inspect.look_at_vectors,
        begin_run=partial(VectorRun, settings),
    )
    finished = request.carry_out(request.jobs(answer.warn), answer)
    assert finished is not None
    answer.show(finished.report, finished.outputs)
