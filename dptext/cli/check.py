"""`dptext check`: whether these exports may leave the building."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Exports; sidecars and files like README.md are no such."),
    ] = None,
    staged: Annotated[
        bool,
        typer.Option(
            "--staged",
            help="Check what git has staged, reports and policy too: all exports, or "
            "those in the folders that are named.",
        ),
    ] = False,
    policy: Annotated[
        Path | None,
        typer.Option(help="Policy file; default .dptext.yaml where there is one."),
    ] = None,
    notion: Annotated[
        list[str] | None,
        typer.Option(help="Accepted guarantee, LDP or metric-DP; repeatable."),
    ] = None,
    max_epsilon: Annotated[
        float | None, typer.Option(min=0, help="Largest accepted epsilon.")
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(min=0, help="Largest accepted loss between two words, in nats."),
    ] = None,
    max_risk: Annotated[
        str | None,
        typer.Option(help="Largest accepted success of a guess, as in 15%."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="What need not be protected: punctuation, stop_word, number, unknown, "
            "case, equal-words; repeatable."
        ),
    ] = None,
    unverified: Annotated[
        list[str] | None,
        typer.Option(
            help="Why a report need not be recomputed: lexicon, version, parts; "
            "repeatable."
        ),
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(
            help="Lexicon to recompute with, a name or a file; installed ones are "
            "found by themselves; repeatable."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Only the exit code.")
    ] = False,
) -> None:
    """Pass when every export has a valid public report that meets the policy.

    A report is valid when it names this very file and says what its own settings give:
    guarantee, risk and what is not covered are computed anew. Ends with exit code 1 and
    one line for each finding otherwise; never prints content.
    """
    from dptext.cli import check_run

    options = {
        "notion": notion,
        "max_epsilon": max_epsilon,
        "max_loss": max_loss,
        "max_risk": max_risk,
        "allow": allow,
        "unverified": unverified,
    }
    failed = check_run.run(
        files or [],
        policy,
        {key: value for key, value in options.items() if value is not None},
        lexicons=lexicon or [],
        staged=staged,
        quiet=quiet,
    )
    if failed:
        raise typer.Exit(1)
