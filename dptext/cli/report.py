"""`dptext report`: show a report again."""

from __future__ import annotations

from typing import Annotated

import typer

from dptext.cli import check, options, parser, screen
from dptext.errors import UsageError


def command(
    context: typer.Context,
    file: Annotated[options.File, "An output, or a report as JSON."] = None,
    *,
    html: options.File = None,
    schema: Annotated[bool, "Print the JSON schema of reports instead."] = False,
) -> None:
    """Show the report of an output, in the terminal or as a web page (--html).

    Signatures are verified with the keys that the policy names (verify_key).

    Example: dptext report tickets.private.jsonl --html report.html
    """
    from dptext import streams
    from dptext.checking import policy
    from dptext.report import document, signatures, views
    from dptext.report.layout import sidecar_path

    if schema:
        screen.deliver(document.schema(), as_json=True)
        return
    if file is None:
        raise UsageError("name an output or a report, as in: dptext report OUTPUT")
    beside, name = sidecar_path(file), str(file)
    if beside.is_file():
        file, name = beside, str(beside)
    elif file.suffix != ".json":
        name += f" (there is no report {beside.name} beside it)"
    streams.check_file(file, "report")
    data = file.read_bytes()
    configured = parser.find_configuration(context)
    accepted = policy.from_section(configured.policy, configured.shown)
    keys = check.verifying_keys(None, accepted, configured, None)
    signed = signatures.describe(data, keys)
    page = views.report(document.decode(data, name), signed)
    screen.deliver(None, False, page, html=html)
