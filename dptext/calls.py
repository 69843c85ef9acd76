"""One call from a Python program: its texts, counts and warnings."""

from __future__ import annotations

import functools
import inspect
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager

import numpy as np

from dptext.engine import documents
from dptext.engine.identifying import warning
from dptext.engine.job import Progress
from dptext.engine.language import Language
from dptext.engine.tally import Tally
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline, batches
from dptext.progress import share
from dptext.randomness import RunKey
from dptext.report.notebook import Report
from dptext.run.selection import Selection
from dptext.types import Record

_OURS = re.compile(r"dptext(\.|$)")


class Call:
    """The texts or rows of one call, with their counts and warnings.

    any_language: whether not to warn of words in other languages; counts: whether there
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
        self.language = Language(tokenizer, lexicon.name, self.warn, public)
        # Warnings so far.
        self.warnings: list[str] = []
        self.tally = Tally.begin(lexicon)
        self._began = time.monotonic()

    def warn(self, line: str) -> None:
        """Warn the program, and note it for the report."""
        self.warnings.append(line)
        warn(line)

    def texts(self, texts: Iterable[str], total: int = 0) -> Iterator[str]:
        """Yield each text with its words replaced, in order.

        total: their number, if it is known.
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
        """End the work so far, and return its internal report when it is called.

        selection: the private columns of a table, None for texts without one;
        unchanged: all others, empty if they are not known; finder: name of the
        component that chose the private parts of texts, "" without one.
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
    """Passes the warnings of a run to the program, and notes them for the report."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    def warn(self, line: str) -> None:
        """Warn the program once."""
        if line not in self._noted:
            self._noted[line] = None
            warn(line)

    announce = warn

    @contextmanager
    def bar(self) -> Iterator[Progress]:
        """Show how many records and words are done."""
        yield lambda records, words: share(
            f"{records:,} records, {words:,} words replaced", 0.0
        )

    def identify(self, identifying: Mapping[str, str], advice: str = "") -> None:
        """Warn last of the unchanged fields that identify people."""
        if identifying:
            self.warn(warning(identifying, advice))

    def with_warnings(self, document: Report) -> Report:
        """Return a report with all warnings."""
        return documents.with_warnings(document, [*self._noted])


def warn(line: str) -> None:
    """Warn the program, at its line; the warning holds nothing of a text."""
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
    """Return whether a value stands for a missing one: None, NaN, NA of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def length(texts: object) -> int:
    """Return the number of texts, 0 where it is unknown."""
    return len(texts) if isinstance(texts, Sized) else 0
