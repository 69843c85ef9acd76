"""`dptext ledger`: shows each person's privacy loss, and verifies the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dptext import ledger as ledgers
from dptext import streams
from dptext.cli import options, parser, screen
from dptext.errors import UsageError
from dptext.formats._fields import normalize
from dptext.guarantees.claims import MAX_MEANINGFUL_TEXT_LOSS
from dptext.ledger import format_loss, open_ledger
from dptext.report import document, layout
from dptext.report.blocks import Column, Paragraph, Table
from dptext.report.figures import bound, count
from dptext.run.marks import Option
from dptext.run.work import SIDECAR

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger.")]
_ROWS_SHOWN = 10
_ENTRIES = (
    Column("began", path=lambda entry: str(entry["began"])[:16].replace("T", " ")),
    Column("state"),
    Column("subjects", count),
    Column("records", count),
    Column("limit", "{:g}".format, path="limit.nats"),
    Column("nats", str),
)
_SUBJECTS = (
    Column("subject"),
    Column("charged", path=lambda each: format_loss(each["nats"], each["delta"])),
    Column("records", count),
    Column("releases", count, path="entries"),
)
_AGAIN = " A record drawn again in another release counts again."


def show(
    ledger: LedgerFile,
    *,
    value: Annotated[
        list[str] | None,
        Option(
            "Show the loss of this value of the subject field; repeatable.",
            metavar="VALUE",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show all releases and the largest losses, or the loss of one subject (--value).

    Subjects appear as keyed hashes, never by name. An edited ledger is shown with a
    warning.
    """
    with open_ledger(ledger) as opened:
        problem = opened.problem()
        entries = ledgers.entries(opened)
        if value:
            subjects = [ledgers.spent_by(opened, normalize(each)) for each in value]
        else:
            subjects = list(ledgers.subjects(opened))
        name = opened.id
    if problem is not None:
        line = f"{ledger}: {problem}; these figures are unreliable"
        typer.echo(f"dptext: {screen.one_line(line)}", err=True)
    named = _name_values(entries)
    leaving = [
        each for each in entries if each["leaves_words"] and each["state"] != "returned"
    ]
    if value:
        entries = []
        sentences = [_describe_person(named, each, len(leaving)) for each in subjects]
    else:
        sentences = [_describe_all(named, subjects, len(leaving))] if subjects else []
        subjects = subjects[:_ROWS_SHOWN]
    data = {
        "ledger": name,
        "problem": problem,
        "entries": entries,
        "subjects": subjects,
    }
    tables = [Table.from_items(_SUBJECTS, subjects)]
    if entries:
        tables.insert(0, Table.from_items(_ENTRIES, entries[-_ROWS_SHOWN:]))
    words = [Paragraph(sentence) for sentence in sentences]
    screen.deliver(data, as_json, Paragraph(f"ledger {name}"), *tables, *words)


def export(ledger: LedgerFile) -> None:
    """Write the loss of each subject in each release as JSON lines.

    Subjects appear as keyed hashes, never by name.
    """
    with open_ledger(ledger) as opened:
        for charge in ledgers.charges(opened):
            typer.echo(json.dumps(charge))


def verify(
    ledger: LedgerFile,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="Released files; their reports must be beside them."
        ),
    ] = None,
) -> None:
    """Check that the ledger was not edited and records these released files.

    Prints one line per finding and ends with exit code 1 if there is any. An older copy
    of the ledger is found with its key; if the key is an older copy, too, name the last
    released files to find it.
    """
    with open_ledger(ledger) as opened:
        tokens = _recorded_tokens(files or (), opened.id)
        findings = list(ledgers.findings(opened, tokens))
        states = [] if findings else [each["state"] for each in ledgers.entries(opened)]
    for line in findings:
        typer.echo(f"{ledger}: {screen.one_line(line)}")
    if findings:
        raise typer.Exit(1)
    typer.echo(
        f"{ledger}: valid; releases recorded: {len(states) - states.count('returned')}",
        err=True,
    )


