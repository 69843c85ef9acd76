"""Options that several commands have: one spelling, one help and one check for each.

Options that go together are a group, a dataclass that a command takes as one parameter
(dptext.cli.parser.spread). Hidden ones are of rare use: `--help-all` shows them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from dptext import progress
from dptext.cli import screen
from dptext.cli.parser import MOST_JOBS, Number, one_of
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Progress as Counted
    from dptext.engine.run import Reports
    from dptext.evaluation.run import EvaluationSettings
    from dptext.profile import Choices
    from dptext.randomness import RunKey
    from dptext.report.answer import Released
    from dptext.report.document import Document
    from dptext.types import JsonObject, Selection

# Options by the panels of the help.
input_option = partial(typer.Option, rich_help_panel="Input")
setting_option = partial(typer.Option, rich_help_panel="Guarantee")
measure_option = partial(typer.Option, rich_help_panel="Measures")
output_option = partial(typer.Option, rich_help_panel="Output and report")
rare_input = partial(input_option, hidden=True)
rare_setting = partial(setting_option, hidden=True)
rare_measure = partial(measure_option, hidden=True)
rare_output = partial(output_option, hidden=True)

PROFILE = "Profile of `dptext list`, or a .yaml file."
EPSILON = "Epsilon per word."
RISK = (
    "Choose epsilon so that the best guess of a word is right at most this often, as "
    "in 10%."
)
_READ = "Most words that measured readers of whole texts find, as in 25%."
LEXICON = "Lexicon of `dptext lexicon list`, or a file."
SET = "Override one key of the profile or policy, as in tokens.number=mask; repeatable."
positive = Number(float, 0, above=True)


def known_format(name: str) -> str:
    """Read the name of a format of records. Raises BadValue."""
    from dptext import registry

    return one_of(*registry.names("formats"))(name)


def known_encoding(name: str) -> str | None:
    """Read the name of an encoding; None is UTF-8. Raises UsageError."""
    from dptext import streams

    return streams.known_encoding(name)


Files = Annotated[
    list[str] | None,
    typer.Argument(help="Files to read. Default: standard input (-)."),
]
Fields = Annotated[
    list[str] | None,
    input_option(
        "-f",
        "--field",
        metavar="NAME",
        help="Text field: path in JSON, column in CSV; repeatable.",
    ),
]
Format = Annotated[
    str | None,
    input_option(
        help="jsonl, json, csv, tsv, xlsx, parquet, text. Default: by name, content.",
        parser=known_format,
        metavar="NAME",
    ),
]
Id = Annotated[
    str | None,
    rare_input(
        help="Field with a unique id per record. Default: its position.",
    ),
]
Profile = Annotated[
    str, setting_option("-p", "--profile", metavar="NAME", help=PROFILE)
]
ProfileArgument = Annotated[str, typer.Argument(help=PROFILE)]
Epsilon = Annotated[
    float | None, setting_option(metavar="NUMBER", help=EPSILON, parser=positive)
]
Risk = Annotated[str | None, setting_option(metavar="SHARE", help=RISK)]
Mechanism = Annotated[
    str | None,
    setting_option(metavar="NAME", help="Mechanism with its default parameters."),
]
Lexicon = Annotated[str | None, setting_option(metavar="NAME", help=LEXICON)]
Set = Annotated[
    list[str] | None,
    setting_option(
        "--set",
        metavar="KEY=VALUE",
        help=SET,
    ),
]
BayesRisk = Annotated[
    bool,
    rare_measure(
        "--bayes-risk/--no-bayes-risk",
        help="Measure the risk, or leave it out.",
    ),
]
Json = Annotated[bool, output_option("--json", help="Print JSON.")]
Html = Annotated[
    Path | None,
    output_option(metavar="FILE", help="Write a web page; - is standard output."),
]
Report = Annotated[
    Path | None,
    output_option(
        metavar="FILE",
        help="Write the internal report (private figures!) as JSON.",
    ),
]
PublicTextFile = Annotated[
    str | None,
    measure_option(
        "--public-text",
        metavar="FILE",
        help="Public text of the same kind, for one more reader.",
    ),
]
Jobs = Annotated[
    int,
    output_option(
        "-j",
        "--jobs",
        parser=Number(int, 1, MOST_JOBS, auto=True),
        metavar="NUMBER",
        help="Number of processes, or auto for one per core.",
        show_default=False,
    ),
]
Quiet = Annotated[
    bool,
    output_option("-q", "--quiet", help="Show errors only."),
]
Verbose = Annotated[
    bool,
    output_option(
        "-v", "--verbose", help="Show the whole report instead of the short answer."
    ),
]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the records of a file are read."""

    field: Fields = None
    format: Format = None
    delimiter: Annotated[
        str | None, rare_input(help="Field delimiter of CSV or TSV.")
    ] = None
    quoting: Annotated[
        bool,
        rare_input(
            "--quoting/--no-quoting",
            help="Quotes enclose fields in CSV and TSV, or are ordinary characters.",
        ),
    ] = True
    header: Annotated[
        bool,
        rare_input(
            "--header/--no-header",
            help="CSV and TSV begin with column names, or not: then --field 1 is the "
            "first column.",
        ),
    ] = True
    encoding: Annotated[
        str | None,
        rare_input(
            help="Encoding of text files, input and output, such as cp1252 or utf-16. "
            "Default: UTF-8.",
            parser=known_encoding,
        ),
    ] = None

    def selection(self, *usual: str) -> Selection:
        """Return which parts are texts; usual, the fields where none is named."""
        from dptext.types import Selection

        return Selection(
            fields=tuple(self.field or usual),
            delimiter=self.delimiter,
            quoting=self.quoting,
            header=self.header,
            encoding=self.encoding,
        )


