"""The functions for Python programs: privatize, sanitize_files, embed."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from dptext import formats, frames, pipeline, streams
from dptext import profile as profiles
from dptext.calls import (
    Call,
    CallChoices,
    StrPath,
    TableChoices,
    combine,
    listed,
    open_key,
    to_path,
    warn,
)
from dptext.calls import load_profile as load_profile
from dptext.calls import open_pipeline as open_pipeline
from dptext.engine import documents
from dptext.engine.files import SignedReports
from dptext.engine.identifying import warning
from dptext.engine.job import Progress
from dptext.engine.language import Language, is_asked_for
from dptext.engine.request import Request
from dptext.errors import UsageError
from dptext.pipeline import Pipeline as Pipeline
from dptext.progress import share, visible
from dptext.randomness import RunKey
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.run.choices import Choices
from dptext.run.files import Outputs
from dptext.run.groups import given_needs
from dptext.run.interface import PYTHON, TABLE, shown_in
from dptext.run.selection import Selection
from dptext.run.work import LedgerUse, Work
from dptext.types import Record
from dptext.vectors import release
from dptext.vectors import run as vector_run
from dptext.vectors.release import VectorRelease

Overrides = Mapping[str, object] | None
FloatRows = NDArray[np.float32]
_RECORDS = 1024  # texts in a batch of vectors
Table = TypeVar("Table")  # of pandas, Polars, pyarrow or datasets


# A table gives a table of its kind, a text a text, an iterable of texts a list; a
# string is both for type checkers. They complete the options of all from the classes;
# help and notebooks show the parameters of the function itself.
@overload
def privatize(
    texts: Table,
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    columns: str | Sequence[str],
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[TableChoices],
) -> Table: ...
@overload
def privatize(
    texts: Table,
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    columns: str | Sequence[str],
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[TableChoices],
) -> tuple[Table, Report]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[CallChoices],
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[CallChoices],
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[CallChoices],
) -> tuple[str, Report]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: StrPath = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[CallChoices],
) -> tuple[list[str], Report]: ...
def privatize(
    texts: str | Iterable[str] | Table,
    profile: str | os.PathLike[str] = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    missing: Literal["fail", "pass"] = "fail",
    drop: str | Sequence[str] = (),
    pseudonym: str | Sequence[str] = (),
    report: bool = False,
    risk: str | float | None = None,
    epsilon: float | None = None,
    mechanism: str | None = None,
    lexicon: str | os.PathLike[str] | None = None,
    topics: str | None = None,
    decode: str | None = None,
    key: bytes | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> str | list[str] | Table | tuple[str | list[str] | Table, Report]:
    """Replace the words of texts: one text gives a text, several give a list.

    >>> texts = ["Call me at noon.", "The room was clean."]
    >>> private, report = dptext.privatize(texts, "balanced", risk="10%", report=True)
    >>> len(private), str(report.guarantee.bound.notion)
    (2, 'LDP')

    With columns, texts is a table of pandas, Polars, pyarrow or Hugging Face datasets,
    and a table of the same kind comes back, which shares all other columns.

    >>> import pandas
    >>> frame = pandas.DataFrame({"id": [1, 2], "text": texts})
    >>> list(dptext.privatize(frame, columns="text", drop="id").columns)
    ['text']

    - texts: one text, any iterable of texts (a column, a generator), or a table.
    - profile: a name, as `dptext list profiles` shows them, or a .yaml file.
    - overrides: keys laid over those of the profile: {"tokens": {"number": "mask"}}.
    - risk: how often the best guess of a word may be right, "20%" or 0.2.
    - epsilon: nats per word, instead of a risk.
    - mechanism, decode: names, as `dptext list mechanisms` and the docs have them.
    - lexicon: a name or a file of words with vectors.
    - topics: a name of `dptext topics build`; each text becomes a topic.
    - key: at least 32 secret random bytes, or a file that holds them. Equal texts at
      equal positions of a call with the same settings give the same texts then;
      without a key, randomness is fresh and secure each time.
    - report: whether the privacy report comes as a second result. str(report) and a
      notebook show its short answer, report.to_json() is all of it;
      `dptext.report.document.public` makes it public.
    - progress: whether to show a bar, in a notebook as well.

    For tables:

    - columns: one or several that hold texts, lists of texts, or structs in which a
      dotted path leads to them.
    - id: a column that decides the random bits of a row instead of its number.
    - missing: "pass" leaves nulls, which are an InputError otherwise.
    - drop: columns that the result lacks.
    - pseudonym: columns with values that become tokens, by the key. Equal values stay
      equal, so that frequencies and links remain, and anybody with the key can test
      guesses.

    Warns where many words are unknown to the lexicon, and of other columns that look
    identifying. Raises TypeError for other types than text and table, UsageError and
    LexiconError for settings, InputError for columns without texts.
    """
    if not isinstance(report, bool):
        raise TypeError(
            "report: give True or False; report.to_json() of the second result saves it"
        )
    options = CallChoices(
        risk=risk,
        epsilon=epsilon,
        mechanism=mechanism,
        lexicon=lexicon,
        topics=topics,
        decode=decode,
        key=key,
    )
    if columns is not None:
        with visible(progress), shown_in(TABLE):
            frame = frames.wrap(texts)
            selection, names = frame.selected(
                paths=listed(columns, "columns"),
                id=id,
                missing=missing,
                drop=listed(drop, "drop"),
                pseudonym=listed(pseudonym, "pseudonym"),
            )
            call = Call(profile, overrides, options, counts=report)
            replaced = frames.PrivateColumns(
                pipeline=call.pipeline,
                key=call.key,
                selection=selection,
                tally=call.tally,
                language=call.language,
                total=frame.rows,
            )
            table: Table = frame.privatized(names, replaced, 0)
            if kinds := frame.identifying(selection):
                call.warn(warning(kinds))
            if not report:
                return table
            return table, call.report(selection, unchanged=frame.unchanged(selection))
    if id is not None or missing != "fail" or drop or pseudonym:
        raise UsageError(
            "id, missing, drop and pseudonym are for tables: name the columns, too"
        )
    with visible(progress), shown_in(PYTHON):
        checked = _checked(texts)
        call = Call(profile, overrides, options, counts=report)
        written = list(call.texts(checked, _length(texts)))
        private = written[0] if isinstance(texts, str) else written
        return (private, call.report()) if report else private


@dataclass(frozen=True)
class SanitizedFiles:
    """Files that were made private."""

    #: The outputs, each with its public report beside it.
    paths: tuple[pathlib.Path, ...]
    #: The internal report of all of them: for the owner of the texts.
    report: Report

    def _repr_html_(self) -> str:
        """Return the short answer of the report as a part of a page."""
        return self.report._repr_html_()


class _Warnings:
    """Passes the warnings of a run to the program, and notes them for the report."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def warn(self, line: str) -> None:
        if line not in self._noted:
            self._noted[line] = None
            warn(line)

    def announce(self, line: str) -> None:
        self.warn(line)

    @contextmanager
    def bar(self) -> Iterator[Progress]:
        yield lambda records, words: share(
            f"{records:,} records, {words:,} words replaced", 0.0
        )

    def with_warnings(
        self, document: Report, identifying: Mapping[str, str], advice: str = ""
    ) -> Report:
        if identifying:
            self.warn(warning(identifying, advice))
        return documents.with_warnings(document, [*self._noted])