def _name_values(entries: Iterable[Mapping[str, Any]]) -> str:
    """Describe a person by the ledger's subject field, or without naming several."""
    names = {entry["field"] for entry in entries}
    return f'value of "{names.pop()}"' if len(names) == 1 else "value"


def _describe_person(value: str, subject: Mapping[str, Any], leaving: int) -> str:
    """Describe a subject's total loss, and what it means for a person.

    leaving: number of releases with unreplaced words.
    """
    if not subject["records"]:
        return (
            f"This {value}: no loss is recorded. Either no release holds it, or no "
            "word of its texts was replaced: unchanged words cost nothing here."
        )
    records = _numbered(subject["records"], "record")
    releases = _numbered(subject["entries"], "release")
    loss = _rounded_loss(subject)
    protection = "no protection as a person"
    if _is_protected(subject):
        protection = "limited protection as a person"
        if leaving:
            protection += f", and none in {_unreplaced(leaving)}"
    again = _AGAIN if subject["entries"] > 1 else ""
    return f"This {value}: {records} in {releases}, {loss}: {protection}.{again}"


def _describe_all(
    value: str, subjects: Sequence[Mapping[str, Any]], leaving: int
) -> str:
    """Describe how many subjects are still protected as persons."""
    beyond = sum(not _is_protected(subject) for subject in subjects)
    most = max(subjects, key=lambda subject: float(subject["nats"]))
    values = value.replace("value", "values", 1)
    nobody = ""
    if leaving:
        nobody = f" Nobody is protected as a person in {_unreplaced(leaving)}."
    again = _AGAIN if any(subject["entries"] > 1 for subject in subjects) else ""
    return (
        f"Different {values} with a loss: {len(subjects):,}. Not protected as a person "
        f"(more than {MAX_MEANINGFUL_TEXT_LOSS:g} nats): {beyond:,}.{nobody} The most: "
        f"{_numbered(most['records'], 'record')} in "
        f"{_numbered(most['entries'], 'release')}, {_rounded_loss(most)}.{again} Texts "
        "without a replaced word cost nothing and are not recorded."
    )


def _unreplaced(leaving: int) -> str:
    """Describe the releases with words that were not replaced."""
    releases = "release" if leaving == 1 else f"{leaving:,} releases"
    return f"the {releases} with words that are not replaced"


def _is_protected(subject: Mapping[str, Any]) -> bool:
    """Return whether the loss still protects all of a subject's records together."""
    return bool(subject["nats"] <= MAX_MEANINGFUL_TEXT_LOSS)


def _rounded_loss(subject: Mapping[str, Any]) -> str:

    shown = f"{bound(subject['nats'])} nats"
    return f"{shown} (delta {subject['delta']:.2g})" if subject["delta"] else shown


def _numbered(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _recorded_tokens(files: Sequence[Path], ledger: str) -> list[tuple[str, str]]:
    """Return released files with the ledger entries named in their reports."""
    tokens = []
    for path in files:
        report = layout.sidecar_path(path)
        try:
            data = streams.read_small(report, "report")
        except FileNotFoundError:
            missing = report if path.exists() else path
            raise UsageError(
                f"{missing}: no such file; name released files that have reports "
                f"({SIDECAR}) beside them, or no files to verify only the ledger"
            ) from None
        recorded = document.decode(data, str(report)).run.recorded
        if recorded is None or recorded.ledger != ledger or recorded.entry is None:
            raise UsageError(f"{path}: its report does not name this ledger")
        tokens.append((str(path), recorded.entry))
    return tokens


app = parser.group(
    "ledger",
    "Show, export and verify the privacy losses that a ledger records.",
    {
        show: "dptext ledger show spent.db --value 4711",
        export: "dptext ledger export spent.db > spent.jsonl",
        verify: "dptext ledger verify spent.db tickets.private.jsonl",
    },
)