@dataclass(frozen=True, slots=True)
class Records(Layout):
    """How the records that become private are read, and what becomes of faulty ones."""

    id: Id = None
    missing: Annotated[
        str,
        rare_input(
            help="If a text field is absent or null: fail or pass.",
            parser=one_of("fail", "pass"),
        ),
    ] = "fail"
    max_record_bytes: Annotated[
        int,
        rare_input(
            parser=Number(int, 1, 2**40),
            help="Longest record to read, in bytes.",
        ),
    ] = 16 * 2**20
    on_error: Annotated[
        str,
        rare_input(
            help="If a record cannot be read: fail, skip or quarantine.",
            parser=one_of("fail", "skip", "quarantine"),
        ),
    ] = "fail"
    quarantine: Annotated[
        str | None,
        rare_input(
            help="Write unreadable records to this file, unchanged (original text!).",
        ),
    ] = None

    def selected(self, subject: str | None) -> Selection:
        """Return which parts are texts, names and subjects."""
        return replace(
            self.selection(),
            id_field=self.id,
            subject_field=subject,
            missing=self.missing,
            max_record_bytes=self.max_record_bytes,
        )

    def for_faulty(self) -> str:
        """Return what happens to faulty records: --quarantine alone says it, too."""
        if self.on_error == "quarantine" and self.quarantine is None:
            msg = "--on-error quarantine: name the file with --quarantine FILE"
            raise UsageError(msg)
        if self.on_error == "fail" and self.quarantine is not None:
            return "quarantine"
        return self.on_error


@dataclass(frozen=True, slots=True)
class Changes:
    """What is laid over the keys of a profile."""

    risk: Risk = None
    epsilon: Epsilon = None
    reader_risk: Annotated[str | None, rare_setting(help=_READ)] = None
    mechanism: Mechanism = None
    decode: Annotated[
        str | None,
        rare_setting(
            help="Decoder, such as ngram, or none to write words as drawn. The "
            "guarantee is the same.",
        ),
    ] = None
    lexicon: Lexicon = None
    keep_list: Annotated[
        list[str] | None,
        rare_setting(
            help="File of public words and phrases, one per line, to copy without "
            "protection; repeatable.",
        ),
    ] = None
    mask_list: Annotated[
        list[str] | None,
        rare_setting(
            help="File of public words and phrases, one per line, to replace with a "
            "fixed symbol; repeatable.",
        ),
    ] = None
    set_: Set = None

    def overrides(self) -> JsonObject:
        """Return the keys that are laid over. Raises UsageError on conflicts."""
        chosen = asdict(self)
        return overrides(chosen.pop("set_"), **chosen)


