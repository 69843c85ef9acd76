"""`dptext explain`: epsilon and likeliest replacements of each word of a text."""

from __future__ import annotations

import sys
from typing import Annotated

from dptext.cli import options, screen
from dptext.cli.options import Number


def command(
    text: Annotated[str, "The text; - reads it from standard input."],
    *,
    profile: str = "balanced",
    changes: options.Changes,
    top: Annotated[
        int, Number(int, 0, 1000), "Number of replacements to show for each word."
    ] = 5,
    as_json: bool = False,
    html: options.File = None,
) -> None:
    """Show the epsilon and the likeliest replacements of each word of a text.

    The table holds the text: keep it to yourself. Nothing is released and no budget is
    spent.

    Example: dptext explain "I love this small hotel in Paris."
    """
    from dptext import api
    from dptext.engine import explanation

    if text == "-":
        text = sys.stdin.read()
    pipeline = api.open_pipeline(changes.profile(profile), changes.overrides())
    result = explanation.explain(pipeline, text, top)
    screen.deliver(result, as_json, explanation.view(result), html=html)
