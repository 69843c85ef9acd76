"""Options that several commands have: one spelling, one help and one check for each.

A parameter of a command that Python takes by name alone is the option of its name; the
tables hold its help, and its type reads the value (dptext.cli.parser.spread). Options
that go together are a group, a dataclass that a command takes as one parameter. Those
of rare use are hidden: `--help-all` shows them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from dptext import streams
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.run import Reports
    from dptext.evaluation.run import EvaluationSettings
    from dptext.profile import Choices
    from dptext.randomness import RunKey
    from dptext.types import JsonObject, Selection

PROFILE = "Profile of `dptext list`, or a .yaml file."
EPSILON = "Epsilon per word."
RISK = (
    "Choose epsilon so that the best guess of a word is right at most this often, as "
    "in 10%."
)
LEXICON = "Lexicon of `dptext lexicon list`, or a file."
SET = "Override one key of the profile or policy, as in tokens.number=mask; repeatable."
# The help of options, by panel. A command may have a text of its own (make_option).
DAILY = {
    "Input": {
        "field": "Text field, by path or column; repeatable.",
        "drop": "Field to leave out of the output; repeatable.",
        "pseudonym": "Field to replace by tokens of a --key-file.",
        "format": "jsonl, json, csv, tsv, xlsx, parquet, text. Default: by name, "
        "content.",
        "keep": "Field to copy unchanged even if it looks identifying; repeatable.",
        "audience": "Who will read the output: people, programs or statistics.",
        "sample": "Number of texts to sample, the same ones each time.",
    },
    "Guarantee": {
        "profile": PROFILE,
        "risk": RISK,
        "epsilon": EPSILON,
        "mechanism": "Mechanism with its default parameters.",
        "lexicon": LEXICON,
        "topics": "Topics for whole texts, of `dptext topics`.",
        "set_": SET,
        "pool": "word: one vector per word. mean, sif (weighted by frequency) or "
        "sentence (needs --model): one per text.",
        "model": "Sentence model, a folder or package.",
        "clip": "Shorten longer vectors to this length. Default: 1.",
        "key_file": "Secret key of at least 32 random bytes. With it, a second run "
        "repeats the draws.",
    },
    "Measures": {
        "label": "Field for a classifier to predict (utility); repeatable.",
        "attribute": "Field for an attacker to predict; repeatable.",
        "public_text": "Public text of the same kind, for one more attacker.",
        "linkage": "Attack rows by the originals.",
        "identities": "Values that must not appear, such as names.",
    },
    "Output and report": {
        "output": "Output file, or folder if the input is one. Its public report goes "
        "beside it.",
        "out_dir": "Folder for the outputs of several files.",
        "report": "Write the internal report (private figures!) as JSON.",
        "csv": "Write the table as CSV.",
        "html": "Write a web page; - is standard output.",
        "as_json": "Print JSON.",
        "plan": "Show what a run will promise; read no text.",
        "preview": "Show this many records and write nothing.",
        "jobs": "Number of processes, or auto for one per core.",
        "quiet": "Show errors only.",
        "verbose": "Show the whole report instead of the short answer.",
    },
}
RARE = {
    "Input": {
        "delimiter": "Field delimiter of CSV or TSV.",
        "quoting": "Quotes enclose fields in CSV and TSV, or are ordinary characters.",
        "skip_lines": "Lines before the header of CSV or TSV, left out of the output.",
        "escapes": "Backslashes in CSV or TSV: backslash (they escape, as COPY and "
        "mysqldump write) or none.",
        "header": "CSV and TSV begin with column names, or not: then --field 1 is the "
        "first column.",
        "include": "Of a folder, read the files that fit this pattern, as in "
        "'2026/*.csv'; repeatable.",
        "exclude": "Of a folder, leave out files that fit this pattern; repeatable.",
        "encoding": "Encoding of text files, input and output, such as cp1252 or "
        "utf-16. Default: UTF-8.",
        "id": "Field with an id per record, by which a key repeats its draws. Default: "
        "its position.",
        "missing": "If a text field is absent or null: fail or pass.",
        "max_record_bytes": "Longest record to read, in bytes.",
        "on_error": "If a record cannot be read: fail, skip or quarantine.",
        "quarantine": "Write unreadable records to this file, unchanged (original "
        "text!).",
    },
    "Guarantee": {
        "attacker_risk": "Most words that measured attackers of whole texts find, as "
        "in 25%.",
        "decode": "Decoder, such as ngram, or none to write words as drawn. The "
        "guarantee is the same.",
        "keep_list": "File of public words and phrases, one per line, to copy without "
        "protection; repeatable.",
        "mask_list": "File of public words and phrases, one per line, to replace with "
        "a fixed symbol; repeatable.",
        "trust_key_file": "Take a key file though its mode lets other users read it, "
        "since none can, as in a container.",
        "seed": "For tests and papers: repeatable draws, without any privacy.",
        "ledger": "File that records the losses of each subject over all runs. Created "
        "if missing, with its key FILE.key beside it.",
        "subject": "Field with the person that a record is about.",
        "limit": "Most nats that a subject may lose in all recorded runs. A run that "
        "would exceed it writes nothing and ends with exit code 3.",
        "limit_delta": "The same for deltas, if the settings have one.",
        "most": "Most vectors of one subject, which share epsilon (or mu).",
        "mu": "Instead of an epsilon: mu of Gaussian differential privacy.",
    },
    "Measures": {
        "bayes_risk": "Measure the risk, or leave it out.",
        "classifier": "tfidf, vectors, or the folder of a model.",
        "splits": "Number of splits into training and test texts.",
        "alpha": "Weight of utility against privacy; repeatable. Default: 0.25, 0.5, "
        "0.75.",
        "encoder": "Sentence model for CS: a folder or package.",
        "identities_field": "Field or column of --identities with the values. Default: "
        "text.",
        "masked_model": "Folder of a masked language model to attack with.",
        "attacker": "Add an attack by this attacker: endpoint. It sends new draws of "
        "the originals to the server of the decoder endpoint.",
        "public": "Public texts, one per line: the directions that privunit keeps, and "
        "measures of sentence vectors. Default: frequent words.",
        "attackers": "Attack new draws of the originals with attackers of whole texts, "
        "or leave that out.",
    },
    "Output and report": {
        "in_place": "Replace the original files with their private versions. A file "
        "with a report beside it is private already and stays.",
        "resume": "With --out-dir and --key-file: skip finished files, to continue an "
        "interrupted run.",
        "line_buffered": "Write each record immediately.",
        "shuffle": "Write records in random order, drawn by the key of the run. All "
        "are held in memory.",
        "fail_on": "identifying: write nothing, and end with exit code 5, where an "
        "unchanged column looks as if it identified people. Columns that the policy "
        "allows by name may.",
        "public_report": "Write the public report here instead of beside the output.",
        "sidecar": "Write the public report OUTPUT.dptext.json, or not.",
        "sign_key": "Sign the public report with this Ed25519 key (PEM).",
        "batch_size": "Most records in a batch. The output is the same.",
        "json": "Print JSON: the short answer, on standard error.",
        "engine": "local, or spark to run each file of --out-dir as a task of a "
        "cluster. The output is the same.",
        "master": "URL of Spark's master, such as spark://host:7077, yarn or local[4]. "
        "Default: that of spark-submit, else all cores of this machine.",
    },
}
HIDDEN = object()  # marks an option that is hidden in one command only
_LISTED = {
    name: (panel, table is RARE, said)
    for table in (DAILY, RARE)
    for panel, helps in table.items()
    for name, said in helps.items()
}
_SHORT = {"field": "-f", "profile": "-p", "output": "-o", "jobs": "-j"}
_SHORT |= {"quiet": "-q", "verbose": "-v"}
_METAVARS = {
    **dict.fromkeys(("risk", "attacker_risk"), "SHARE"),
    **dict.fromkeys(("out_dir", "masked_model"), "FOLDER"),
    **dict.fromkeys(("output", "quarantine", "keep_list", "mask_list"), "FILE"),
    **dict.fromkeys(("public_text", "public", "identities"), "FILE"),
    "set_": "KEY=VALUE",
}


def make_option(name: str, default: object, marks: Sequence[Any]) -> Any:
    """Return the declaration of an option for Typer.

    marks: annotations of its parameter. A text replaces the help of the tables, a text
    with a dash is its short name, and a function parses its value. Rare options are
    hidden unless their command has a text for them. A flag that is on by default has a
    name for off.
    """
    panel, rare, usual = _LISTED.get(name, (None, False, ""))
    long = f"--{name.removeprefix('as_').rstrip('_').replace('_', '-')}"
    texts = [each for each in marks if isinstance(each, str)]
    short = [each for each in texts if each.startswith("-")]
    said = next((each for each in texts if each not in short), "")
    return typer.Option(
        *(short or filter(None, [_SHORT.get(name)])),
        f"{long}/--no-{long[2:]}" if default is True else long,
        help=said or usual,
        parser=next(filter(callable, marks), None),
        metavar=_METAVARS.get(name),
        hidden=HIDDEN in marks or (rare and not said),
        rich_help_panel=panel,
    )


def make_argument(marks: Sequence[Any]) -> Any:
    """Return the declaration of an argument for Typer: help, and name in capitals."""
    texts = [each for each in marks if isinstance(each, str)]
    name = next(filter(str.isupper, texts), None)
    help = next((each for each in texts if each != name), None)
    return typer.Argument(metavar=name, help=help)


# Beyond any file, machine or epsilon; larger integers overflow in counters.
LARGEST = 2**62
MOST_JOBS = 256


class BadValue(typer.BadParameter):
    """A value that an option does not admit; the message begins with the value."""


@dataclass(frozen=True)
class Number:
    """The parser of an option that takes numbers in a range."""

    kind: type[int] | type[float]
    #: Least number; None for any.
    low: float | None = None
    #: Largest number; None for any.
    high: float | None = None
    #: Whether low itself is excluded.
    above: bool = False
    #: Whether "auto" stands for the number of cores.
    auto: bool = False
    __name__ = "NUMBER"

    def __call__(self, value: str | float) -> float:
        """Parse a number. Raises BadValue."""
        if self.auto and value == "auto":
            return cores()
        most = LARGEST if self.kind is int else sys.float_info.max
        low = -most if self.low is None else self.low
        high = most if self.high is None else self.high
        with contextlib.suppress(ValueError):
            number = self.kind(value)
            if low <= number <= high and not (self.above and number == low):
                return number
        shown = str(value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise BadValue(f"{shown}: give {self.accepted}")

    @property
    def accepted(self) -> str:
        """Describe the range, as in "an integer from 1 to 256"."""
        said, style = "a number", ".12g"
        if self.kind is int:
            said, style = "an integer", ",d"
        if self.low is not None and self.high is not None:
            said += f" from {self.low:{style}} to {self.high:{style}}"
        elif self.low is not None:
            word = "above" if self.above else "of at least"
            said += f" {word} {self.low:{style}}"
        return f"{said}, or auto" if self.auto else said


def one_of(*values: str) -> Callable[[str], str]:
    """Return the parser of an option that takes one of some values."""

    def text(value: str) -> str:
        if value not in values:
            raise BadValue(f"{value}: choose {', '.join(values[:-1])} or {values[-1]}")
        return value

    return text


_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def known_delimiter(value: str) -> str:
    """Read a delimiter, or its name. Raises BadValue."""
    delimiter = _DELIMITERS.get(value.lower(), value)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise BadValue(
            f"{value}: give one character that is no quote and no line end, or "
            f"{', '.join(name for name in _DELIMITERS if name.isalpha())}"
        )
    return delimiter


def known_format(name: str) -> str:
    """Read the name of a format of records. Raises BadValue."""
    from dptext import registry

    return one_of(*registry.names("formats"))(name)


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        number = len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        number = os.cpu_count() or 1
    return min(number, MOST_JOBS)


def check_public_text(public_text: str | None, field: Sequence[str] | None) -> None:
    """Raise UsageError for fields of public text if none is read."""
    if field and public_text is None:
        raise UsageError(
            "--field: no text is read; give --public-text, whose field it names, or "
            "leave it out"
        )


Text = str | None
Texts = list[str] | None
File = Path | None
Files = Annotated[Texts, "Files to read. Default: standard input (-)."]
PublicFiles = Annotated[list[str], "Public texts: JSONL, CSV, text."]
Format = Annotated[Text, known_format]
Epsilon = Annotated[float | None, Number(float, 0, above=True)]
Jobs = Annotated[int, Number(int, 1, MOST_JOBS, auto=True)]
FailOn = Annotated[Text, one_of("identifying")]


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """How the records of a file are read."""

    field: Texts = None
    format: Format = None
    delimiter: Annotated[Text, known_delimiter] = None
    quoting: bool = True
    header: bool = True
    skip_lines: Annotated[int, Number(int, 0, 1_000_000)] = 0
    escapes: Annotated[Text, one_of("backslash", "none")] = None
    encoding: Annotated[Text, streams.known_encoding] = None

    def selection(self, *usual: str, **others: Any) -> Selection:
        """Return the private parts of records; usual: fields if none is named."""
        from dptext.types import Selection

        alike = (
            "delimiter",
            "quoting",
            "header",
            "skip_lines",
            "escapes",
            "encoding",
        )
        layout: dict[str, Any] = {name: getattr(self, name) for name in alike}
        return Selection(tuple(self.field or usual), **layout, **others)


@dataclass(frozen=True, slots=True)
class Work:
    """How a run works, and how much it prints."""

    jobs: Jobs = 1
    batch_size: Annotated[int, Number(int, 1)] = 4096
    quiet: bool = False
    verbose: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class Records(LayoutOptions):
    """How records are read, and the treatment of faulty ones."""

    id: Text = None
    missing: Annotated[str, one_of("fail", "pass")] = "fail"
    max_record_bytes: Annotated[int, Number(int, 1, 2**40)] = 16 * 2**20
    on_error: Annotated[str, one_of("fail", "skip", "quarantine")] = "fail"
    quarantine: Text = None

    def job(
        self,
        files: Sequence[str] | None,
        output: str | None,
        subject: str | None,
        over: JsonObject,
        work: Work,
    ) -> Job:
        """Return the job of a run; over: keys laid over a profile.

        --quarantine overrides --on-error.
        """
        from dptext.engine import survey
        from dptext.engine.job import Job

        if self.on_error == "quarantine" and self.quarantine is None:
            raise UsageError(
                "--on-error quarantine: name the file with --quarantine FILE"
            )
        if self.quarantine == "-":
            raise UsageError(
                "standard output carries no original text: name a file with "
                "--quarantine"
            )
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
            any_language=survey.is_asked_for(over),
        )


@dataclass(frozen=True, slots=True)
class FieldOptions:
    """Fields that are neither private texts nor copied."""

    drop: Texts = None
    pseudonym: Texts = None

    def added_to(self, job: Job) -> Job:
        """Return a job with these fields. Raises UsageError for one with two uses."""
        from dptext.formats import _fields

        selection = replace(
            job.selection,
            dropped=tuple(dict.fromkeys(self.drop or ())),
            pseudonyms=tuple(dict.fromkeys(self.pseudonym or ())),
        )
        for name in selection.changed:
            _fields.check_uses(
                name,
                name in selection.fields,
                name in selection.dropped,
                name in selection.pseudonyms,
            )
        return replace(job, selection=selection)


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a profile."""

    risk: Text = None
    epsilon: Epsilon = None
    attacker_risk: Text = None
    mechanism: Text = None
    decode: Text = None
    lexicon: Text = None
    topics: Text = None
    keep_list: Texts = None
    mask_list: Texts = None
    set_: Texts = None

    def profile(self, name: str) -> str:
        """Return the profile to use; --topics has another default."""
        from dptext.profile import DEFAULT

        return "topics" if self.topics is not None and name == DEFAULT else name

    def overrides(self) -> JsonObject:
        """Return the changed keys. Raises UsageError on conflicts."""
        chosen = asdict(self)
        topics = chosen.pop("topics")
        if topics is not None:
            if self.lexicon is not None:
                raise UsageError("give --topics or --lexicon, not both")
            chosen["lexicon"] = f"topics:{topics}"
        return overrides(chosen.pop("set_"), **chosen)


