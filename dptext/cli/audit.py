"""`dptext audit`: whether a profile's claim is true."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dptext.cli.faults import reported


def command(
    profile: Annotated[
        str, typer.Argument(help="A profile by name, or a .yaml file.")
    ] = "balanced",
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon per word instead of the profile's.")
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="Mechanism with its default parameters.")
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="Lexicon: a name or a file.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override one key, as in --set mechanism.k=50."),
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=4, help="Inputs of an exact audit of chosen words.")
    ] = 200,
    runs: Annotated[
        int, typer.Option(min=100, help="Draws of each word for noise mechanisms.")
    ] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Compute the worst loss of a mechanism and compare it with its claim.

    Exact where the law has a closed form; a statistical lower bound for noise
    mechanisms. Where dptext claims nothing (gumbel, vickrey, published forms of custext
    and syntf), the claim of the paper is held against the losses.

    Exit code 1 when a claim is refuted, that of dptext or that of the paper; the
    verdict says which.
    """
    with reported():
        from dptext.cli import audit_run, options

        over = options.overrides(epsilon, None, None, mechanism, lexicon, set_ or [])
        found: Any = audit_run.run(profile, over, inputs, runs, as_json)
        if found.failed:
            raise typer.Exit(1)
