"""The functions for Python programs: privatize, sanitize_files, embed, their parts.

A call prepares settings and a key, counts its work, and has a report.
"""

from __future__ import annotations

import os
import pathlib
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from dptext import calibration, frames, lexicons, pipeline, streams
from dptext import profile as profiles
from dptext.engine import documents
from dptext.engine.files import Reports
from dptext.engine.identifying import warning
from dptext.engine.job import Job
from dptext.engine.language import Language, is_asked_for
from dptext.engine.request import Request
from dptext.engine.tally import Tally
from dptext.errors import UsageError
from dptext.formats import _fields
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.profile import Profile, make_overrides
from dptext.randomness import RunKey
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.types import Record, Selection
from dptext.vectors import documents as vector_documents
from dptext.vectors import release
from dptext.vectors.release import VectorRelease

Path = str | os.PathLike[str]
Missing = Literal["fail", "pass"]
FloatRows = NDArray[np.float32]
_RECORDS = 1024  # texts in a batch of vectors
# Advice on a column of a file or a table that was left unchanged.
FILE_ADVICE = (
    "make it private (fields=) or a pseudonym (pseudonym=), or leave it out (drop=)"
)
TABLE_ADVICE = (
    "make it private (columns=) or a pseudonym (pseudonym=), or leave it out (drop=)"
)
Table = TypeVar("Table")  # of pandas, Polars, pyarrow or datasets


