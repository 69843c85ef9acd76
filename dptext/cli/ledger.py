"""`dptext ledger`: what is charged to whom, and whether the record is sound."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dptext.cli import options, parser, screen
from dptext.errors import UsageError

app = typer.Typer(
    name="ledger",
    cls=parser.Group,
    help="Show, export and verify the privacy losses that a ledger records.",
    no_args_is_help=True,
)
File = Annotated[Path, "The ledger."]
_SHOWN = 10


def show(
    ledger: File,
    *,
    value: Annotated[
        options.Texts, "Show the loss of this value of the subject field; repeatable."
    ] = None,
    as_json: bool = False,
) -> None:
    """Show all releases and the largest losses, or the loss of one subject (--value).

    Subjects appear as keyed hashes, never by name.
    """
    from dptext import ledger as ledgers
    from dptext.formats import _fields as subjects
    from dptext.ledger import store
    from dptext.report.blocks import Column, Paragraph, Table
    from dptext.report.figures import count

    with ledgers.opened(ledger) as opened:
        if value:
            named = map(subjects.normalize, value)
            spent = [store.spent_by(opened, each) for each in named]
        else:
            spent = list(itertools.islice(store.subjects(opened), _SHOWN))
        entries = [] if value else store.entries(opened)
        name = opened.id
    recent = [
        (
            *(str(each["began"])[:16].replace("T", " "), each["state"]),
            *(each["subjects"], each["records"], each["limit"]["nats"], each["nats"]),
        )
        for each in entries[-_SHOWN:]
    ]
    charged = [
        (
            *(each["subject"], store.written(each["nats"], each["delta"])),
            *(each["records"], each["entries"]),
        )
        for each in spent
    ]
    records = Column("records", count)
    heads = [Column("began"), Column("state"), Column("subjects", count), records]
    heads += [Column("limit", "{:g}".format), Column("nats", str)]
    releases = [Table(heads, recent)] if recent else []
    heads = [Column("subject"), Column("charged"), records, Column("releases", count)]
    data = {"ledger": name, "entries": entries, "subjects": spent}
    title = Paragraph(f"ledger {name}")
    screen.deliver(data, as_json, title, *releases, Table(heads, charged))


def export(ledger: File) -> None:
    """Write the loss of each subject in each release as JSON lines.

    Subjects appear as keyed hashes, never by name.

    Example: dptext ledger export spent.db > spent.jsonl
    """
    from dptext import ledger as ledgers
    from dptext.ledger import store

    with ledgers.opened(ledger) as opened:
        for charge in store.charges(opened):
            typer.echo(json.dumps(charge))


def verify(
    ledger: File,
    files: Annotated[
        list[Path] | None, "Released files, with their reports beside them."
    ] = None,
) -> None:
    """Check that the ledger was not edited and records these released files.

    Prints one line per finding and ends with exit code 1 if there is any. An older copy
    of the ledger is found with its key; if the key is an older copy, too, name the last
    released files to find it.
    """
    from dptext import ledger as ledgers
    from dptext.ledger import store

    with ledgers.opened(ledger) as opened:
        tokens = _tokens(files or (), opened.id)
        findings = list(store.findings(opened, tokens))
        count = len(store.entries(opened))
    for line in findings:
        typer.echo(f"{ledger}: {screen.one_line(line)}")
    if findings:
        raise typer.Exit(1)
    typer.echo(f"{ledger}: sound; releases recorded: {count}", err=True)


def _tokens(files: Sequence[Path], ledger: str) -> list[tuple[str, str]]:
    """Return the entries that the reports of released files name."""
    from dptext import streams
    from dptext.report import document, exports

    tokens = []
    for path in files:
        beside = exports.beside(path)
        try:
            data = streams.read_small(beside, "report")
        except FileNotFoundError:
            missing = beside if path.exists() else path
            raise UsageError(
                f"{missing}: no such file; name released files with their reports "
                f"({exports.SIDECAR}) beside them, or none to verify the ledger alone"
            ) from None
        recorded = document.decode(data, str(beside)).run.recorded
        if recorded is None or recorded.ledger != ledger or recorded.entry is None:
            raise UsageError(f"{path}: its report does not name this ledger")
        tokens.append((str(path), recorded.entry))
    return tokens


for function in (show, export, verify):
    parser.add(app, function)
