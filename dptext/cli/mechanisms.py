"""`dptext mechanisms`: what can replace words, and what each promises."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[
        str | None, typer.Argument(help="Show this mechanism in full.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """List the mechanisms, or show what one does, promises and lacks.

    A mechanism of another package that cannot be used is listed with the reason.

    With a name: its statement in full, its known gaps, its parameters and a command
    that works; for a mechanism that promises nothing, what to use instead.
    """
    import json

    from dptext import registry
    from dptext.cli import mechanisms_run as shown

    if name is not None:
        module = registry.find("mechanisms", name)
        whole = shown.whole(name, module)
        typer.echo(json.dumps(whole, indent=2) if as_json else shown.text(whole))
        return
    rows = shown.rows()
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        shown.table(rows)