class CallChoices(TypedDict, total=False):
    """Choices on top of a profile, with the names of options of `dptext sanitize`."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: Path | None
    decode: str | None
    key: bytes | Path | None


def load_profile(name: Path, overrides: Mapping[str, object] | None = None) -> Profile:
    """Read a profile by name or path; overrides are laid over its keys.

    Raises UsageError for an unknown name, key or value.
    """
    return profiles.load(os.fspath(name), overrides)


def open_pipeline(
    profile: Path = profiles.DEFAULT, overrides: Mapping[str, object] | None = None
) -> Pipeline:
    """Prepare a profile with its lexicon: the public work, done once.

    Raises UsageError and LexiconError.
    """
    recipe = load_profile(profile, overrides)
    return calibration.build(recipe, lexicons.find(recipe.lexicon))


def open_key(key: object) -> RunKey:
    """Return the key of a run, fresh for None. Raises TypeError and UsageError."""
    if key is None:
        return RunKey.fresh()
    if isinstance(key, bytes | bytearray):
        return RunKey.from_bytes(bytes(key))
    if isinstance(key, str | os.PathLike):
        return RunKey.from_file(os.fspath(key))
    raise TypeError(f"key: give bytes or the path of a file, not {type(key).__name__}")


def warn(line: str, stacklevel: int = 3) -> None:
    """Warn the caller; the line holds nothing of a text."""
    warnings.warn(line, stacklevel=stacklevel)


def listed(names: str | Sequence[str]) -> list[str]:
    """Return names of columns as a list; one may stand alone."""
    return [names] if isinstance(names, str) else list(names)


class Call:
    """Prepared settings and a key; with counts there can be a report.

    Raises TypeError, UsageError and LexiconError for invalid arguments.
    """

    def __init__(
        self,
        profile: Path = profiles.DEFAULT,
        overrides: Mapping[str, object] | None = None,
        chosen: CallChoices | None = None,
        *,
        counts: bool = True,
    ) -> None:
        named: dict[str, Any] = {**(chosen or {})}
        self.key = open_key(named.pop("key", None))
        over = make_overrides(overrides, **named)
        self.pipeline = open_pipeline(profile, over)
        tokenizer = None if is_asked_for(over) else self.pipeline.tokenizer
        lexicon = self.pipeline.lexicon
        self.language = Language(
            tokenizer, lexicon.name, self.warn, PublicRows(lexicon)
        )
        # Warnings so far.
        self.said: list[str] = []
        self.tally = Tally.begin(self.pipeline.lexicon) if counts else None
        self._began = time.monotonic()

    def warn(self, line: str) -> None:
        """Warn the program, and note it for the report."""
        self.said.append(line)
        warn(line, stacklevel=4)

    def texts(self, texts: Iterable[str]) -> Iterator[str]:
        """Give each text with its words replaced, in order."""
        randomness = self.pipeline.randomness(self.key)
        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        for batch in pipeline.batches(records):
            self.language.look(batch)
            private = self.pipeline.privatize(batch, randomness)
            if self.tally is not None:
                self.tally.count(private)
            yield from (text for (text,) in private.texts)
        self.language.close()

    def report(self, selection: Selection, *, finder: str = "") -> Report:
        """Return the internal report of the work so far, without files.

        selection: the private fields of a record; finder: name of the component that
        chose the private parts of texts, "" without one.
        """
        assert self.tally is not None
        self.tally.seconds = time.monotonic() - self._began
        document = documents.called(
            pipeline=self.pipeline,
            key=self.key,
            tally=self.tally,
            measures=PublicMeasures.measure(self.pipeline),
            selection=selection,
            finder=finder,
        )
        return documents.with_warnings(document, self.said)


# A table gives a table of its kind, a text a text, an iterable of texts a list; a
# string is both for type checkers.
@overload
def privatize(
    texts: Table,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    columns: str | Sequence[str],
    id: str | None = ...,
    missing: Missing = ...,
    drop: str | Sequence[str] = ...,
    pseudonym: str | Sequence[str] = ...,
    report: Literal[False] = ...,
    **choices: Unpack[CallChoices],
) -> Table: ...
@overload
def privatize(
    texts: Table,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    columns: str | Sequence[str],
    id: str | None = ...,
    missing: Missing = ...,
    drop: str | Sequence[str] = ...,
    pseudonym: str | Sequence[str] = ...,
    report: Literal[True],
    **choices: Unpack[CallChoices],
) -> tuple[Table, Report]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[CallChoices],
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[CallChoices],
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[CallChoices],
) -> tuple[str, Report]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[CallChoices],
) -> tuple[list[str], Report]: ...
def privatize(
    texts: object,
    profile: Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    missing: Missing = "fail",
    drop: str | Sequence[str] = (),
    pseudonym: str | Sequence[str] = (),
    report: bool = False,
    **choices: Unpack[CallChoices],
) -> object:
    """Replace the words of texts.

    One text gives one text; any other iterable of texts, a generator for one, a list of
    as many, in order. profile is a name or the path of a .yaml file; overrides are laid
    over its keys, as in {"tokens": {"number": "mask"}}. risk ("20%" or 0.2), epsilon
    (nats per word), mechanism, lexicon (a name or a file) and decode (a decoder's name)
    are what the options of `dptext sanitize` are.

    With columns, texts is a table of pandas, Polars, pyarrow or Hugging Face datasets,
    and a table of the same kind comes back. The columns named hold texts, lists of
    texts, or structs in which a dotted path leads to them; all others are shared with
    the table that was given. id names a column that decides the random bits of a row
    instead of its number; a null in a text column is an InputError unless missing is
    "pass".
    The result lacks the columns of drop. The values of those of pseudonym are keyed
    tokens, for which a key is needed: equal values stay equal, so that frequencies and
    links remain, and anybody with the key can test guesses.

    Randomness is fresh and secure each time. With a key, at least 32 secret random
    bytes or the path of a file that holds them, equal texts at equal positions of a
    call with the same settings give the same texts.

    With report=True the privacy report comes as a second result: report.guarantee and
    report.words are public, report.private holds functions of the texts. The functions
    `encode` and `public` of dptext.report.document turn it into JSON and into the
    public report.

    Warns where many words are unknown to the lexicon, and of other columns of a table
    that look identifying. Raises TypeError for other types than text and table,
    UsageError and LexiconError for settings, InputError for columns without texts.
    """
    if columns is not None:
        frame = frames.wrap(texts)
        paths = listed(columns)
        changed = (listed(drop), listed(pseudonym))
        selection, names = frame.selected(paths, id, missing, *changed)
        call = Call(profile, overrides, choices, counts=report)
        replaced = frames.PrivateColumns(
            pipeline=call.pipeline,
            key=call.key,
            selection=selection,
            tally=call.tally,
            language=call.language,
        )
        private: object = frame.privatized(names, replaced, 0)
        if kinds := frame.identifying(selection):
            call.warn(warning(kinds, TABLE_ADVICE))
        return (private, call.report(selection)) if report else private
    if id is not None or missing != "fail" or drop or pseudonym:
        raise UsageError(
            "id, missing, drop and pseudonym are for tables: name the columns, too"
        )
    checked = _checked(texts)
    call = Call(profile, overrides, choices, counts=report)
    written = list(call.texts(checked))
    private = written[0] if isinstance(texts, str) else written
    return (private, call.report(Selection())) if report else private


@dataclass(frozen=True)
class SanitizedFiles:
    """Files that were made private."""

    #: The outputs, each with its public report beside it.
    paths: tuple[pathlib.Path, ...]
    #: The internal report of all of them: for the owner of the texts.
    report: Report


class _Warnings:
    """Passes the warnings of a run to the program, and notes them for the report."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def warn(self, line: str) -> None:
        if line not in self._noted:
            self._noted[line] = None
            warn(line, stacklevel=6)

    def bar(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_warnings(self, document: Report, identifying: Mapping[str, str]) -> Report:
        if identifying:
            self.warn(warning(identifying, FILE_ADVICE))
        return documents.with_warnings(document, [*self._noted])


def sanitize_files(
    paths: Path | Sequence[Path],
    output: Path | None = None,
    *,
    out_dir: Path | None = None,
    fields: str | Sequence[str] = (),
    profile: Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    id: str | None = None,
    missing: Missing = "fail",
    drop: str | Sequence[str] = (),
    pseudonym: str | Sequence[str] = (),
    format: str | None = None,
    encoding: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    jobs: int = 1,
    **choices: Unpack[CallChoices],
) -> SanitizedFiles:
    """Make files private, as `dptext sanitize` does: the same bytes under a key.

    With output all files are written to one, with out_dir each to a file of its name
    in that folder, and a folder to a folder; existing outputs are replaced. A public
    report appears beside each output. fields name the private texts of a record; files
    of lines have none. Records that cannot be read are an InputError, or are left out
    with on_error="skip". jobs is the number of processes. All other arguments are
    those of `privatize` and the options of `dptext sanitize`.

    Warns of columns that look identifying. Raises UsageError and LexiconError for
    arguments, InputError for files that cannot be read, OutputError where an output
    cannot be written; then a single output is not there, and of several those are that
    were complete.

    >>> result = dptext.sanitize_files(  # doctest: +SKIP
    ...     "tickets.csv", "tickets.private.csv", fields="body", drop="email"
    ... )
    >>> print(result.report)  # doctest: +SKIP
    """
    names = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
    inputs = tuple(os.fspath(name) for name in names)
    if not inputs or (output is None) == (out_dir is None):
        raise UsageError("sanitize_files: name files, and either output or out_dir")
    if "-" in (*inputs, output):
        raise UsageError("sanitize_files: name files, not standard input or output")
    named: dict[str, Any] = {**choices}
    key = open_key(named.pop("key", None))
    over = make_overrides(overrides, **named)
    selection = Selection(
        fields=tuple(listed(fields)),
        id_field=id,
        missing=missing,
        encoding=None if encoding is None else streams.known_encoding(encoding),
        dropped=tuple(listed(drop)),
        pseudonyms=tuple(listed(pseudonym)),
    )
    _fields.check_selection(selection)
    request = Request(
        job=Job(
            inputs=inputs,
            output=None if output is None else os.fspath(output),
            selection=selection,
            format=format,
            on_error=on_error,
            jobs=jobs,
            any_language=is_asked_for(over),
        ),
        profile=load_profile(profile, over),
        key=key,
        reports=Reports(sidecar=True),
        out_dir=None if out_dir is None else os.fspath(out_dir),
    )
    notices = _Warnings()
    planned = request.jobs(notices.warn)
    finished = request.carry_out(planned, notices)
    assert finished is not None, "neither in place nor resumed"
    written = tuple(pathlib.Path(each.output) for each in planned if each.output)
    return SanitizedFiles(paths=written, report=finished.report)


@dataclass(frozen=True)
class Vectors:
    """Released vectors, with their report."""

    #: (m,) float32 for a text, (r, m) for several; with pool="word" (n, m) for a text
    #: of n words, and a list of these for several.
    values: FloatRows | list[FloatRows]
    release: VectorRelease
    #: Origin of the run key.
    key: str

    @cached_property
    def report(self) -> Report:
        """Build the public report, which depends on no text."""
        layout = Layout.from_selection(Selection(), {"text"})
        return vector_documents.stated(self.release, self.key, layout)


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
    lexicon: Path | None = None,
    key: bytes | Path | None = None,
) -> Vectors:
    """Release noisy vectors of texts.

    All settings are what the options of `dptext embed` are; overrides are laid over
    them (mechanism, space, tokens). One text gives one vector (m,), an iterable of
    texts (r, m) float32; with pool="word" a text gives the vectors of its words, (n,
    m), and several texts a list of these. The result's `report` states the guarantee.
    Randomness and errors are those of `privatize`.
    """
    run_key = open_key(key)
    over = make_overrides(
        overrides,
        epsilon=epsilon,
        risk=risk,
        mechanism=mechanism,
        lexicon=lexicon,
    )
    options = {"pool": pool, "model": model}
    ready = release.prepare(release.parse(over, options, clip=clip, mu=mu))
    tokenizer = None if is_asked_for(over) else ready.tokenizer
    language = Language(tokenizer, ready.lexicon.name, warn)
    values = _vectors(ready, _checked(texts), run_key, language)
    return Vectors(
        values[0] if isinstance(texts, str) else values, ready, run_key.origin
    )


def _vectors(
    ready: VectorRelease, texts: Iterable[str], key: RunKey, language: Language
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
    if isinstance(texts, Mapping) or hasattr(type(texts), "columns"):
        raise TypeError(
            f"a {kind} is not a list of texts: give one of its columns or its values, "
            "or name the columns of a table, as in columns='text'"
        )
    if isinstance(texts, set | frozenset):
        raise TypeError(f"a {kind} has no order to return texts in: give a list")
    if isinstance(texts, bytes | bytearray | memoryview):
        raise TypeError(f"a text is a str, not {kind}: decode it")
    if not isinstance(texts, Iterable):
        raise TypeError(f"give a text or an iterable of texts, not {kind}")
    return _each((texts,) if isinstance(texts, str) else texts)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"the text at index {number} is not a str but {type(text).__name__}"
            )
        yield text
