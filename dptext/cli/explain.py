"""`dptext explain`: shows epsilon and likely replacements of each word."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dptext import calibration, lexicons, profile
from dptext.cli import options, parser, screen
from dptext.engine import explanation
from dptext.errors import UsageError
from dptext.run import marks, work
from dptext.run.choices import Choices

EXAMPLES = ('dptext explain "I love this small hotel in Paris."',)


def command(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text; - reads it from standard input."
        ),
    ],
    *,
    choices: Choices,
    top: Annotated[
        int,
        marks.Option(
            "Number of replacements to show for each word.",
            parse=marks.Number(kind=int, low=0, high=1000),
        ),
    ] = 5,
    as_json: options.AsJson = False,
    pages: Annotated[work.Reports, parser.Take("html")],
) -> None:
    """Show epsilon and the most likely replacements of each word of a text.

    The table holds the text: keep it to yourself. Nothing is released and no budget is
    spent.
    """
    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise UsageError("the text is empty: give a text, or - to read standard input")
    recipe = profile.chosen(choices)
    pipeline = calibration.build(recipe, lexicons.find(recipe.lexicon))
    result = explanation.explain(pipeline, text, top)
    screen.deliver(result, as_json, explanation.view(result), html=pages.html)