def sanitize_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    out_dir: str | os.PathLike[str] | None = None,
    fields: str | Sequence[str] = (),
    profile: str | os.PathLike[str] = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    id: str | None = None,
    missing: Literal["fail", "pass"] = "fail",
    drop: str | Sequence[str] = (),
    pseudonym: str | Sequence[str] = (),
    format: str | None = None,
    encoding: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    jobs: int = 1,
    risk: str | float | None = None,
    epsilon: float | None = None,
    mechanism: str | None = None,
    lexicon: str | os.PathLike[str] | None = None,
    topics: str | None = None,
    decode: str | None = None,
    key: bytes | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> SanitizedFiles:
    """Make files private, as `dptext sanitize` does: the same bytes under a key.

    >>> result = dptext.sanitize_files(  # doctest: +SKIP
    ...     "tickets.csv", "tickets.private.csv", fields="body", drop="email"
    ... )
    >>> print(result.report)  # doctest: +SKIP

    A public report appears beside each output; existing outputs are replaced.

    - paths: files to read, or folders of them.
    - output: one file for all; or out_dir: a folder, in which each file keeps its name.
    - fields: the private texts of a record; lines of plain text have no fields.
    - format, encoding: of the files, where names and content do not tell them.
    - on_error: "skip" leaves out records that cannot be read, and of several files
      those that cannot be read, each with a warning; otherwise an InputError.
    - jobs: the number of processes.
    - progress: whether to count records while they are written.

    All other arguments are those of `privatize`, with fields in the place of columns.

    Warns of columns that look identifying. Raises UsageError and LexiconError for
    arguments, InputError for files that cannot be read, OutputError where an output
    cannot be written. A single output then does not exist; of several, those exist that
    were complete.
    """
    if isinstance(paths, Mapping) or hasattr(type(paths), "columns"):
        raise TypeError(
            f"paths: a {type(paths).__name__} is no path: give a table to "
            "dptext.privatize(table, columns=...)"
        )
    names: list[object] = [paths]
    if isinstance(paths, Iterable) and not isinstance(paths, str | os.PathLike):
        names = list(paths)
    inputs = tuple(to_path(name, "paths") for name in names)
    to_file = None if output is None else to_path(output, "output")
    to_folder = None if out_dir is None else to_path(out_dir, "out_dir")
    _check_choice("missing", missing, "fail", "pass")
    _check_choice("on_error", on_error, "fail", "skip")
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs {jobs!r}: give a whole number of at least 1")
    if output is not None and out_dir is not None:
        raise UsageError("sanitize_files: give output or out_dir, not both")
    if not inputs or (output is None and out_dir is None):
        raise UsageError("sanitize_files: name files, and either output or out_dir")
    if "-" in (*inputs, to_file):
        raise UsageError("sanitize_files: name files, not standard input or output")
    if to_file is not None and (folder := next(filter(os.path.isdir, inputs), None)):
        raise UsageError(f"{folder} is a folder: give out_dir= instead of an output")
    with shown_in(PYTHON), visible(progress):
        selection = Selection(
            fields=tuple(listed(fields, "fields")),
            format=format,
            encoding=None if encoding is None else streams.known_encoding(encoding),
            id_field=id,
            missing=missing,
            dropped=tuple(listed(drop, "drop")),
            pseudonyms=tuple(listed(pseudonym, "pseudonym")),
        )
        request = Request.begin(
            inputs,
            selection,
            Choices(
                profile=os.fspath(profile),
                overrides={} if overrides is None else overrides,
                risk=risk,
                epsilon=epsilon,
                mechanism=mechanism,
                lexicon=lexicon,
                topics=topics,
                decode=decode,
            ),
            outputs=Outputs(output=to_file, out_dir=to_folder),
            ledger=LedgerUse(),
            work=Work(jobs=jobs, on_error=on_error),
            needs={},
            key=open_key(key),
            reports=SignedReports(),
        )
        notices = _Warnings()
        planned = request.jobs(notices.warn)
        needs = given_needs(selection, Selection(fields=()))
        formats.check_needs(
            needs, [formats.find(None, each.format) for each in planned]
        )
        finished = request.carry_out(planned, notices)
        assert finished is not None, "neither in place nor resumed"
        outputs = finished.outputs.outputs
        written = tuple(pathlib.Path(each) for each in outputs if each is not None)
        return SanitizedFiles(paths=written, report=finished.report)


