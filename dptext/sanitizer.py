"""The Sanitizer class, which sanitizes texts, tables and files from Python.

Its errors and warnings name keywords instead of command-line options.
"""

from __future__ import annotations

import functools
import inspect
import os
import pathlib
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar, Unpack

import numpy as np

from dptext import calibration, formats, frames, lexicons
from dptext import profile as profiles
from dptext.engine import documents, job, language, plan, tally
from dptext.engine.files import SignedReports
from dptext.engine.identifying import warning
from dptext.engine.job import find_replacement
from dptext.engine.plan import Plan
from dptext.engine.request import Request, open_key
from dptext.errors import UsageError
from dptext.keywords import ChoiceKeywords, FileKeywords, TableKeywords
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline, batches
from dptext.progress import share, visible
from dptext.randomness import RunKey
from dptext.report.notebook import Report
from dptext.run.choices import Choices
from dptext.run.groups import given_needs
from dptext.run.interface import Interface, shown_in
from dptext.run.python import (
    CHOICES,
    OF_FILES,
    OF_PROFILES,
    OF_TABLES,
    PYTHON,
    TABLE,
    fill,
    named,
    takes,
    to_path,
)
from dptext.run.selection import Selection
from dptext.run.work import Keys, LedgerUse, Outputs, Reports, Work, check_together
from dptext.types import Record

Table = TypeVar("Table")  # of pandas, Polars, pyarrow or datasets


@dataclass(frozen=True)
class SanitizedFiles:
    """Sanitized files and their report."""

    #: The outputs, each with its public report beside it.
    paths: tuple[pathlib.Path, ...]
    #: None if all outputs were finished before.
    _report: Report | None = field(repr=False)

    @property
    def report(self) -> Report:
        """Return the internal report on all files, for the owner of the texts.

        Raises UsageError if there was nothing left to do.
        """
        if self._report is None:
            raise UsageError(
                "report: there is none, as all outputs were already finished"
            )
        return self._report

    def _repr_html_(self) -> str | None:
        """Return the report's summary as an HTML fragment."""
        return None if self._report is None else self._report._repr_html_()


