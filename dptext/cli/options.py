"""Options that several commands have: one spelling, one help and one check for each."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dptext.errors import UsageError

# Options by the panels of the help.
input_option = partial(typer.Option, rich_help_panel="Input")
setting_option = partial(typer.Option, rich_help_panel="Guarantee")
measure_option = partial(typer.Option, rich_help_panel="What is measured")
output_option = partial(typer.Option, rich_help_panel="Output and report")


def one_of(option: str, *values: str) -> Callable[[str | None], str | None]:
    """Return the check of an option that takes one of some values."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in values:
            raise UsageError(
                f"{option} {value}: choose {', '.join(values[:-1])} or {values[-1]}"
            )
        return value

    return check


Files = Annotated[
    list[str] | None,
    typer.Argument(help="Files to read; none or - is standard input."),
]
Missing = Annotated[
    str,
    input_option(
        help="An absent or null text field: fail or pass.",
        callback=one_of("--missing", "fail", "pass"),
    ),
]
MaxRecordBytes = Annotated[
    int, input_option(min=1, max=2**40, help="Longest record that is read.")
]
OnError = Annotated[
    str,
    input_option(
        help="A record that cannot be read: fail, skip or quarantine.",
        callback=one_of("--on-error", "fail", "skip", "quarantine"),
    ),
]
Quarantine = Annotated[
    str | None,
    input_option(help="Where unreadable records go, as they are (original text!)."),
]

PROFILE = "Recipe: a name that `dptext profiles` lists, or a .yaml file."
EPSILON = "Epsilon per word."
RISK = (
    "Choose epsilon so that the best possible guess of a word succeeds at most this "
    "often, as in 10%."
)
LEXICON = "Lexicon: a name that `dptext lexicon list` shows, or a file."
Profile = Annotated[str, setting_option("-p", "--profile", help=PROFILE)]
ProfileArgument = Annotated[str, typer.Argument(help=PROFILE)]
Epsilon = Annotated[float | None, setting_option(help=EPSILON)]
Id = Annotated[
    str | None,
    input_option(
        help="Field that names a record, unique; else its position in the input."
    ),
]
Mechanism = Annotated[
    str | None, setting_option(help="Mechanism with its default parameters.")
]
Decode = Annotated[
    str | None,
    setting_option(
        help="Decoder that writes the words, such as ngram; none writes those that "
        "were drawn. Changes no guarantee."
    ),
]
Lexicon = Annotated[str | None, setting_option(help=LEXICON)]
Set = Annotated[
    list[str] | None,
    setting_option(
        "--set",
        help="Override one key of the profile, as in --set tokens.number=mask; "
        "repeatable.",
    ),
]
KeyFile = Annotated[
    Path | None,
    setting_option(
        help="Secret of at least 32 random bytes: running again gives the same bytes."
    ),
]
SignKey = Annotated[
    Path | None,
    output_option(help="Sign the public report with this Ed25519 key (PEM)."),
]
Seed = Annotated[
    int | None,
    setting_option(help="For tests and papers: repeatable, and no privacy at all."),
]

BayesRisk = Annotated[
    bool,
    measure_option(
        "--bayes-risk/--no-bayes-risk", help="Whether the risk is measured."
    ),
]
Json = Annotated[bool, output_option("--json", help="Print JSON, for machines.")]
Html = Annotated[
    Path | None,
    output_option(help="Write a page for browsers to this file; - is standard output."),
]
Report = Annotated[
    Path | None,
    output_option(
        help="Write all figures (functions of the private text!) as JSON to this file."
    ),
]
PublicReport = Annotated[
    Path | None,
    output_option(help="Write the public report here instead of beside the output."),
]
Sidecar = Annotated[
    bool,
    output_option(
        "--sidecar/--no-sidecar", help="Whether OUTPUT.dptext.json is written."
    ),
]
BatchSize = Annotated[
    int, output_option(min=1, help="Most records in a batch; changes no output.")
]
ProgressBar = Annotated[
    bool | None,
    output_option(
        "--progress/--no-progress",
        help="Progress on standard error; by default on a terminal.",
    ),
]
MOST_JOBS = 256


def jobs_of(value: str | int) -> int:
    """Return a number of processes; auto: as many as there are cores for this one."""
    if value != "auto":
        return int(value)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        cores = os.cpu_count() or 1
    return min(cores, MOST_JOBS)


Jobs = Annotated[
    int,
    output_option(
        "-j",
        "--jobs",
        min=1,
        max=MOST_JOBS,
        parser=jobs_of,
        metavar="INTEGER|auto",
        help="Processes that replace words, auto: one for each core; changes no "
        "output.",
    ),
]
Quiet = Annotated[
    bool,
    output_option(
        "-q", "--quiet", help="No report, notes or progress on standard error."
    ),
]
