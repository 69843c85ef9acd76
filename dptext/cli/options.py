"""Options and arguments that several commands have, and no run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.errors import UsageError
from dptext.run.interface import noun, refuse_both
from dptext.run.marks import MEASURES, OUTPUT, Option

if TYPE_CHECKING:
    from dptext.checking.contents import StopAtIdentifying
    from dptext.cli.configuration import Configuration

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


def inspection(
    fail_on: str | None, find: Callable[[], Configuration], subject: str | None = None
) -> StopAtIdentifying | None:
    """Return the inspection of outputs before their release (--fail-on), if any.

    find returns the configuration with the policy; subject: the field of people.
    """
    if fail_on is None:
        return None
    from dptext.checking import policy
    from dptext.checking.contents import StopAtIdentifying

    configured = find()
    accepted = policy.from_section(configured.policy, configured.label)
    return StopAtIdentifying(accepted.identifying, subject)
