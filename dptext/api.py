"""The functions for Python programs: `dptext.privatize`, `dptext.embed`, their parts.

A call prepares settings and a key, counts its work, and has a report.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypedDict, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dptext import frames, lexicons, pipeline
from dptext import profile as profiles
from dptext.engine import documents
from dptext.engine.identifying import warning
from dptext.engine.survey import Language, is_asked_for
from dptext.engine.tally import Tally
from dptext.errors import UsageError
from dptext.lexicons.public_rows import PublicRows
from dptext.lexicons.topics import PREFIX
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.profile import Profile, make_overrides
from dptext.progress import share, visible
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
# Advice on a column of a table that was left unchanged.
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
    topics: str | None
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
    return pipeline.build(recipe, lexicons.find(recipe.lexicon))


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
        if (whole := named.pop("topics", None)) is not None:
            if named.get("lexicon") is not None:
                raise UsageError("give only one of topics, lexicon")
            named["lexicon"] = f"{PREFIX}{whole}"
            profile = "topics" if profile == profiles.DEFAULT else profile
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

    def texts(self, texts: Iterable[str], total: int = 0) -> Iterator[str]:
        """Give each text with its words replaced, in order.

        total: their number, if it is known.
        """
        done = 0
        randomness = self.pipeline.randomness(self.key)
        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        for batch in pipeline.batches(records):
            self.language.look(batch)
            private = self.pipeline.privatize(batch, randomness)
            if self.tally is not None:
                self.tally.count(private)
            done += len(batch)
            share("texts", done / total if total else 0.0)
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
    >>> len(private), str(report.guarantee.notion)
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
    >>> len(vectors.values), str(vectors.report.guarantee.notion)
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
