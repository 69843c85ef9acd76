"""`dptext report`: show a report again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dptext.report.document import Document


def command(
    file: Annotated[
        Path | None, typer.Argument(help="A report or sidecar as JSON.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            help="Write the report as a page for browsers instead; - is standard "
            "output."
        ),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of reports instead.")
    ] = False,
) -> None:
    """Show a report that `dptext sanitize` wrote.

    Example: dptext report tickets.private.jsonl.dptext.json --html report.html
    """
    import json

    from dptext import streams
    from dptext.cli import screen
    from dptext.errors import UsageError
    from dptext.report import document, terminal

    if schema:
        typer.echo(json.dumps(document.schema(), indent=2))
        return
    if file is None:
        msg = "name a report, as in: dptext report OUTPUT.dptext.json"
        raise UsageError(msg)
    streams.check_ends(file, "report")
    try:
        data = file.read_bytes()
    except OSError as error:
        msg = f"{file}: {error.strerror}"
        raise UsageError(msg) from None
    found = document.decode(data, str(file))
    if html is None:
        terminal.show(found, screen.console())
    else:
        _write(found, str(file), html)


def _write(found: Document, file: str, target: str) -> None:
    from dptext import streams
    from dptext.report import html

    streams.check_distinct([file], target)
    with streams.open_output(target) as sink:
        sink.stream.write(html.render(found))
