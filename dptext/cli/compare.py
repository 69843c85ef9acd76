"""`dptext compare`: mechanisms at equal risk or epsilon on the user's own texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[str, typer.Argument(help="Texts to compare on.")],
    field: Annotated[
        list[str] | None, typer.Option(help="Text field, repeatable; default text.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Field to learn (utility), repeatable.")
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Field to attack, repeatable.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="Format, else by suffix.")] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--mechanism",
            help="Mechanism, or NAME:key=value,... for its parameters; repeatable.",
        ),
    ] = None,
    risk: Annotated[
        list[str] | None, typer.Option(help="Risk to compare at, repeatable.")
    ] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Epsilon to compare at, repeatable.")
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(help="Lexicon, repeatable: of several dimensions, for one."),
    ] = None,
    profile: Annotated[
        str, typer.Option("-p", "--profile", help="Profile whose other settings hold.")
    ] = "balanced",
    sample: Annotated[
        int, typer.Option(min=1, help="Texts to take, the same each time.")
    ] = 2000,
    classifier: Annotated[
        str, typer.Option(help="tfidf, vectors, lstm, or the folder of a model.")
    ] = "tfidf",
    splits: Annotated[
        int, typer.Option(min=1, max=100, help="Splits into training and test.")
    ] = 3,
    alpha: Annotated[
        list[float] | None,
        typer.Option(min=0.0, max=1.0, help="Weight of utility, repeatable."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Sentence model for CS: a folder or package.")
    ] = None,
    masked_model: Annotated[
        str | None,
        typer.Option(help="Folder of a masked language model to attack with."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            min=1,
            max=256,
            help="Cells at once, else as many as there are processors, 4 at most; with "
            "1 the speeds shown are those of a machine that does nothing else.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Keep finished rows in this file, and go on from it."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table as CSV.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with curves to this file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="No progress on standard error.")
    ] = False,
) -> None:
    """Try mechanisms on a sample of your texts and show what each keeps and gives away.

    All figures are functions of the private text and for its owner only.

    Example: dptext compare reviews.jsonl --label stars --risk 10% --risk 20%
    """
    from dptext.cli import compare_run
    from dptext.evaluation.run import Settings

    compare_run.run(
        compare_run.Options(
            file=file,
            fields=tuple(field or ("text",)),
            format=format,
            mechanisms=tuple(mechanism or compare_run.MECHANISMS),
            risks=tuple(risk or ()),
            epsilons=tuple(epsilon or ()),
            lexicons=tuple(lexicon or ()),
            profile=profile,
            sample=sample,
            jobs=jobs or min(4, os.cpu_count() or 1),
            resume=resume,
            csv=csv,
            json=as_json,
            html=html,
            quiet=quiet,
        ),
        Settings(
            labels=tuple(label or ()),
            attributes=tuple(attribute or ()),
            classifier=classifier,
            splits=splits,
            alphas=tuple(alpha or (0.25, 0.5, 0.75)),
            encoder=encoder,
            masked_model=masked_model,
            # The Bayes attack looks at all pairs of words: the Bayes risk says as much.
            bayes=False,
        ),
    )
