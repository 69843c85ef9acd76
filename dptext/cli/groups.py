"""Options that go together, in several commands: each group is one parameter.

A command takes a group as a parameter of its type (dptext.cli.spread).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dptext.cli import options
from dptext.cli.options import input_option, measure_option, setting_option
from dptext.cli.overrides import overrides

if TYPE_CHECKING:
    from dptext.evaluation.run import Settings
    from dptext.types import JsonObject, Selection


def _known_format(name: str | None) -> str | None:
    if name is None:
        return None
    from dptext import registry

    return options.one_of("--format", *registry.names("formats"))(name)


Fields = Annotated[
    list[str] | None,
    input_option(
        "-f",
        "--field",
        help="Text field (dotted path in JSON, column in CSV); repeatable. "
        "Needed by sanitize and embed, except for plain text; else: text.",
    ),
]
Format = Annotated[
    str | None,
    input_option(
        help="jsonl, csv, tsv, text or parquet; else by suffix.",
        callback=_known_format,
    ),
]


Risk = Annotated[str | None, setting_option(help=options.RISK)]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of a file are read."""

    field: Fields = None
    format: Format = None
    delimiter: Annotated[
        str | None, input_option(help="Field delimiter of CSV or TSV.")
    ] = None
    quoting: Annotated[
        bool,
        input_option(
            "--quoting/--no-quoting",
            help="Whether quotes enclose fields in CSV and TSV.",
        ),
    ] = True
    header: Annotated[
        bool,
        input_option(
            "--header/--no-header",
            help="Whether CSV and TSV begin with column names; without, --field 1 is "
            "the first column.",
        ),
    ] = True

    def selection(self, *usual: str) -> Selection:
        """Return which parts are texts; usual, the fields where none is named."""
        from dptext.types import Selection

        return Selection(
            fields=tuple(self.field or usual),
            delimiter=self.delimiter,
            quoting=self.quoting,
            header=self.header,
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What is laid over the keys of a profile."""

    epsilon: options.Epsilon = None
    epsilon_per_text: Annotated[
        float | None,
        setting_option(help="Epsilon of a whole text, in equal parts for its words."),
    ] = None
    risk: Risk = None
    mechanism: options.Mechanism = None
    decode: options.Decode = None
    lexicon: options.Lexicon = None
    keep_list: Annotated[
        list[str] | None,
        setting_option(
            help="File of public words and phrases, one a line, that are copied and "
            "not protected; repeatable."
        ),
    ] = None
    mask_list: Annotated[
        list[str] | None,
        setting_option(
            help="File of public words and phrases, one a line, in whose place a "
            "fixed symbol is written; repeatable."
        ),
    ] = None
    form: Annotated[
        list[str] | None,
        setting_option(
            help="card, iban, email, date or phone: these become random ones of the "
            "same form, which is shown; repeatable."
        ),
    ] = None
    set_: options.Set = None

    def overrides(self) -> JsonObject:
        """Return the keys that are laid over. Raises UsageError on conflicts."""
        return overrides(
            self.set_,
            epsilon=self.epsilon,
            epsilon_per_text=self.epsilon_per_text,
            risk=self.risk,
            mechanism=self.mechanism,
            decode=self.decode,
            lexicon=self.lexicon,
            keep_list=self.keep_list,
            mask_list=self.mask_list,
            form=self.form,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of private texts."""

    label: Annotated[
        list[str] | None,
        measure_option(
            help="Field that a classifier is to learn (utility); repeatable."
        ),
    ] = None
    attribute: Annotated[
        list[str] | None,
        measure_option(help="Field that an attacker wants to know; repeatable."),
    ] = None
    classifier: Annotated[
        str, measure_option(help="tfidf, vectors, or the folder of a model.")
    ] = "tfidf"
    splits: Annotated[
        int, measure_option(min=1, max=100, help="Splits into training and test.")
    ] = 3
    alpha: Annotated[
        list[float] | None,
        measure_option(
            min=0.0,
            max=1.0,
            help="Weight of utility beside privacy; repeatable. Default: 0.25, 0.5, "
            "0.75.",
        ),
    ] = None
    encoder: Annotated[
        str | None, measure_option(help="Sentence model for CS: a folder or package.")
    ] = None
    masked_model: Annotated[
        str | None,
        measure_option(help="Folder of a masked language model to attack with."),
    ] = None

    def settings(self) -> Settings:
        """Return the settings of an evaluation."""
        from dptext.evaluation.run import ALPHAS, Settings

        return Settings(
            labels=tuple(self.label or ()),
            attributes=tuple(self.attribute or ()),
            classifier=self.classifier,
            splits=self.splits,
            alphas=tuple(self.alpha or ALPHAS),
            encoder=self.encoder,
            masked_model=self.masked_model,
        )
