"""`dptext mechanisms`: what can replace words, and what each promises."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen

if TYPE_CHECKING:
    from dptext.report.components import Broken, Description, Parameter, Row


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
        described = components.description(name)
        if as_json:
            screen.print_json(described.as_json())
        else:
            typer.echo(_text(described))
        return
    rows = [components.row(each) for each in registry.names("mechanisms")]
    screen.print_json(rows) if as_json else _show(rows)


def _text(described: Description) -> str:
    """Write a mechanism in full for people."""
    lines = [f"Mechanism: {described.mechanism}", f"Family: {described.family}"]
    lines += ["", described.about]
    for title, text in described.sections.items():
        paragraph = f"{title}: {text}"
        # A command must stay on one line to be copied.
        example = title == "Example"
        lines += ["", paragraph if example else textwrap.fill(paragraph, 88)]
    lines += ["", "Parameters (--set mechanism.NAME=VALUE):"]
    lines += [f"  {_setting(each)}" for each in described.parameters] or ["  none"]
    return "\n".join(lines)


def _show(rows: Sequence[Row | Broken]) -> None:
    """Print the list of the mechanisms."""
    from dptext.report.components import Broken, phrase

    headings = ("mechanism", "family", "guarantee", "parameters", "source")
    table = screen.table(*headings, gap=1)
    for column in table.columns[:2]:
        column.no_wrap = True
    broken = []
    for row in rows:
        if isinstance(row, Broken):
            broken.append(f"broken: {row.broken}")
            continue
        settings = "\n".join(map(_setting, row.parameters)) or "none"
        source = phrase(row.source)
        table.add_row(row.mechanism, row.family, row.guarantee, settings, source)
    console = screen.console()
    for each in (table, *broken):
        console.print(each)


def _setting(parameter: Parameter) -> str:
    default = parameter.default
    shown = str(default)
    if default is None:
        shown = "none"
    elif isinstance(default, bool):
        shown = "true" if default else "false"
    elif isinstance(default, int | float):
        shown = f"{default:g}"
    return f"{parameter.name}={shown} ({parameter.values})"
