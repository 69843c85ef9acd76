"""`dptext mechanisms`: what can replace words, and what each promises."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from dptext.cli import options, screen


def command(
    name: Annotated[
        str | None, typer.Argument(help="Show this mechanism in full.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the mechanisms, or show what one does, promises and lacks.

    A mechanism of another package that cannot be used is listed with the reason.

    With a name: its statement in full, its known gaps, its parameters and a command
    that works; for a mechanism that promises nothing, what to use instead.
    """
    from dptext import registry
    from dptext.report import components

    if name is not None:
        described = components.described(name)
        screen.print_json(described) if as_json else typer.echo(_text(described))
        return
    rows = [components.row(each) for each in registry.names("mechanisms")]
    screen.print_json(rows) if as_json else _show(rows)


def _text(described: dict[str, Any]) -> str:
    """Write a mechanism in full for people."""
    from dptext.report.components import SECTIONS, key

    lines = [f"Mechanism: {described['mechanism']}", f"Family: {described['family']}"]
    lines += ["", described["about"]]
    for title in SECTIONS:
        if key(title) in described:
            paragraph = f"{title}: {described[key(title)]}"
            # A command must stay on one line to be copied.
            example = title == "Example"
            lines += ["", paragraph if example else textwrap.fill(paragraph, 88)]
    lines += ["", "Parameters (--set mechanism.NAME=VALUE):"]
    lines += [f"  {_setting(each)}" for each in described["parameters"]] or ["  none"]
    return "\n".join(lines)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    """Print the list of the mechanisms."""
    from rich.table import Table

    from dptext.report.components import phrase

    usable = [row for row in rows if "broken" not in row]
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in usable[0]:
        table.add_column(column, no_wrap=column in ("mechanism", "family"))
    for row in usable:
        settings = "\n".join(_setting(each) for each in row["parameters"])
        cells = {
            **row,
            "parameters": settings or "none",
            "source": phrase(row["source"]),
        }
        table.add_row(*cells.values())
    console = screen.console()
    console.print(table)
    for row in rows:
        if "broken" in row:
            console.print(f"broken: {row['broken']}")


def _setting(parameter: dict[str, Any]) -> str:
    default = parameter["default"]
    shown = {None: "none", True: "true", False: "false"}.get(default, str(default))
    if isinstance(default, int | float) and not isinstance(default, bool):
        shown = f"{default:g}"
    return f"{parameter['name']}={shown} ({parameter['values']})"
