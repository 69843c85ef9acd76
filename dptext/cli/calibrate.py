"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    risk: Annotated[
        str, typer.Option(help="Success of the best guess of a word, as in 10%.")
    ],
    profile: Annotated[
        str, typer.Argument(help="A profile by name, or a .yaml file.")
    ] = "balanced",
    mechanism: Annotated[
        str | None,
        typer.Option(help="Mechanism with its default parameters, or all of them."),
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="Lexicon: a name or a file.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override one key, as in --set mechanism.k=50."),
    ] = None,
    best_law: Annotated[
        str | None,
        typer.Option(
            help="Find the law of rank that is worth most: closeness, or kept words."
        ),
    ] = None,
    epsilon_cap: Annotated[
        float | None, typer.Option(help="With --best-law: the largest epsilon.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Find the epsilon at which the best guess of a word succeeds at most this often.

    Everything but mechanism and mapping is the profile's: which words are replaced
    decides the risk, too. With --mechanism all, what cannot be calibrated is listed
    with the reason. --best-law solves a linear program for the law of rank and prints
    what to write into a profile: closeness is the expected cosine of a word with what
    is written for it, kept the share of words that stay. Looks at no text.
    """
    from dptext.cli import calibrate_law, calibrate_run, options

    named = None if mechanism == "all" else mechanism
    over = options.overrides(None, None, risk, named, lexicon, set_ or [])
    if best_law is not None or epsilon_cap is not None:
        calibrate_law.run(
            profile,
            over,
            utility=best_law,
            cap=epsilon_cap,
            every=mechanism == "all",
            as_json=as_json,
        )
        return
    calibrate_run.run(profile, over, every=mechanism == "all", as_json=as_json)