class Sanitizer:
    """Sanitizes texts, tables and files with one profile and one key.

    >>> sanitizer = dptext.Sanitizer("balanced", risk="10%")
    >>> len(sanitizer.texts(["Call me at noon.", "The room was clean."]))
    2
    >>> str(sanitizer.report.guarantee.bound.notion)
    'LDP'

    The lexicon is prepared once, for all texts and tables. The key is fresh if none is
    given, and fixed for the object: an equal text at an equal place of a call gets
    equal words, in every call, and reports describe it like a given key. So create a
    new object, or pass all texts in one call, if equal texts must not be linkable. A
    Sanitizer with a fresh key cannot be pickled or copied. Use one object per thread.

    - profile: a name, as `dptext list profiles` shows them, or a .yaml file;
      without one readable, or balanced with a risk or a mechanism.
    - overrides: keys that override the profile's: {"tokens": {"number": "mask"}}.
    - risk: how often an attacker's best guess of a word may be right, "20%" or 0.2.
    - epsilon: nats per word, instead of a risk.
    - mechanism, decode: names, as `dptext list mechanisms` and the docs have them.
    - lexicon: a name or a file of words with vectors.
    - topics: a name of `dptext topics build`; each text becomes a topic.
    - key: at least 32 secret random bytes, or a file that holds them. Equal texts at
      equal places of a call with the same settings then give the same texts, also in
      other programs.
    - progress: whether to show a bar, in a notebook as well.
    - report: whether to count words for `report`; without, texts and tables are faster.

    Raises TypeError and UsageError for settings; the first call opens the lexicon, and
    raises LexiconError.
    """

    @takes(*CHOICES)
    def __init__(
        self,
        profile: str | os.PathLike[str] | None = None,
        overrides: Mapping[str, object] | None = None,
        *,
        progress: bool = False,
        report: bool = True,
        **choices: Unpack[ChoiceKeywords],
    ) -> None:
        self._settings: dict[str, Any] = {
            "profile": profile,
            "overrides": overrides,
            "progress": progress,
            "report": report,
            **choices,
        }
        self._progress, self._counts = progress, report
        self._reported: Callable[[], Report] | None = None
        with shown_in(PYTHON):
            self._keys = fill(Keys, choices)
            self._opened = open_key(self._keys)
            # Later calls use a fresh key again, as one that is given.
            self.key = replace(self._opened, origin="key-file")
            self.choices = Choices(
                profile=profile,
                overrides={} if overrides is None else overrides,
                **named(OF_PROFILES, choices),
            )
            self.choices.check()
            self.profile = profiles.chosen(self.choices)

    @classmethod
    def for_one_call(cls, *settings: Any, **named: Any) -> Self:
        """Return an object for a single call, after which a fresh key is gone."""
        sanitizer = cls(*settings, **named)
        sanitizer.key = sanitizer._opened
        return sanitizer

    def __reduce__(self) -> tuple[object, ...]:
        """Return the settings for pickling. Raises TypeError for an in-memory key."""
        if self._opened.origin == "system":
            raise TypeError(
                "a Sanitizer with a fresh key cannot be pickled or copied: give it a "
                "key, such as key='run.key'"
            )
        return functools.partial(type(self), **self._settings), ()

    @functools.cached_property
    def pipeline(self) -> Pipeline:
        """Return the prepared profile with its lexicon, built once."""
        with shown_in(PYTHON):
            lexicon = lexicons.find(self.profile.lexicon)
            return calibration.build(self.profile, lexicon)

    @property
    def report(self) -> Report:
        """Return the internal report of the last completed call.

        str(report) and a notebook show its summary, report.to_json() all of it;
        `dptext.report.document.public` makes it public. Raises UsageError if there is
        none.
        """
        if self._reported is None:
            raise UsageError(
                "report: there is none yet; process texts first, with report=True"
            )
        return self._reported()

    def text(self, text: str) -> str:
        """Replace the words of a text."""
        (private,) = self.texts((text,))
        return private

    def texts(self, texts: Iterable[str]) -> list[str]:
        """Replace the words of each text, in order.

        texts: an iterable, column or array of texts. Warns if many words are
        unknown to the lexicon. Raises TypeError for anything else.
        """
        with self._shown(PYTHON):
            if isinstance(texts, str):
                raise TypeError("texts: give a list of texts, or one text to text()")
            checked = checked_texts(texts)
            call = self.begin()
            private = list(call.texts(checked, length(texts)))
            self._reported = call.end() if call.counts else None
            return private

    @takes(*OF_TABLES)
    def table(
        self,
        table: Table,
        columns: str | Sequence[str],
        **options: Unpack[TableKeywords],
    ) -> Table:
        """Replace the words in columns of a table; return a table of the same kind.

        - table: from pandas, Polars, pyarrow or Hugging Face datasets. The result
          shares all other columns with it.
        - columns: one or several that hold texts, lists of texts, or structs in which a
          dotted path leads to them.
        - id: a column that seeds a row's random bits instead of its number.
        - missing: "pass" leaves nulls, which are an InputError otherwise.
        - drop: columns left out of the result.
        - pseudonym: columns whose values become tokens, using the key. Equal values
          stay equal, so that frequencies and links remain, and anybody with the key can
          test guesses.

        Warns about other columns that look identifying. Raises TypeError for objects
        other than tables, InputError for columns without texts.
        """
        with self._shown(TABLE):
            frame = frames.wrap(table)
            chosen = fill(Selection, {"fields": columns, **options})
            selection, names = frame.selected(chosen)
            find_replacement(selection, self._opened)  # raises UsageError
            call = self.begin()
            replaced = frames.PrivateColumns(
                pipeline=call.pipeline,
                key=self.key,
                selection=selection,
                tally=call.tally if call.counts else None,
                language=call.language,
                total=frame.rows,
            )
            private: Table = frame.privatized(names, replaced, 0)
            if kinds := frame.identifying(selection):
                call.warn(warning(kinds))
            report = call.end(selection, unchanged=frame.unchanged(selection))
            self._reported = report if call.counts else None
            return private

    @takes(*OF_FILES)
    def files(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        output: str | os.PathLike[str] | None = None,
        *,
        fields: str | Sequence[str] = (),
        **options: Unpack[FileKeywords],
    ) -> SanitizedFiles:
        """Sanitize files as `dptext sanitize` does; a key gives the same bytes.

        A public report appears beside each output; existing outputs are replaced.

        - paths: files to read, or folders of them.
        - output: one file for all; or out_dir: a folder, in which each file keeps its
          name.
        - fields: the private texts of a record; lines of plain text have no fields.
        - format, encoding: of the files, if names and content do not show them.
        - id, missing, drop, pseudonym: as for columns of a table.
        - on_error: "skip" skips unreadable records, and, of several files,
          unreadable ones, each with a warning; otherwise InputError is raised.
        - jobs: the number of processes, or "auto".

        Warns about columns that look identifying. Raises UsageError and LexiconError
        for arguments, InputError for unreadable files, OutputError if an output cannot
        be written. A single output then does not exist; of several, only the complete
        ones exist.
        """
        with self._shown(PYTHON):
            values = {"output": output, "fields": fields, **options}
            request, notices = self._request(paths, values), Warnings()
            chosen, files = request.job.selection, request.job.outputs
            if not paths or not (files.output or files.is_several):
                raise UsageError("files: name files, and either output or out_dir")
            planned = request.jobs(notices.warn)
            formats.check_needs(
                given_needs(chosen, Selection(fields=())),
                [formats.find(None, each.format) for each in planned],
            )
            finished = request.carry_out(planned, notices)
            if finished is None:
                return SanitizedFiles((), None)
            written = filter(None, finished.outputs.outputs)
            self._reported = finished.report
            return SanitizedFiles(tuple(map(pathlib.Path, written)), finished.report())

    @takes(*OF_FILES)
    def plan(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
        *,
        fields: str | Sequence[str] = (),
        **options: Unpack[FileKeywords],
    ) -> Plan:
        """Return guarantee, risk and cost before any text is read.

        Arguments are as for `files`; the time is estimated from the sizes of paths.
        """
        with self._shown(PYTHON):
            request = self._request(paths, {"fields": fields, **options})
            return plan.planned(request, self.pipeline, self.key.origin)

    def _request(self, paths: object, values: Mapping[str, object]) -> Request:
        """Return the request for a call on files. Raises TypeError and UsageError."""
        files = _input_files(paths)
        selection, outputs = fill(Selection, values), fill(Outputs, values)
        find_replacement(selection, self._opened)  # raises UsageError
        ledger, reports = fill(LedgerUse, values), fill(Reports, values)
        work = fill(Work, values)
        if "-" in (*files, outputs.output):
            raise UsageError("files: name files, not standard input or output")
        folder = next(filter(os.path.isdir, files), None)
        if outputs.output is not None and folder is not None:
            raise UsageError(f"{folder} is a folder: give out_dir= instead of output")
        check_together(
            files,
            keys=self._keys,
            ledger=ledger,
            outputs=outputs,
            reports=reports,
            work=work,
        )
        inspect = None
        if outputs.fail_on is not None:
            from dptext.checking.contents import StopAtIdentifying

            inspect = StopAtIdentifying(subject=ledger.subject)
        return Request.begin(
            files,
            selection,
            self.choices,
            outputs=outputs,
            ledger=ledger,
            work=work,
            needs={},
            key=self.key,
            reports=SignedReports.begin(reports, self._keys.key_file),
            inspect=inspect,
        )

    def begin(self) -> Call:
        """Begin a call with this object's key."""
        is_any = language.is_asked_for(self.choices.keys)
        return Call(self.pipeline, self.key, any_language=is_any, counts=self._counts)

    @contextmanager
    def _shown(self, interface: Interface) -> Iterator[None]:
        """Use an interface for messages in a block, with a bar if wanted."""
        with shown_in(interface), visible(self._progress):
            yield