@dataclass(frozen=True, slots=True)
class Keys:
    """Where the randomness of a run is from."""

    key_file: Annotated[
        Path | None,
        setting_option(
            metavar="FILE",
            help="Secret key of at least 32 random bytes. With it, a second run "
            "repeats the draws.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        rare_setting(
            help="For tests and papers: repeatable draws, without any privacy.",
            parser=Number(int),
        ),
    ] = None

    def key(self) -> RunKey:
        """Return the key of a run. Raises UsageError."""
        from dptext.randomness import RunKey

        if self.key_file is not None:
            return RunKey.from_file(self.key_file)
        return RunKey.fresh() if self.seed is None else RunKey.from_seed(self.seed)


@dataclass(frozen=True, slots=True)
class Reported:
    """Where the reports of a run go."""

    report: Report = None
    html: Html = None
    public_report: Annotated[
        Path | None,
        rare_output(
            help="Write the public report here instead of beside the output.",
        ),
    ] = None
    sidecar: Annotated[
        bool,
        rare_output(
            "--sidecar/--no-sidecar",
            help="Write the public report OUTPUT.dptext.json, or not.",
        ),
    ] = True
    sign_key: Annotated[
        Path | None,
        rare_output(help="Sign the public report with this Ed25519 key (PEM)."),
    ] = None

    def reports(self, key_file: Path | None) -> Reports:
        """Return where reports go, and the key that signs them. Raises UsageError."""
        from dptext.engine.run import Reports
        from dptext.report import signatures

        key = None
        if self.sign_key is not None:
            if key_file is not None and os.path.samefile(self.sign_key, key_file):
                raise UsageError(
                    "--sign-key: give a file other than --key-file, which must stay "
                    "secret"
                )
            key = signatures.signing(self.sign_key)
        return Reports(self.report, self.html, self.public_report, self.sidecar, key)


@dataclass(frozen=True, slots=True)
class Work:
    """How a run does its work, and what it says of it."""

    jobs: Jobs = 1
    batch_size: Annotated[
        int,
        rare_output(
            parser=Number(int, 1),
            help="Most records in a batch. The output is the same.",
        ),
    ] = 4096
    quiet: Quiet = False
    verbose: Verbose = False
    json: Annotated[
        bool,
        rare_output(
            "--json",
            help="Print JSON: the short answer, on standard error.",
        ),
    ] = False


