"""Options and arguments that several commands have, and no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from dptext.errors import UsageError
from dptext.run.interface import noun, refuse_both
from dptext.run.marks import MEASURES, OUTPUT, Option

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files to read. Default: standard input (-)."),
]
PublicFiles = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Public texts: JSONL, CSV, text."),
]
PublicText = Annotated[
    str | None,
    Option(
        "Public text of the same kind, for one more attacker.",
        MEASURES,
        metavar="FILE",
    ),
]
AsJson = Annotated[bool, Option("Print JSON.", OUTPUT, spelled="json")]
Quiet = Annotated[bool, Option("Show errors only.", OUTPUT, short="-q")]
# Of public data that are made.
SavedName = Annotated[str, Option("Name to save it under.", metavar="NAME")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The lines that a run prints."""

    quiet: Quiet = False
    verbose: Annotated[
        bool,
        Option("Show the whole report, not the short answer.", OUTPUT, short="-v"),
    ] = False
    json: Annotated[
        bool,
        Option("Print JSON: the short answer, on standard error.", OUTPUT, hidden=True),
    ] = False

    def __post_init__(self) -> None:
        """Raise UsageError for two ways to print."""
        refuse_both("quiet", self.quiet, "verbose", self.verbose)
        refuse_both("quiet", self.quiet, "json", self.json)
        refuse_both("verbose", self.verbose, "json", self.json)


def check_public_text(public_text: str | None, fields: Sequence[str]) -> None:
    """Raise UsageError for fields of public text if none is read."""
    if fields and public_text is None:
        raise UsageError(
            f"{noun('field')}: no text is read; give {noun('public-text')}, whose "
            "field it names, or leave it out"
        )
