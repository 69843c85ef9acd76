"""`dptext profiles`: the recipes that ship with dptext."""

from __future__ import annotations

from typing import Annotated

import typer

from dptext.cli import options, screen


def command(
    name: Annotated[
        str | None, typer.Argument(help="Show this profile in full.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the profiles that ship with dptext, or show one."""
    from dptext import profile

    if name is not None:
        profile.load(name)
        typer.echo(profile.path_of(name).read_text("utf-8"), nl=False)
        return
    shipped = [profile.load(each) for each in profile.shipped()]
    if as_json:
        screen.print_json(
            [
                {"name": each.name, "about": each.about, "source": each.source}
                | each.settings()
                for each in shipped
            ]
        )
        return
    table = screen.table("profile", "mechanism", "about")
    for each in shipped:
        table.add_row(each.name, each.mechanism.name, each.about)
    screen.console().print(table)