class Answer:
    """What a run says on standard error: at its end, in a few lines, warnings last.

    With --verbose that is the whole report, below warnings that come at once. Where a
    run ends without an answer, its warnings are written all the same. Fields that are
    copied and look identifying are named last of all.
    """

    def __init__(self, work: Work, context: typer.Context) -> None:
        """Begin inside of a command; name steps that take long, unless it is quiet."""
        progress.on(not (work.quiet or work.json))
        self.console = screen.console(stderr=True, quiet=work.quiet)
        self._work = work
        self._waiting: dict[str, None] = {}
        context.call_on_close(self._leave)

    def warn(self, line: str) -> None:
        """Take a line for people, which is shown once."""
        if self._work.verbose:
            self._print(line)
        else:
            self._waiting[line] = None

    @contextlib.contextmanager
    def bar(self) -> Iterator[Counted | None]:
        """Show records and words so far for a block, on a terminal."""
        if not (sys.stderr.isatty() and progress.enabled()):
            yield None
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn(
                "{task.fields[records]:,} records, {task.fields[words]:,} words"
            ),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task("", total=None, records=0, words=0)
            yield lambda records, words: bar.update(task, records=records, words=words)

    def show(
        self,
        document: Document,
        released: Released,
        copied: Mapping[str, str],
    ) -> None:
        """Say what was done; copied are the identifying fields that were copied."""
        from dptext.engine import survey
        from dptext.report import answer

        if copied:
            self._waiting[survey.warning(copied)] = None
        if self._work.verbose:
            from dptext.report import signatures, views

            signed = released.signed or signatures.UNSIGNED
            screen.show(views.report(document, signed), on=self.console)
            return
        lines = answer.answer(document, released)
        warnings, self._waiting = list(self._waiting), {}
        if self._work.json:
            plain = answer.data(lines, warnings)
            print(screen.to_json(plain), file=sys.stderr)  # noqa: T201
        else:
            screen.show(*answer.blocks(lines, warnings), on=self.console)

    def _leave(self) -> None:
        for line in self._waiting:
            self._print(line)

    def _print(self, line: str) -> None:
        self.console.print(f"dptext: {line}", soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """Measures of private texts."""

    label: Annotated[
        list[str] | None,
        measure_option(
            metavar="NAME",
            help="Field for a classifier to predict (utility); repeatable.",
        ),
    ] = None
    attribute: Annotated[
        list[str] | None,
        measure_option(
            metavar="NAME", help="Field for an attacker to predict; repeatable."
        ),
    ] = None
    classifier: Annotated[
        str,
        rare_measure(
            metavar="NAME",
            help="tfidf, vectors, or the folder of a model.",
        ),
    ] = "tfidf"
    splits: Annotated[
        int,
        rare_measure(
            parser=Number(int, 1, 100),
            help="Number of splits into training and test texts.",
        ),
    ] = 3
    alpha: Annotated[
        list[float] | None,
        rare_measure(
            parser=Number(float, 0, 1),
            help="Weight of utility against privacy; repeatable. Default: 0.25, 0.5, "
            "0.75.",
        ),
    ] = None
    encoder: Annotated[
        str | None,
        rare_measure(help="Sentence model for CS: a folder or package."),
    ] = None
    masked_model: Annotated[
        str | None,
        rare_measure(help="Folder of a masked language model to attack with."),
    ] = None
    reader: Annotated[
        str | None,
        rare_measure(
            help="Add an attack by this reader: endpoint. It sends new draws of the "
            "originals to the server of the decoder endpoint.",
        ),
    ] = None

    def settings(self) -> EvaluationSettings:
        """Return the settings of an evaluation."""
        from dptext.evaluation.run import ALPHAS, EvaluationSettings

        return EvaluationSettings(
            labels=tuple(self.label or ()),
            attributes=tuple(self.attribute or ()),
            classifier=self.classifier,
            splits=self.splits,
            alphas=tuple(self.alpha or ALPHAS),
            encoder=self.encoder,
            masked_model=self.masked_model,
            reader=self.reader,
        )


def overrides(
    settings: Sequence[str] | None = None, **chosen: Unpack[Choices]
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    from dptext import profile

    return profile.overrides_of(
        keys_of(settings), lambda name: f"--{name.replace('_', '-')}", **chosen
    )


def keys_of(settings: Sequence[str] | None) -> JsonObject:
    """Return the keys and values that --set gives. Raises UsageError."""
    import yaml

    keys: JsonObject = {}
    for setting in settings or ():
        path, equals, text = setting.partition("=")
        *parents, key = path.split(".")
        if not equals or not all((*parents, key)):
            msg = f"--set {setting}: write KEY=VALUE, as in tokens.number=mask"
            raise UsageError(msg)
        inner = keys
        for parent in parents:
            part = inner.setdefault(parent, {})
            if not isinstance(part, dict):
                raise UsageError(f"--set {setting}: {parent} has no keys of its own")
            inner = part
        try:
            inner[key] = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError):
            inner[key] = text
    return keys
