"""`dptext audit`: whether a claim is true and the program does what is claimed."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE|MECHANISM",
            help="A profile by name, a .yaml file, or a mechanism by name, also of "
            "another package (with --epsilon). A profile goes before a mechanism of "
            "the same name.",
        ),
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
        int,
        typer.Option(
            min=100,
            help="Draws of each word of a pair, where there is no exact output "
            "distribution.",
        ),
    ] = 20_000,
    draws: Annotated[
        int,
        typer.Option(
            min=1000,
            help="Draws that hold the program against its formula (of noise a tenth). "
            "More draws find smaller deviations.",
        ),
    ] = 4_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress on standard error.")
    ] = False,
) -> None:
    """Hold a claim against its formula, and the program against that formula.

    The claim: the worst loss, exact where the output distribution has a closed form; a
    statistical lower bound for noise. Where dptext claims nothing (gumbel, vickrey,
    published forms of custext and syntf), the claim of the paper is held against it.

    The program: its draws are tested against the exact output distribution, or the
    noise against its own, with a false alarm in at most 1 of 1,000 audits. The verdict
    says which deviations would have been found, and what was not tested.

    With the built-in lexicon on two cores from 15 seconds (rank, noise) to two minutes
    (santext, tem); a minute more the first time for what is then kept.

    Exit code 1 when a claim or the program is refuted; the verdict says which.
    """
    from dptext.cli import audit_run, options

    over = options.overrides(epsilon, None, None, mechanism, lexicon, set_ or [])
    name, over = audit_run.resolved(name, over)
    effort = audit_run.Effort(inputs, runs, draws)
    result: Any = audit_run.run(name, over, effort, as_json, quiet)
    if result.failed:
        raise typer.Exit(1)
