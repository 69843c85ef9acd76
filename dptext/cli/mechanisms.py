"""`dptext mechanisms`: what can replace words, and what each promises."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dptext.cli.faults import reported


def command(
    name: Annotated[
        str | None, typer.Argument(help="Show this mechanism in full.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """List the mechanisms, or show what one does, promises and lacks."""
    with reported():
        import json

        from rich.console import Console
        from rich.table import Table

        from dptext import registry

        if name is not None:
            module = registry.find("mechanisms", name)
            typer.echo((module.__doc__ or "").strip())
            typer.echo(f"\nParameters: {_parameters(module)}")
            typer.echo(f"Family: {module.FAMILY}")
            return
        rows = [
            _row(each, registry.find("mechanisms", each))
            for each in registry.names("mechanisms")
        ]
        if as_json:
            typer.echo(json.dumps(rows, indent=2))
            return
        table = Table(box=None, padding=(0, 2))
        for column in rows[0]:
            table.add_column(column)
        for row in rows:
            table.add_row(*row.values())
        Console().print(table)


def _row(name: str, module: Any) -> dict[str, str]:
    return {
        "mechanism": name,
        "family": module.FAMILY,
        "guarantee": section(module.__doc__ or "", "Guarantee"),
        "parameters": _parameters(module),
        "source": section(module.__doc__ or "", "Source"),
    }


def section(text: str, title: str) -> str:
    """Return the paragraph of a docstring that begins with `title:`."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(f"{title}:"):
            lines = [line.partition(":")[2].strip()]
        elif lines and (not line.strip() or line.partition(":")[0] in _TITLES):
            break
        elif lines:
            lines.append(line.strip())
    return " ".join(lines)


_TITLES = ("Guarantee", "Source", "Known gaps")


def _parameters(module: Any) -> str:
    import dataclasses

    found = dataclasses.fields(module.Params)
    return ", ".join(f"{f.name}={f.default}" for f in found) or "none"
