"""Options that several commands have: one spelling, one help and one check for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext import choices
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.types import JsonObject

# Options of earlier versions, and what each is called now.
RENAMED = {
    "--ruler": "--bayes-risk",
    "--no-ruler": "--no-bayes-risk",
    "--best-law": "--best-weights",
}

# Options by the panels of the help.
input_option = partial(typer.Option, rich_help_panel="Input")
setting_option = partial(typer.Option, rich_help_panel="Guarantee")
measure_option = partial(typer.Option, rich_help_panel="What is measured")
output_option = partial(typer.Option, rich_help_panel="Output and report")


def one_of(option: str, *values: str) -> Callable[[str | None], str | None]:
    """Return the check of an option that takes one of some values."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in values:
            msg = f"{option} {value}: choose {', '.join(values[:-1])} or {values[-1]}"
            raise UsageError(msg)
        return value

    return check


def _known_format(name: str | None) -> str | None:
    if name is None:
        return None
    from dptext import registry

    return one_of("--format", *registry.names("formats"))(name)


Files = Annotated[
    list[str] | None,
    typer.Argument(help="Files to read; none or - is standard input."),
]
Fields = Annotated[
    list[str] | None,
    input_option(
        "-f",
        "--field",
        help="Text field (dotted path in JSON, column in CSV); repeatable. "
        "Default: text.",
    ),
]
Format = Annotated[
    str | None,
    input_option(
        help="jsonl, csv, tsv, text or parquet; else by suffix.", callback=_known_format
    ),
]
Id = Annotated[
    str | None,
    input_option(
        help="Field that names a record, unique; else its position in the input."
    ),
]
Delimiter = Annotated[
    str | None,
    input_option(help="Field delimiter of CSV or TSV."),
]
Quoting = Annotated[
    bool,
    input_option(
        "--quoting/--no-quoting", help="Whether quotes enclose fields in CSV and TSV."
    ),
]
Header = Annotated[
    bool,
    input_option(
        "--header/--no-header",
        help="Whether CSV and TSV begin with column names; without, --field 1 is the "
        "first column.",
    ),
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
EpsilonPerText = Annotated[
    float | None,
    setting_option(help="Epsilon of a whole text, in equal parts for its words."),
]
Risk = Annotated[str | None, setting_option(help=RISK)]
Mechanism = Annotated[
    str | None,
    setting_option(help="Mechanism with its default parameters."),
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
Labels = Annotated[
    list[str] | None,
    measure_option(
        "--label", help="Field that a classifier is to learn (utility); repeatable."
    ),
]
Attributes = Annotated[
    list[str] | None,
    measure_option(
        "--attribute", help="Field that an attacker wants to know; repeatable."
    ),
]
Classifier = Annotated[
    str,
    measure_option(help="tfidf, vectors, lstm, or the folder of a model."),
]
Splits = Annotated[
    int,
    measure_option(min=1, max=100, help="Splits into training and test."),
]
Alphas = Annotated[
    list[float] | None,
    measure_option(
        "--alpha",
        min=0.0,
        max=1.0,
        help="Weight of utility beside privacy; repeatable. Default: 0.25, 0.5, 0.75.",
    ),
]
ALPHAS = (0.25, 0.5, 0.75)
Encoder = Annotated[
    str | None,
    measure_option(help="Sentence model for CS: a folder or package."),
]
MaskedModel = Annotated[
    str | None,
    measure_option(help="Folder of a masked language model to attack with."),
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
Jobs = Annotated[
    int,
    output_option(
        "-j",
        "--jobs",
        min=1,
        max=256,
        help="Processes that replace words; changes no output. Worth it for large "
        "files and mechanisms with noise.",
    ),
]
Quiet = Annotated[
    bool,
    output_option(
        "-q", "--quiet", help="No report, notes or progress on standard error."
    ),
]


def overrides(
    *,
    epsilon: float | None = None,
    epsilon_per_text: float | None = None,
    risk: str | None = None,
    mechanism: str | None = None,
    lexicon: str | None = None,
    settings: Sequence[str] | None = None,
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    over = choices.overrides(
        epsilon=epsilon,
        epsilon_per_text=epsilon_per_text,
        risk=risk,
        mechanism=mechanism,
        lexicon=lexicon,
        option=lambda name: f"--{name.replace('_', '-')}",
    )
    for setting in settings or ():
        _set(over, setting)
    return over


def _set(over: JsonObject, setting: str) -> None:
    path, equals, value = setting.partition("=")
    keys = path.split(".")
    if not equals or not all(keys):
        msg = f"--set {setting}: write KEY=VALUE, as in tokens.number=mask"
        raise UsageError(msg)
    import yaml

    inner = over
    for key in keys[:-1]:
        part = inner.setdefault(key, {})
        if not isinstance(part, dict):
            msg = f"--set {setting}: {key} has no keys of its own"
            raise UsageError(msg)
        inner = part
    try:
        inner[keys[-1]] = yaml.safe_load(value)
    except yaml.YAMLError:
        inner[keys[-1]] = value
