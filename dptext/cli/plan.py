"""`dptext plan`: what a profile promises and costs, before any text is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Inputs; only their sizes are looked at."),
    ] = None,
    profile: Annotated[
        str, typer.Option("-p", "--profile", help="Profile: a name or a .yaml file.")
    ] = "balanced",
    epsilon: Annotated[float | None, typer.Option(help="Epsilon per word.")] = None,
    epsilon_per_text: Annotated[
        float | None, typer.Option(help="Epsilon of a whole text.")
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
    size: Annotated[
        str | None, typer.Option(help="Size of the input instead, as in 2GB.")
    ] = None,
    jobs: Annotated[
        int, typer.Option("-j", "--jobs", min=1, max=256, help="As for sanitize.")
    ] = 1,
    bayes_risk: Annotated[
        bool,
        typer.Option(
            "--bayes-risk/--no-bayes-risk", help="Whether the risk is measured."
        ),
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page for browsers instead.")
    ] = None,
) -> None:
    """Say what a run will promise, how much it will change and how long it will take.

    No text is read and nothing is spent: the examples are public sentences.

    Example: dptext plan tickets.jsonl --risk 10%
    """
    from dptext.cli import options, plan_run

    over = options.overrides(
        epsilon, epsilon_per_text, risk, mechanism, lexicon, set_ or []
    )
    plan_run.run(
        tuple(files or ()),
        profile,
        over,
        size=size,
        jobs=jobs,
        bayes_risk=bayes_risk,
        as_json=as_json,
        html=html,
    )
