"""`dptext evaluate`: what a private file keeps, and what it gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    original: Annotated[str, typer.Argument(help="The file before.")],
    private: Annotated[str, typer.Argument(help="The same file, privatized.")],
    field: Annotated[
        list[str] | None, typer.Option(help="Text field, repeatable; default text.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Field that a classifier is to learn (utility), repeatable."),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(help="Field that an attacker wants to know, repeatable."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(help="Field that names a record in both files; else by order."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of both files, else by suffix.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Field delimiter of CSV or TSV.")
    ] = None,
    quoting: Annotated[
        bool,
        typer.Option(
            "--quoting/--no-quoting", help="Whether quotes enclose fields in CSV, TSV."
        ),
    ] = True,
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header", help="Whether CSV, TSV begin with column names."
        ),
    ] = True,
    profile: Annotated[
        str | None,
        typer.Option(
            "-p", "--profile", help="What wrote the private file: for N_w, S_w, Bayes."
        ),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Of that profile.")] = None,
    risk: Annotated[str | None, typer.Option(help="Of that profile.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Override a key of that profile.")
    ] = None,
    lexicon: Annotated[str | None, typer.Option(help="Lexicon: name or file.")] = None,
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
    masked_words: Annotated[
        int, typer.Option(min=1, help="Words that it guesses, evenly chosen.")
    ] = 2000,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write the JSON to this file, too.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this file, too.")
    ] = None,
) -> None:
    """Compare a private file with its original: PP, CS, LOW, utility and attacks.

    All figures are functions of the private text and for its owner only. Texts are held
    in memory for --label, --attribute, --id and --masked-model; else they stream.

    Example: dptext evaluate reviews.jsonl reviews.private.jsonl --label stars
    """
    from dptext.cli import evaluate_run, options
    from dptext.evaluation.run import Settings
    from dptext.types import Selection

    over = options.overrides(epsilon, None, risk, None, lexicon, set_ or [])
    evaluate_run.run(
        evaluate_run.Files(
            original,
            private,
            Selection(
                fields=tuple(field or ("text",)),
                id_field=id,
                delimiter=delimiter,
                quoting=quoting,
                header=header,
            ),
            format,
        ),
        Settings(
            labels=tuple(label or ()),
            attributes=tuple(attribute or ()),
            classifier=classifier,
            splits=splits,
            alphas=tuple(alpha or (0.25, 0.5, 0.75)),
            encoder=encoder,
            masked_model=masked_model,
            masked_words=masked_words,
        ),
        profile,
        over,
        as_json=as_json,
        report=report,
        html=html,
    )
