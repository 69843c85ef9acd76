"""The functions for Python programs: privatize, sanitize_files, embed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from dptext import pipeline
from dptext.engine.language import Language, is_asked_for
from dptext.engine.request import open_key
from dptext.errors import UsageError
from dptext.keywords import (
    ChoiceKeywords,
    FileCall,
    TableCall,
    VectorKeywords,
)
from dptext.pipeline import Pipeline as Pipeline
from dptext.profile import Profile
from dptext.progress import share, visible
from dptext.randomness import RunKey
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.run import selection, work
from dptext.run.choices import Choices, Noise, Pooling
from dptext.run.interface import shown_in
from dptext.run.python import (
    CHOICES,
    OF_FILES,
    OF_PROFILES,
    OF_TABLES,
    OF_VECTORS,
    PYTHON,
    fill,
    named,
    takes,
)
from dptext.sanitizer import SanitizedFiles as SanitizedFiles
from dptext.sanitizer import Sanitizer as Sanitizer
from dptext.sanitizer import checked_texts, length, warn
from dptext.types import Record
from dptext.vectors import release
from dptext.vectors import run as vector_run
from dptext.vectors.release import VectorRelease

Overrides = Mapping[str, object] | None
StrPath = str | os.PathLike[str]
FloatRows = NDArray[np.float32]
_RECORDS = 1024  # texts in a batch of vectors
Table = TypeVar("Table")  # of pandas, Polars, pyarrow or datasets


def load_profile(
    name: str | os.PathLike[str], overrides: Mapping[str, object] | None = None
) -> Profile:
    """Read a profile by name or path, with some of its keys overridden.

    Raises UsageError for an unknown name, key or value.
    """
    return Sanitizer(name, overrides).profile


def open_pipeline(
    profile: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Pipeline:
    """Prepare a profile and its lexicon, once for many texts.

    Raises UsageError and LexiconError.
    """
    return Sanitizer(profile, overrides).pipeline


# A table gives a table of its kind, a text a text, an iterable of texts a list; a
# string is both for type checkers. They complete the options of all from the classes;
# help and notebooks show the parameters of the function itself.
@overload
def privatize(
    texts: Table,
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    columns: str | Sequence[str],
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[TableCall],
) -> Table: ...
@overload
def privatize(
    texts: Table,
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    columns: str | Sequence[str],
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[TableCall],
) -> tuple[Table, Report]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[ChoiceKeywords],
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[False] = ...,
    progress: bool = ...,
    **options: Unpack[ChoiceKeywords],
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[ChoiceKeywords],
) -> tuple[str, Report]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: StrPath | None = ...,
    overrides: Overrides = ...,
    *,
    report: Literal[True],
    progress: bool = ...,
    **options: Unpack[ChoiceKeywords],
) -> tuple[list[str], Report]: ...
@takes(*OF_TABLES, *CHOICES)
def privatize(
    texts: str | Iterable[str] | Table,
    profile: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    report: bool = False,
    progress: bool = False,
    **options: Any,
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
    - profile: a name, as `dptext list profiles` shows them, or a .yaml file;
      without one readable, or balanced with a risk or a mechanism.
    - overrides: keys that replace the profile's: {"tokens": {"number": "mask"}}.
    - risk: how often an attacker's best guess of a word may be right, "20%" or 0.2.
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
    - id: a column that seeds a row's random bits instead of its number.
    - missing: "pass" leaves nulls, which are an InputError otherwise.
    - drop: columns left out of the result.
    - pseudonym: columns with values that become tokens, by the key. Equal values stay
      equal, so that frequencies and links remain, and anybody with the key can test
      guesses.

    Warns where many words are unknown to the lexicon, and of other columns that look
    identifying. Raises TypeError for other types than text and table, UsageError and
    LexiconError for settings, InputError for columns without texts.
    """
    if not isinstance(report, bool):
        raise TypeError(
            "report: give True or False; the report is returned as a second result, "
            "and report.to_json() saves it"
        )
    choices = {**named(CHOICES, options), "report": report}
    sanitizer = Sanitizer.for_one_call(profile, overrides, progress=progress, **choices)
    private: Any
    if columns is not None:
        private = sanitizer.table(texts, columns, **named(OF_TABLES, options))
    elif fill(selection.Selection, options) != selection.Selection(fields=()):
        raise UsageError(
            "id, missing, drop and pseudonym apply to tables: also give columns="
        )
    else:
        several: Any = (texts,) if isinstance(texts, str) else texts
        private = sanitizer.texts(several)
        private = private[0] if isinstance(texts, str) else private
    return (private, sanitizer.report) if report else private


@takes(*OF_FILES, *CHOICES)
def sanitize_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    fields: str | Sequence[str] = (),
    profile: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
    progress: bool = False,
    **options: Unpack[FileCall],
) -> SanitizedFiles:
    """Sanitize files as `dptext sanitize` does; a key gives the same bytes.

    >>> result = dptext.sanitize_files(  # doctest: +SKIP
    ...     "tickets.csv", "tickets.private.csv", fields="body", drop="email"
    ... )
    >>> print(result.report)  # doctest: +SKIP

    Warnings and errors are the same as those of `dptext.Sanitizer` and its `files`.

    - paths: files to read, or folders of them.
    - output: one file for all; or out_dir: a folder.
    - fields: the private texts of a record.
    - progress: whether to count records while they are written.
    """
    choices = named(CHOICES, options)
    sanitizer = Sanitizer.for_one_call(profile, overrides, progress=progress, **choices)
    return sanitizer.files(paths, output, fields=fields, **named(OF_FILES, options))


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
        layout = Layout.from_selection(selection.Selection(), {"text"})
        return vector_run.stated(self.release, self.key, layout)


@takes(*OF_VECTORS)
def embed(
    texts: str | Iterable[str],
    overrides: Mapping[str, object] | None = None,
    *,
    progress: bool = False,
    **options: Unpack[VectorKeywords],
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
    - epsilon, risk, mu: the guarantee; a risk is for pool="word", mu for Gaussian
      noise.
    - clip: the length to which each vector is shortened.

    - lexicon, key, progress: as for `privatize`, and so are errors and warnings.
    """
    with shown_in(PYTHON), visible(progress):
        checked = checked_texts(texts)
        keys, noise = fill(work.Keys, options), fill(Noise, options)
        choices = Choices(overrides=overrides or {}, **named(OF_PROFILES, options))
        choices.check()
        run_key, over = open_key(keys), choices.keys
        pooling = asdict(fill(Pooling, options))
        ready = release.prepare(
            release.parse(over, pooling, clip=noise.clip, mu=noise.mu)
        )
        tokenizer = None if is_asked_for(over) else ready.tokenizer
        language = Language(tokenizer, ready.lexicon.name, warn)
        values = _vectors(ready, checked, run_key, language, total=length(texts))
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
