"""`dptext report`: show a report again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dptext.cli.faults import reported


def command(
    file: Annotated[
        Path | None, typer.Argument(help="A report or sidecar as JSON.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of reports instead.")
    ] = False,
) -> None:
    """Show a report that `dptext sanitize` wrote."""
    with reported():
        import json

        from rich.console import Console

        from dptext.errors import UsageError
        from dptext.report import document, terminal

        if schema:
            typer.echo(json.dumps(document.schema(), indent=2))
            return
        if file is None:
            msg = "name a report, as in: dptext report OUTPUT.dptext.json"
            raise UsageError(msg)
        try:
            data = file.read_bytes()
        except OSError as error:
            msg = f"{file}: {error.strerror}"
            raise UsageError(msg) from None
        terminal.show(document.decode(data, str(file)), Console())
