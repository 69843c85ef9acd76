"""`dptext explain`: epsilon and likeliest replacements of each word of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    text: Annotated[
        str, typer.Argument(help="The text; - reads it from standard input.")
    ],
    profile: Annotated[
        str, typer.Option("-p", "--profile", help="Profile: a name or a .yaml file.")
    ] = "balanced",
    epsilon: Annotated[float | None, typer.Option(help="Epsilon per word.")] = None,
    epsilon_per_text: Annotated[
        float | None, typer.Option(help="Epsilon of the whole text.")
    ] = None,
    risk: Annotated[
        str | None, typer.Option(help="Choose epsilon by this risk, as in 10%.")
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="Mechanism with its default parameters.")
    ] = None,
    lexicon: Annotated[str | None, typer.Option(help="Lexicon: name or file.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override one key of the profile."),
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, max=1000, help="Replacements named for each word.")
    ] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this file instead.")
    ] = None,
) -> None:
    """Show how epsilon is spread over a text and what its words may become.

    The table shows the text: it is for its owner only. Nothing is released and no
    budget is spent.

    Example: dptext explain "I love this small hotel in Paris."
    """
    from dptext.cli import explain_run, options

    over = options.overrides(
        epsilon, epsilon_per_text, risk, mechanism, lexicon, set_ or []
    )
    explain_run.run(text, profile, over, top, as_json=as_json, html=html)
