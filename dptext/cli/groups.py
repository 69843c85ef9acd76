"""Groups of options that commands share: a field is an option, with its default.

A command takes a group as one parameter (dptext.cli.parser.spread). A group refuses
its options if they exclude each other, and hands its values to the engine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dptext.cli import options, values
from dptext.cli.options import GUARANTEE, INPUT, KEYS, LAYOUT, MEASURES, OUTPUT, RECORDS
from dptext.cli.values import Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.files import Reports
    from dptext.engine.job import Job
    from dptext.evaluation.settings import EvaluationSettings
    from dptext.randomness import RunKey
    from dptext.types import JsonObject, Selection


def refuse_both(first: str, is_first: object, second: str, is_second: object) -> None:
    """Raise UsageError for two options of which only one may be given."""
    if is_first and is_second:
        raise UsageError(f"give {first} or {second}, not both")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutOptions:
    """How the records of a file are read."""

    field: options.Field = None
    format: options.Format = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            parser=values.parse_delimiter,
            metavar="CHARACTER",
            help="Field delimiter of CSV or TSV.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = None
    quoting: Annotated[
        bool,
        typer.Option(
            "--quoting/--no-quoting",
            help="Quotes enclose fields in CSV and TSV, or are ordinary characters.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = True
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="CSV and TSV begin with column names, or not: then --field 1 is the "
            "first column.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = True
    skip_lines: Annotated[
        int,
        typer.Option(
            "--skip-lines",
            parser=Number(kind=int, low=0, high=1_000_000),
            metavar="NUMBER",
            help="Lines before the header of CSV or TSV, left out of the output.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = 0
    escapes: Annotated[
        str | None,
        typer.Option(
            "--escapes",
            parser=one_of("backslash", "none"),
            metavar="backslash|none",
            help="Backslashes in CSV or TSV: backslash (they escape, as COPY and "
            "mysqldump write) or none.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            parser=values.parse_encoding,
            metavar="NAME",
            help="Encoding of text files, input and output, such as cp1252 or utf-16. "
            "Default: UTF-8.",
            rich_help_panel=LAYOUT,
            hidden=True,
        ),
    ] = None

    def selection(self, *usual: str, **others: Any) -> Selection:
        """Return the private parts of records; usual: the default fields."""
        from dptext.types import Selection

        return Selection(
            tuple(self.field or usual),
            delimiter=self.delimiter,
            quoting=self.quoting,
            header=self.header,
            skip_lines=self.skip_lines,
            escapes=self.escapes,
            encoding=self.encoding,
            **others,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run works, and how much it prints."""

    jobs: options.Jobs = 1
    batch_size: Annotated[
        int,
        typer.Option(
            "--batch-size",
            parser=Number(kind=int, low=1),
            metavar="NUMBER",
            help="Most records in a batch. The output is the same.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = 4096
    quiet: options.Quiet = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Show the whole report, not the short answer.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print JSON: the short answer, on standard error.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = False

    def __post_init__(self) -> None:
        """Raise UsageError for two ways to print."""
        refuse_both("--quiet", self.quiet, "--verbose", self.verbose)
        refuse_both("--quiet", self.quiet, "--json", self.json)
        refuse_both("--verbose", self.verbose, "--json", self.json)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions(LayoutOptions):
    """How records are read, and the treatment of faulty ones."""

    id: options.Id = None
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            parser=one_of("fail", "pass"),
            metavar="fail|pass",
            help="If a text field is absent or null: fail or pass.",
            rich_help_panel=RECORDS,
            hidden=True,
        ),
    ] = "fail"
    max_record_bytes: Annotated[
        int,
        typer.Option(
            "--max-record-bytes",
            parser=Number(kind=int, low=1, high=2**40),
            metavar="NUMBER",
            help="Longest record to read, in bytes.",
            rich_help_panel=RECORDS,
            hidden=True,
        ),
    ] = 16 * 2**20
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            parser=one_of("fail", "skip", "quarantine"),
            metavar="ACTION",
            help="If a record cannot be read: fail, skip or quarantine.",
            rich_help_panel=RECORDS,
            hidden=True,
        ),
    ] = "fail"
    quarantine: Annotated[
        str | None,
        typer.Option(
            "--quarantine",
            metavar="FILE",
            help="Write unreadable records to this file, unchanged (original text!).",
            rich_help_panel=RECORDS,
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a quarantine without a file."""
        if self.on_error == "quarantine" and self.quarantine is None:
            raise UsageError(
                "--on-error quarantine: name the file with --quarantine FILE"
            )
        if self.quarantine == "-":
            raise UsageError(
                "standard output carries no original text: name a file with "
                "--quarantine"
            )

    def job(
        self,
        files: Sequence[str] | None,
        output: str | None,
        subject: str | None,
        over: JsonObject,
        work: RunOptions,
    ) -> Job:
        """Return the job of a run; over: keys laid over a profile.

        --quarantine overrides --on-error.
        """
        from dptext.engine import language
        from dptext.engine.job import Job

        selection = self.selection(
            id_field=self.id,
            subject_field=subject,
            missing=self.missing,
            max_record_bytes=self.max_record_bytes,
        )
        return Job(
            inputs=tuple(files or ("-",)),
            output=None if output == "-" else output,
            selection=selection,
            format=self.format,
            on_error=self.on_error if self.quarantine is None else "quarantine",
            quarantine=self.quarantine,
            batch_size=work.batch_size,
            jobs=work.jobs,
            any_language=language.is_asked_for(over),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOptions:
    """Fields that are neither private texts nor copied."""

    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="NAME",
            help="Field to leave out of the output; repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    pseudonym: Annotated[
        list[str] | None,
        typer.Option(
            "--pseudonym",
            metavar="NAME",
            help="Field to replace by tokens of a --key-file.",
            rich_help_panel=INPUT,
        ),
    ] = None

    def added_to(self, job: Job) -> Job:
        """Return a job with these fields. Raises UsageError for one with two uses."""
        from dptext.formats import _fields

        selection = replace(
            job.selection,
            dropped=tuple(dict.fromkeys(self.drop or ())),
            pseudonyms=tuple(dict.fromkeys(self.pseudonym or ())),
        )
        _fields.check_selection(selection)
        return replace(job, selection=selection)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions:
    """Changes of a profile."""

    risk: options.Risk = None
    epsilon: options.Epsilon = None
    mechanism: options.Mechanism = None
    decode: Annotated[
        str | None,
        typer.Option(
            "--decode",
            metavar="NAME",
            help="Decoder: ngram, none (words as drawn), ...",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    lexicon: options.Lexicon = None
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            metavar="NAME",
            help="Topics for whole texts, of `dptext topics`.",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    set_: options.SetKey = None

    def __post_init__(self) -> None:
        """Raise UsageError for two vocabularies."""
        refuse_both(
            "--topics",
            self.topics is not None,
            "--lexicon",
            self.lexicon is not None,
        )

    def profile(self, name: str) -> str:
        """Return the profile to use; --topics has another default."""
        from dptext.profile import DEFAULT

        return "topics" if self.topics is not None and name == DEFAULT else name

    def overrides(self) -> JsonObject:
        """Return the changed keys. Raises UsageError on conflicts."""
        topics = self.topics
        return options.overrides(
            self.set_,
            risk=self.risk,
            epsilon=self.epsilon,
            mechanism=self.mechanism,
            decode=self.decode,
            lexicon=self.lexicon if topics is None else f"topics:{topics}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOptions:
    """The source of randomness of a run."""

    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="Secret key of at least 32 random bytes. With it, a second run "
            "repeats the draws.",
            rich_help_panel=GUARANTEE,
        ),
    ] = None
    trust_key_file: Annotated[
        bool,
        typer.Option(
            "--trust-key-file",
            help="Use a key file although its mode lets other users read it, if none "
            "can, as in a container.",
            rich_help_panel=KEYS,
            hidden=True,
        ),
    ] = False
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            parser=Number(kind=int),
            metavar="NUMBER",
            help="For tests and papers: repeatable draws, without any privacy.",
            rich_help_panel=KEYS,
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two sources, and for trust in no file."""
        refuse_both(
            "--key-file", self.key_file is not None, "--seed", self.seed is not None
        )
        if self.trust_key_file and self.key_file is None:
            raise UsageError("--trust-key-file is about --key-file: give both")

    def key(self) -> RunKey:
        """Return the key of a run. Raises UsageError."""
        from dptext.randomness import RunKey

        if self.key_file is not None:
            return RunKey.from_file(self.key_file, trusted=self.trust_key_file)
        return RunKey.fresh() if self.seed is None else RunKey.from_seed(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Files for the reports of a run."""

    report: options.Report = None
    html: options.Html = None
    public_report: Annotated[
        Path | None,
        typer.Option(
            "--public-report",
            metavar="FILE",
            help="Write the public report here instead of beside the output.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = None
    sidecar: Annotated[
        bool,
        typer.Option(
            "--sidecar/--no-sidecar",
            help="Write the public report OUTPUT.dptext.json, or not.",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = True
    sign_key: Annotated[
        Path | None,
        typer.Option(
            "--sign-key",
            metavar="FILE",
            help="Sign the public report with this Ed25519 key (PEM).",
            rich_help_panel=OUTPUT,
            hidden=True,
        ),
    ] = None

    def reports(self, key_file: Path | None) -> Reports:
        """Return the files of reports, and their signing key. Raises UsageError."""
        from dptext.engine.files import Reports
        from dptext.report import signatures

        key = None
        if self.sign_key is not None:
            if key_file is not None and os.path.samefile(self.sign_key, key_file):
                raise UsageError(
                    "--sign-key: give a file other than --key-file, which must stay "
                    "secret"
                )
            key = signatures.read_private(self.sign_key)
        return Reports(
            internal=self.report,
            page=self.html,
            public=self.public_report,
            sidecar=self.sidecar,
            key=key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """Measures of private texts."""

    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="Field for a classifier to predict (utility); repeatable.",
            rich_help_panel=MEASURES,
        ),
    ] = None
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="NAME",
            help="Field for an attacker to predict; repeatable.",
            rich_help_panel=MEASURES,
        ),
    ] = None
    classifier: Annotated[
        str,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="tfidf, vectors, or the folder of a model.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = "tfidf"
    splits: Annotated[
        int,
        typer.Option(
            "--splits",
            parser=Number(kind=int, low=1, high=100),
            metavar="NUMBER",
            help="Number of splits into training and test texts.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = 3
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            "--alpha",
            parser=Number(kind=float, low=0, high=1),
            metavar="NUMBER",
            help="Weight of utility against privacy; repeatable. Default: 0.25, 0.5, "
            "0.75.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            metavar="NAME",
            help="Sentence model for CS: a folder or package.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None
    masked_model: Annotated[
        str | None,
        typer.Option(
            "--masked-model",
            metavar="FOLDER",
            help="Folder of a masked language model to attack with.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None
    attacker: Annotated[
        str | None,
        typer.Option(
            "--attacker",
            metavar="NAME",
            help="Add an attack by this attacker: endpoint. It sends new draws of the "
            "originals to the server of the decoder endpoint.",
            rich_help_panel=MEASURES,
            hidden=True,
        ),
    ] = None

    def settings(self, **others: Any) -> EvaluationSettings:
        """Return the settings of an evaluation."""
        from dptext.evaluation.settings import ALPHAS, EvaluationSettings

        alike: dict[str, Any] = {**asdict(self), **others}
        return EvaluationSettings(
            labels=tuple(alike.pop("label") or ()),
            attributes=tuple(alike.pop("attribute") or ()),
            alphas=tuple(alike.pop("alpha") or ALPHAS),
            **alike,
        )
