"""`dptext report`: shows a report, or two side by side."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from dptext import formats, settings, signatures, streams
from dptext.checking import exports, policy
from dptext.cli import check, options, parser, screen
from dptext.errors import DptextError, UsageError
from dptext.report import answer, blocks, document, side_by_side, views
from dptext.report.layout import RunOutputs, sidecar_path
from dptext.run import marks, work
from dptext.types import Record

_FIRST = 200  # records in which the names of unchanged columns are looked for

EXAMPLES = (
    "dptext report tickets.private.jsonl --html report.html",
    "dptext report tickets.balanced.jsonl tickets.strict.jsonl",
)


def command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="An output, or a report in JSON."),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="OTHER", help="A second output or report, to compare with."
        ),
    ] = None,
    *,
    pages: Annotated[work.Reports, parser.Take("html")],
    as_json: options.AsJson = False,
    schema: Annotated[
        bool, marks.Option("Print the JSON schema of reports instead.")
    ] = False,
) -> None:
    """Show the report of an output, or two reports side by side.

    A terminal shows a summary; pipes, files and pages (--html) contain all figures.
    Signatures are verified with the keys that the policy names (verify_key).
    """
    if schema:
        screen.deliver(document.schema(), as_json=True)
        return
    if file is None:
        raise UsageError("name an output or a report: dptext report OUTPUT")
    shown, signed = _read(context, file)
    released = _released(shown, file)
    if other is not None:
        second, _ = _read(context, other)
        compared = side_by_side.compare(
            side_by_side.Side(file.name, shown, released),
            side_by_side.Side(other.name, second, _released(second, other)),
        )
        page = side_by_side.view(compared)
        screen.deliver(compared.data(), as_json, page, html=pages.html)
        return
    released = replace(
        released or answer.outputs_named(shown),
        signed=signed,
        is_changed=_is_changed(shown, file),
    )
    lines = answer.data(answer.answer(shown, released), answer.run_warnings(shown))
    page = views.report(shown, signed, released)
    if pages.html is None and sys.stdout.isatty():
        page = _first_screen(page, file)
    screen.deliver(lines, as_json, page, html=pages.html)


def _first_screen(page: blocks.Page, file: Path) -> blocks.Page:
    """Return the summary of a report that fits on one terminal screen."""
    name = shlex.quote(screen.one_line(str(file)))
    note = f"All figures: dptext report {name} | less, or --html PAGE."
    return replace(
        page, sections=(), first=(*page.first, blocks.Paragraph(note, "note"))
    )


def _read(context: typer.Context, file: Path) -> tuple[document.Document, str]:
    """Read a report, from an output or JSON, and describe its signature."""
    sidecar, name = sidecar_path(file), str(file)
    if sidecar.is_file():
        file, name = sidecar, str(sidecar)
    elif file.suffix != ".json":
        name += f" (there is no report {sidecar.name} beside it)"
    streams.check_file(file, "report")
    data = file.read_bytes()
    configured = parser.find_configuration(context)
    accepted = policy.from_section(configured.policy, configured.label)
    keys = check.verifying_keys(None, accepted, configured, None)
    return document.decode(data, name), signatures.describe(data, keys)


def _is_changed(report: document.Document, file: Path) -> bool:
    """Return whether the output beside a report exists with different bytes."""
    output = report.output
    if output is None or output.file is None:
        return False
    path = file if sidecar_path(file).is_file() else file.with_name(output.file)
    try:
        return path.is_file() and settings.digest_of_path(path) != output.sha256
    except (OSError, UsageError):
        return False


def _released(report: document.Document, file: Path) -> RunOutputs | None:
    """Return the output beside a report and its unchanged columns.

    None if they cannot be read, or if the report already names them.
    """
    output, layout = report.output, report.run.layout
    if output is None or output.file is None or report.words is None:
        return None
    if output.copied is not None or report.private is not None:
        return None
    path = file.with_name(output.file)
    if layout.format in (None, "text") or not path.is_file():
        return None
    names: dict[str, None] = {}
    try:
        export = exports.on_disk(path)
        with exports.open_export(layout, export) as (module, stream, selection):
            items = module.read(formats.Input(stream, selection, "file"))
            records = (each for each in items if isinstance(each, Record))
            for record in islice(records, _FIRST):
                others = module.others(record, selection)
                names |= dict.fromkeys(name for name, _ in others)
            more = next(records, None) is not None
    except (OSError, DptextError):
        return None
    return RunOutputs(
        outputs=[output.file],
        public=output.file,
        copied=tuple(names),
        first=_FIRST if more else 0,
        is_run=False,
    )
