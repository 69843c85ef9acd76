"""The functions for Python programs: privatize, sanitize_files, embed."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dptext import frames, pipeline, streams
from dptext import profile as profiles
from dptext.calls import (
    Call,
    CallChoices,
    Path,
    combine,
    listed,
    open_key,
    warn,
)
from dptext.calls import load_profile as load_profile
from dptext.calls import open_pipeline as open_pipeline
from dptext.engine import documents
from dptext.engine.files import Reports
from dptext.engine.identifying import warning
from dptext.engine.job import Job
from dptext.engine.language import Language, is_asked_for
from dptext.engine.request import Request
from dptext.errors import UsageError
from dptext.formats import _fields
from dptext.overrides import make_overrides
from dptext.progress import share, visible
from dptext.randomness import RunKey
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.types import Record, Selection
from dptext.vectors import documents as vector_documents
from dptext.vectors import release
from dptext.vectors.release import VectorRelease

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
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
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
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
) -> tuple[Table, Report]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
) -> tuple[str, Report]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    risk: str | float | None = ...,
    epsilon: float | None = ...,
    mechanism: str | None = ...,
    lexicon: Path | None = ...,
    topics: str | None = ...,
    decode: str | None = ...,
    key: bytes | Path | None = ...,
    progress: bool = ...,
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
    risk: str | float | None = None,
    epsilon: float | None = None,
    mechanism: str | None = None,
    lexicon: Path | None = None,
    topics: str | None = None,
    decode: str | None = None,
    key: bytes | Path | None = None,
    progress: bool = False,
) -> object:
    """Replace the words of texts.

    >>> texts = ["Call me at noon.", "The room was clean."]
    >>> private, report = dptext.privatize(texts, "balanced", risk="10%", report=True)
    >>> len(private), str(report.guarantee.bound.notion)
    (2, 'LDP')

    One text gives one text; any other iterable of texts, a generator for one, a list of
    as many, in order. profile is a name or the path of a .yaml file; overrides are laid
    over its keys, as in {"tokens": {"number": "mask"}}. risk ("20%" or 0.2), epsilon
    (nats per word), mechanism, lexicon (a name or a file), topics (of `dptext topics
    build`: each text becomes one) and decode (a decoder's name) are the options of
    `dptext sanitize`. progress shows a bar, in a notebook as well.

    With columns, texts is a table of pandas, Polars, pyarrow or Hugging Face datasets,
    and a table of the same kind comes back. The columns named hold texts, lists of
    texts, or structs in which a dotted path leads to them; all others are shared with
    the table that was given. id names a column that decides the random bits of a row
    instead of its number; a null in a text column is an InputError unless missing is
    "pass".
    The result lacks the columns of drop. The values of those of pseudonym are keyed
    tokens, for which a key is needed: equal values stay equal, so that frequencies and
    links remain, and anybody with the key can test guesses.

    >>> import pandas
    >>> frame = pandas.DataFrame({"id": [1, 2], "text": texts})
    >>> list(dptext.privatize(frame, columns="text", drop="id").columns)
    ['text']

    Randomness is fresh and secure each time. With a key, at least 32 secret random
    bytes or the path of a file that holds them, equal texts at equal positions of a
    call with the same settings give the same texts.

    With report=True the privacy report comes as a second result: str(report) and a
    notebook show its short answer, report.guarantee and report.words are public,
    report.private holds functions of the texts. The functions `encode` and `public` of
    dptext.report.document turn it into JSON and into the public report.

    Warns where many words are unknown to the lexicon, and of other columns of a table
    that look identifying. Raises TypeError for other types than text and table,
    UsageError and LexiconError for settings, InputError for columns without texts.
    """
    chosen = CallChoices(
        risk=risk,
        epsilon=epsilon,
        mechanism=mechanism,
        lexicon=lexicon,
        topics=topics,
        decode=decode,
        key=key,
    )
    with visible(progress):
        if columns is not None:
            frame = frames.wrap(texts)
            paths = listed(columns)
            changed = (listed(drop), listed(pseudonym))
            selection, names = frame.selected(paths, id, missing, *changed)
            call = Call(profile, overrides, chosen, counts=report)
            replaced = frames.PrivateColumns(
                pipeline=call.pipeline,
                key=call.key,
                selection=selection,
                tally=call.tally,
                language=call.language,
                total=frame.rows,
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
        call = Call(profile, overrides, chosen, counts=report)
        total = len(texts) if isinstance(texts, Sized) else 0
        written = list(call.texts(checked, total))
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

    def announce(self, line: str) -> None:
        self.warn(line)

    def bar(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_warnings(
        self, document: Report, identifying: Mapping[str, str], advice: str = ""
    ) -> Report:
        if identifying:
            self.warn(warning(identifying, advice or FILE_ADVICE))
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
    risk: str | float | None = None,
    epsilon: float | None = None,
    mechanism: str | None = None,
    lexicon: Path | None = None,
    topics: str | None = None,
    decode: str | None = None,
    key: bytes | Path | None = None,
) -> SanitizedFiles:
    """Make files private, as `dptext sanitize` does: the same bytes under a key.

    With output all files are written to one, with out_dir each to a file of its name
    in that folder, and a folder to a folder; existing outputs are replaced. A public
    report appears beside each output. fields name the private texts of a record; files
    of lines have none. Records that cannot be read are an InputError, or are left out
    with on_error="skip", as are files that cannot be read, each with a warning. jobs is
    the number of processes. All other arguments are those of `privatize` and the
    options of `dptext sanitize`.

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
    chosen = CallChoices(
        risk=risk,
        epsilon=epsilon,
        mechanism=mechanism,
        lexicon=lexicon,
        topics=topics,
        decode=decode,
    )
    profile, over = combine(profile, overrides, chosen)
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
        key=open_key(key),
        reports=Reports(sidecar=True),
        out_dir=None if out_dir is None else os.fspath(out_dir),
    )
    notices = _Warnings()
    planned = request.jobs(notices.warn)
    finished = request.carry_out(planned, notices)
    assert finished is not None, "neither in place nor resumed"
    written = tuple(map(pathlib.Path, filter(None, finished.outputs.outputs)))
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
    progress: bool = False,
) -> Vectors:
    """Release noisy vectors of texts.

    All settings are what the options of `dptext embed` are; overrides are laid over
    them (mechanism, space, tokens). One text gives one vector (m,), an iterable of
    texts (r, m) float32; with pool="word" a text gives the vectors of its words, (n,
    m), and several texts a list of these. The result's `report` states the guarantee.
    Randomness, errors and progress are those of `privatize`.

    >>> vectors = dptext.embed(["Call me at noon.", "The room was clean."], epsilon=8)
    >>> len(vectors.values), str(vectors.report.guarantee.bound.notion)
    (2, 'LDP')
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
    total = len(texts) if isinstance(texts, Sized) else 0
    with visible(progress):
        values = _vectors(ready, _checked(texts), run_key, language, total=total)
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
