"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

from typing import Annotated

import typer

from dptext.cli.faults import reported


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
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Find the epsilon at which the best guess of a word succeeds at most this often.

    Everything but mechanism and mapping is the profile's: which words are replaced
    decides the risk, too. With --mechanism all, what cannot be calibrated is listed
    with the reason. Looks at no text.
    """
    with reported():
        from dptext.cli import calibrate_run, options

        named = None if mechanism == "all" else mechanism
        over = options.overrides(None, None, risk, named, lexicon, set_ or [])
        calibrate_run.run(profile, over, every=mechanism == "all", as_json=as_json)
