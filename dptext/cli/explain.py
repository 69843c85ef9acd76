"""`dptext explain`: epsilon and likeliest replacements of each word of a text."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dptext.cli import groups, options, screen
from dptext.cli.values import Number
from dptext.errors import UsageError

EXAMPLES = ('dptext explain "I love this small hotel in Paris."',)


def command(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text; - reads it from standard input."
        ),
    ],
    *,
    profile: options.Profile = "balanced",
    changes: groups.ProfileOptions,
    top: Annotated[
        int,
        typer.Option(
            "--top",
            parser=Number(kind=int, low=0, high=1000),
            metavar="NUMBER",
            help="Number of replacements to show for each word.",
        ),
    ] = 5,
    as_json: options.AsJson = False,
    html: options.Html = None,
) -> None:
    """Show epsilon and likeliest replacements of each word of a text.

    The table holds the text: keep it to yourself. Nothing is released and no budget is
    spent.
    """
    from dptext import calls
    from dptext.engine import explanation

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise UsageError("the text is empty: give one, or - for that of standard input")
    pipeline = calls.open_pipeline(changes.profile(profile), changes.overrides())
    result = explanation.explain(pipeline, text, top)
    screen.deliver(result, as_json, explanation.view(result), html=html)