@dataclass(frozen=True)
class Vectors:
    """Released vectors, with their report."""

    #: (m,) float32 for a text, (r, m) for several; with pool="word" (n, m) for a text
    #: of n words, and a list of these for several.
    values: FloatRows | list[FloatRows]
    release: VectorRelease = field(repr=False)
    #: Origin of the run key.
    key: str

    @cached_property
    def report(self) -> Report:
        """Build the public report, which depends on no text."""
        layout = Layout.from_selection(Selection(), {"text"})
        return vector_run.stated(self.release, self.key, layout)


def embed(
    texts: str | Iterable[str],
    overrides: Mapping[str, object] | None = None,
    *,
    pool: str = "mean",
    model: str | None = None,
    mechanism: str | None = None,
    epsilon: float | None = None,
    mu: float | None = None,
    risk: str | float | None = None,
    clip: float | None = None,
    lexicon: str | os.PathLike[str] | None = None,
    key: bytes | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Vectors:
    """Release noisy vectors of texts.

    >>> vectors = dptext.embed(["Call me at noon.", "The room was clean."], epsilon=8)
    >>> vectors.values.shape[0], str(vectors.report.guarantee.bound.notion)
    (2, 'LDP')

    One text gives one vector (m,), an iterable of texts (r, m) float32; with
    pool="word" a text gives the vectors of its words, (n, m), and several texts a list
    of these. The report of the result states the guarantee.

    - overrides: settings of mechanism, space and tokens.
    - pool: "mean", "sif" or "sentence" for a vector per text, "word" for each word.
    - model: folder of a model of sentences, for pool="sentence".
    - mechanism: a name of the family noise, as `dptext list mechanisms` has them.
    - epsilon, or risk with pool="word", or mu of Gaussian noise: the guarantee.
    - clip: the length to which each vector is shortened.

    lexicon, key and progress, errors and warnings are those of `privatize`.
    """
    with shown_in(PYTHON), visible(progress):
        checked, run_key = _checked(texts), open_key(key)
        chosen = CallChoices(
            epsilon=epsilon, risk=risk, mechanism=mechanism, lexicon=lexicon
        )
        _, over = combine(profiles.DEFAULT, overrides, chosen)
        longest: object = clip
        if isinstance(longest, str) or (clip is not None and not clip > 0.0):
            raise UsageError(f"clip {clip!r}: give a number above 0")
        options = {"pool": pool, "model": model}
        ready = release.prepare(release.parse(over, options, clip=clip, mu=mu))
        tokenizer = None if is_asked_for(over) else ready.tokenizer
        language = Language(tokenizer, ready.lexicon.name, warn)
        total = _length(texts)
        values = _vectors(ready, checked, run_key, language, total=total)
    return Vectors(
        values[0] if isinstance(texts, str) else values, ready, run_key.origin
    )


def _vectors(
    ready: VectorRelease,
    texts: Iterable[str],
    key: RunKey,
    language: Language,
    *,
    total: int,
) -> FloatRows | list[FloatRows]:
    """Return the vectors of texts: (r, m), or a list of (n, m) for words."""
    records = (Record(number, (text,), None) for number, text in enumerate(texts))
    randomness = ready.randomness(key)
    blocks: list[FloatRows] = [np.empty((0, ready.dimensions), np.float32)]
    counts: list[int] = []
    for batch in pipeline.batches(records, _RECORDS):
        language.look(batch)
        rows = ready.rows(batch, randomness)
        blocks.append(rows.vectors)
        within = rows.records - batch[0].ordinal
        share("texts", (len(counts) + len(batch)) / total if total else 0.0)
        counts += np.bincount(within, minlength=len(batch)).tolist()
    language.close()
    vectors = np.concatenate(blocks)
    if ready.pool != "word":
        return vectors
    return np.split(vectors, np.cumsum(counts)[:-1]) if counts else []


def _checked(texts: object) -> Iterator[str]:
    """Return an iterator of texts. Raises TypeError for anything else.

    A table or a dict would give the names of its columns or its keys.
    """
    kind = type(texts).__name__
    if isinstance(texts, Mapping):
        raise TypeError(
            f"a {kind} is not a list of texts: give a list of its values, or make a "
            "table of it, such as pandas.DataFrame, and name its columns"
        )
    if hasattr(type(texts), "columns"):
        raise TypeError(
            f"a {kind} is not a list of texts: give one of its columns, "
            "or name its columns, as in columns='text'"
        )
    if isinstance(texts, set | frozenset):
        raise TypeError(f"a {kind} has no order to return texts in: give a list")
    if isinstance(texts, bytes | bytearray | memoryview):
        raise TypeError(f"a text is a str, not {kind}: decode it")
    if isinstance(texts, str):
        return iter((texts,))
    if hasattr(texts, "to_pylist"):  # of pyarrow
        texts = texts.to_pylist()
    if not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) != 1:
        raise TypeError(f"give a text or an iterable of texts, not {_described(texts)}")
    return _each(texts)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            problem = f"is of type {_described(text)}, not str"
            if isinstance(text, bytes):
                problem += ": decode it"
            elif _is_missing(text):
                problem = (
                    f"is missing ({text}): leave it out, or give ''; in columns of a "
                    "table missing='pass' keeps it"
                )
            raise TypeError(f"the text at index {number} {problem}")
        yield text


def _described(value: object) -> str:
    """Name the type of a value, and the dimensions of an array."""
    kind = type(value).__name__
    return f"{kind} of {value.ndim} axes" if isinstance(value, np.ndarray) else kind


def _is_missing(value: object) -> bool:
    """Tell whether a value stands for a missing one: None, NaN, NA of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _length(texts: object) -> int:
    """Return the number of texts, 0 where it is unknown."""
    return len(texts) if isinstance(texts, Sized) else 0


def _check_choice(name: str, value: object, *choices: str) -> None:
    """Raise UsageError for a value that is not one of the choices."""
    if value not in choices:
        raise UsageError(f"{name} {value!r}: give {' or '.join(map(repr, choices))}")