def _input_files(paths: Any) -> tuple[str, ...]:
    """Return the files named in a call. Raises TypeError."""
    if isinstance(paths, Mapping) or hasattr(type(paths), "columns"):
        raise TypeError(
            f"paths: a {type(paths).__name__} is no path: give a table to "
            "dptext.privatize(table, columns=...)"
        )
    is_one = isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable)
    names: list[Any] = [paths] if is_one else list(paths)
    return tuple(to_path(name, "paths") for name in names)


_OURS = re.compile(r"dptext(\.|$)")


class Call:
    """The texts or rows of a call, with their counts and warnings.

    any_language: skip warnings about words in other languages; counts: whether there
    will be a report.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        *,
        any_language: bool,
        counts: bool = True,
    ) -> None:
        self.pipeline, self.key, self.counts = pipeline, key, counts
        lexicon = pipeline.lexicon
        tokenizer = None if any_language else pipeline.tokenizer
        public = PublicRows(lexicon)
        self.language = language.Language(tokenizer, lexicon.name, self.warn, public)
        # Warnings so far.
        self.warnings: list[str] = []
        self.tally = tally.Tally.begin(lexicon)
        self._began = time.monotonic()

    def warn(self, line: str) -> None:
        """Issue a Python warning, and record it for the report."""
        self.warnings.append(line)
        warn(line)

    def texts(self, texts: Iterable[str], total: int = 0) -> Iterator[str]:
        """Yield each text with its words replaced, in order.

        total: the number of texts, if known.
        """
        done = 0
        randomness = self.pipeline.randomness(self.key)
        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        for batch in batches(records):
            self.language.look(batch)
            private = self.pipeline.privatize(batch, randomness)
            if self.counts:
                self.tally.count(private)
            done += len(batch)
            share("texts", done / total if total else 0.0)
            yield from (text for (text,) in private.texts)
        self.language.close()

    def end(
        self,
        selection: Selection | None = None,
        *,
        unchanged: Sequence[str] = (),
        finder: str = "",
    ) -> Callable[[], Report]:
        """Finish the work so far; return a function that builds its internal report.

        selection: the private columns of a table, None for plain texts;
        unchanged: all other columns, empty if unknown; finder: name of the
        component that chose the private parts of texts, or "".
        """
        self.tally.copied.update(dict.fromkeys(unchanged))
        self.tally.seconds = time.monotonic() - self._began

        @functools.cache
        def report() -> Report:
            document = documents.called(
                pipeline=self.pipeline,
                key=self.key,
                tally=self.tally,
                measures=PublicMeasures.measure(self.pipeline),
                selection=selection,
                finder=finder,
            )
            return documents.with_warnings(document, self.warnings)

        return report


class Warnings:
    """Passes the warnings of a run to Python, and records them for the report."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def warn(self, line: str) -> None:
        """Issue a Python warning once."""
        if line not in self._noted:
            self._noted[line] = None
            warn(line)

    announce = warn

    @contextmanager
    def bar(self) -> Iterator[job.Progress]:
        """Show the number of finished records and words."""
        yield lambda records, words: share(
            f"{records:,} records, {words:,} words replaced", 0.0
        )

    def identify(self, identifying: Mapping[str, str], advice: str = "") -> None:
        """Issue a final warning about unchanged fields that identify people."""
        if identifying:
            self.warn(warning(identifying, advice))

    def with_warnings(self, document: Report) -> Report:
        """Return a report with all warnings."""
        return documents.with_warnings(document, [*self._noted])


def warn(line: str) -> None:
    """Issue a Python warning at the caller's line; it must not contain text."""
    modules = []
    frame = inspect.currentframe()
    while frame is not None:
        modules.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    # Generators of dptext are run by frames of other modules.
    ours = [level for level, name in enumerate(modules, 1) if _OURS.match(name)]
    warnings.warn(line, stacklevel=ours[-1] + 1)


def checked_texts(texts: object) -> Iterator[str]:
    """Return an iterator of texts. Raises TypeError for anything else.

    Iterating a table or dict would give its column names or keys.
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
    """Describe the type of a value, and the dimensions of an array."""
    kind = type(value).__name__
    return f"{kind} of {value.ndim} axes" if isinstance(value, np.ndarray) else kind


def _is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, or pandas' NA."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def length(texts: object) -> int:
    """Return the number of texts, 0 if unknown."""
    return len(texts) if isinstance(texts, Sized) else 0
