"""`dptext profiles`: the recipes that ship with dptext."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[
        str | None, typer.Argument(help="Show this profile in full.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """List the profiles that ship with dptext, or show one."""
    import json

    from rich.table import Table

    from dptext import profile
    from dptext.cli import screen

    if name is not None:
        profile.load(name)
        typer.echo(profile.path_of(name).read_text("utf-8"), nl=False)
        return
    found = [profile.load(each) for each in profile.shipped()]
    if as_json:
        rows = [
            {"name": p.name, "about": p.about, "source": p.source, **p.settings()}
            for p in found
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=None, padding=(0, 2))
    for column in ("profile", "mechanism", "about"):
        table.add_column(column)
    for each in found:
        table.add_row(each.name, each.mechanism.name, each.about)
    screen.console().print(table)