@dataclass(frozen=True, slots=True)
class Keys:
    """The source of randomness of a run."""

    key_file: File = None
    trust_key_file: bool = False
    seed: Annotated[int | None, Number(int)] = None

    def key(self) -> RunKey:
        """Return the key of a run. Raises UsageError."""
        from dptext.randomness import RunKey

        if self.key_file is not None:
            return RunKey.from_file(self.key_file, trusted=self.trust_key_file)
        return RunKey.fresh() if self.seed is None else RunKey.from_seed(self.seed)


@dataclass(frozen=True, slots=True)
class Reported:
    """Files for the reports of a run."""

    report: File = None
    html: File = None
    public_report: File = None
    sidecar: bool = True
    sign_key: File = None

    def reports(self, key_file: Path | None) -> Reports:
        """Return the files of reports, and their signing key. Raises UsageError."""
        from dptext.engine.run import Reports
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


@dataclass(frozen=True, slots=True)
class Measured:
    """Measures of private texts."""

    label: Texts = None
    attribute: Texts = None
    classifier: str = "tfidf"
    splits: Annotated[int, Number(int, 1, 100)] = 3
    alpha: Annotated[list[float] | None, Number(float, 0, 1)] = None
    encoder: Text = None
    masked_model: Text = None
    attacker: Text = None

    def settings(self, **others: Any) -> EvaluationSettings:
        """Return the settings of an evaluation."""
        from dptext.evaluation.run import ALPHAS, EvaluationSettings

        alike: dict[str, Any] = {**asdict(self), **others}
        return EvaluationSettings(
            labels=tuple(alike.pop("label") or ()),
            attributes=tuple(alike.pop("attribute") or ()),
            alphas=tuple(alike.pop("alpha") or ALPHAS),
            **alike,
        )


def overrides(
    settings: Sequence[str] | None = None, **chosen: Unpack[Choices]
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    from dptext import profile

    return profile.make_overrides(
        parse_settings(settings), lambda name: f"--{name.replace('_', '-')}", **chosen
    )


def parse_settings(
    settings: Iterable[str] | None,
    option: str = "--set",
    example: str = "tokens.number=mask",
) -> JsonObject:
    """Return the keys and values that an option gives. Raises UsageError."""
    from dptext.settings import read_value

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
