"""`dptext embed`: releases noisy vectors instead of words."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Annotated

import typer

from dptext.cli import options, parser, screen
from dptext.cli.parser import Take
from dptext.run.choices import Choices, Noise, Pooling
from dptext.run.interface import refuse_both
from dptext.run.marks import OUTPUT, Option, Writes
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.run.work import Keys, LedgerUse, Outputs, Reports, Work

EXAMPLES = (
    "dptext embed tickets.jsonl -f text --epsilon 8 -o tickets.npy",
    "dptext embed tickets.jsonl -f text --pool word -o tickets.parquet",
)


VectorFile = Annotated[
    str | None,
    Option(
        "File to write: .npy (only vectors), .npz or .parquet. The report is written "
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
        Selection, Take(f"fields {FILE_LAYOUT} id_field missing max_record_bytes")
    ],
    pooled: Pooling,
    person: Annotated[
        LedgerUse,
        Take(
            is_typed=True,
            subject="Field that identifies the person of a record. The report then "
            "bounds the loss over all vectors of a person.",
        ),
    ],
    choices: Annotated[
        Choices,
        Take(
            "mechanism risk lexicon overrides",
            is_typed=True,
            epsilon="Epsilon per word or text, for one vector (with --most: for one "
            "subject). Default: 8.",
        ),
    ],
    noise: Noise,
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
        "id", selection.id_field is not None, "subject", person.subject is not None
    )
    over = choices.keys
    pooling = {**asdict(pooled), "subject": person.subject}
    settings = release.parse(over, pooling, clip=noise.clip, mu=noise.mu)
    answer = screen.Answer(shown, context)
    release.check_text("--delimiter", selection.delimiter)
    columns.find(output)
    task = Job(
        inputs=tuple(files or ("-",)),
        output=None if output == "-" else output,
        selection=replace(selection, subject_field=person.subject),
        work=replace(work, on_error=faulty.on_error, quarantine=faulty.quarantine),
        any_language=is_asked_for(over),
        needs=context.meta[parser.NEEDS],
        converts=True,
    )
    inspect = options.inspection(
        outs.fail_on, partial(parser.find_configuration, context)
    )
    request = Request(
        job=task,
        profile=settings.recipe,
        key=open_key(keys),
        reports=SignedReports.begin(reports, keys.key_file),
        read=context.meta[options.READ],
        inspect=None if inspect is None else inspect.look_at_vectors,
        begin_run=partial(VectorRun, settings),
    )
    finished = request.carry_out(request.jobs(answer.warn), answer)
    assert finished is not None
    answer.show(finished.report, finished.outputs)
