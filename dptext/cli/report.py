"""`dptext report`: show a report again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dptext.cli import options, screen
from dptext.errors import UsageError


def command(
    file: Annotated[
        Path | None, typer.Argument(help="A report or sidecar as JSON.")
    ] = None,
    html: options.Html = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of reports instead.")
    ] = False,
) -> None:
    """Show a report that `sanitize` or `embed` wrote, with --html as a page instead.

    Example: dptext report tickets.private.jsonl.dptext.json --html report.html
    """
    from dptext import streams
    from dptext.embedding import document as vectors
    from dptext.embedding import panel
    from dptext.report import document, terminal
    from dptext.report import html as page

    if schema:
        screen.print_json(document.schema())
        return
    if file is None:
        raise UsageError("name a report, as in: dptext report OUTPUT.dptext.json")
    streams.check_ends(file, "report")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    if vectors.is_kind(data):
        vector_report = vectors.decode(data, str(file))
        show, render = (
            partial(panel.show, vector_report),
            partial(panel.render, vector_report),
        )
    else:
        report = document.decode(data, str(file))
        show, render = partial(terminal.show, report), partial(page.render, report)
    if html is None:
        show(screen.console())
        return
    streams.check_distinct([str(file)], str(html))
    screen.write_file(html, render())
