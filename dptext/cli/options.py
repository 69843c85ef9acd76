"""Options that several commands have: one declaration for each.

An option is a type, as in `Epsilon = Annotated[float | None, typer.Option(...)]`. A
command, or a group of options (dptext.cli.groups), has a parameter or field of this
type, with the default. An option of one command is declared beside that command.

rich_help_panel is the heading in the help; hidden options appear with --help-all only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from dptext.cli import values
from dptext.cli.values import MOST_JOBS, Number, one_of
from dptext.errors import UsageError
from dptext.settings import read_value

if TYPE_CHECKING:
    from dptext.overrides import Choices
    from dptext.types import JsonObject

# Headings of the help, in the words of the docs.
INPUT = "Input"
LAYOUT = "CSV, TSV and encodings"
RECORDS = "Records"
GUARANTEE = "Guarantee"
KEYS = "Keys and repeatable runs"
LEDGER = "Ledger"
MEASURES = "Measures"
OUTPUT = "Output and report"
FOLDERS = "Many files and Spark"

# Arguments.
Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files to read. Default: standard input (-)."),
]
PublicFiles = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Public texts: JSONL, CSV, text."),
]

# Input.
Field = Annotated[
    list[str] | None,
    typer.Option(
        "--field",
        "-f",
        metavar="NAME",
        help="Text field, by path or column; repeatable.",
        rich_help_panel=INPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        parser=values.parse_format,
        metavar="NAME",
        help="jsonl, json, csv, tsv, xlsx, parquet or text.",
        rich_help_panel=INPUT,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="NAME",
        help="Field with an id per record, by which a key repeats its draws. Default: "
        "its position.",
        rich_help_panel=RECORDS,
        hidden=True,
    ),
]

# Guarantee.
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME",
        help="Profile of `dptext list`, or a .yaml file.",
        rich_help_panel=GUARANTEE,
    ),
]
Risk = Annotated[
    str | None,
    typer.Option(
        "--risk",
        metavar="SHARE",
        help="Choose epsilon so that the best guess of a word is right at most this "
        "often, as in 10%.",
        rich_help_panel=GUARANTEE,
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        parser=Number(kind=float, low=0, above=True),
        metavar="NUMBER",
        help="Epsilon per word.",
        rich_help_panel=GUARANTEE,
    ),
]
Mechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="Mechanism with its default parameters.",
        rich_help_panel=GUARANTEE,
    ),
]
Lexicon = Annotated[
    str | None,
    typer.Option(
        "--lexicon",
        metavar="NAME",
        help="Lexicon of `dptext lexicon list`, or a file.",
        rich_help_panel=GUARANTEE,
    ),
]
SetKey = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override one key of the profile or policy, as in tokens.number=mask; "
        "repeatable.",
        rich_help_panel=GUARANTEE,
    ),
]

# Measures.
PublicText = Annotated[
    str | None,
    typer.Option(
        "--public-text",
        metavar="FILE",
        help="Public text of the same kind, for one more attacker.",
        rich_help_panel=MEASURES,
    ),
]

# Output and report.
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        parser=one_of("identifying"),
        metavar="identifying",
        help="identifying: write nothing, and end with exit code 5, if an unchanged "
        "column looks identifying. Columns that the policy allows by name are exempt.",
        rich_help_panel=OUTPUT,
        hidden=True,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write the internal report (private!) as JSON.",
        rich_help_panel=OUTPUT,
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a web page; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        parser=Number(kind=int, low=1, high=MOST_JOBS, auto=True),
        metavar="NUMBER",
        help="Number of processes, or auto for one per core.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show errors only.", rich_help_panel=OUTPUT),
]

# Of public data that are made.
SavedName = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name to save it under.")
]


def check_public_text(public_text: str | None, field: Sequence[str] | None) -> None:
    """Raise UsageError for fields of public text if none is read."""
    if field and public_text is None:
        raise UsageError(
            "--field: no text is read; give --public-text, whose field it names, or "
            "leave it out"
        )


def overrides(
    settings: Sequence[str] | None = None, **chosen: Unpack[Choices]
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    from dptext.overrides import make_overrides

    return make_overrides(
        parse_settings(settings), lambda name: f"--{name.replace('_', '-')}", **chosen
    )


def parse_settings(
    settings: Iterable[str] | None,
    option: str = "--set",
    example: str = "tokens.number=mask",
) -> JsonObject:
    """Return the keys and values that an option gives. Raises UsageError."""
    keys: JsonObject = {}
    for setting in settings or ():
        path, equals, text = setting.partition("=")
        *parents, key = path.split(".")
        if not equals or not all((*parents, key)):
            raise UsageError(f"{option} {setting}: write KEY=VALUE, as in {example}")
        inner = keys
        for parent in parents:
            part = inner.setdefault(parent, {})
            if not isinstance(part, dict):
                raise UsageError(f"{option} {setting}: {parent} has no keys of its own")
            inner = part
        inner[key] = read_value(text)
    return keys
