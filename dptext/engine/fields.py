"""Checks the selected and unchanged fields in a run's records.

A selected field that no record has was probably mistyped: its texts would stay
unchanged. Irrevocable output is held back until that is ruled out (`HeldBack`).
Unchanged fields are named in warnings: where their words occur in the private text of
the same record far more often than in the previous record's, and where they look as if
they identify people, by their names and first values. Texts that mean a missing value
(NULL) but became words are counted.

All of it depends on the private text, and is only for its owner's terminal.
Warnings name fields and kinds, never a value.
"""

from __future__ import annotations

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import numpy as np

from dptext.engine.identifying import FieldValues, Kind, identifying
from dptext.engine.job import Warn
from dptext.errors import InputError, UnknownFieldError
from dptext.formats import Format, _fields
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim

SAMPLE = 200  # records that a run looks at
CHARACTERS = 20_000  # of a text that are looked at
_FIELDS = 500  # fields of which values are looked at
_SHARED = 0.25  # of its words that a field must share to be named
_LEAST = 5  # words that it must share in all
_COMPARED = re.compile(r"\w{4,}")
_HELD = 2**26  # bytes that wait for each field to be in a record
# Texts that pandas reads as missing by default, and that of databases.
_NULL_MARKS = frozenset(
    r"#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a "
    r"nan null \N".split()
)


class Fields:
    """Counts records, and the records with each selected field."""

    def __init__(
        self,
        selection: Selection,
        format: Format,
        warn: Warn,
        kept: Iterable[str] = (),
    ) -> None:
        """Begin to count; kept: words that may occur in texts and copied fields."""
        self.records = 0
        self._kept = _compared(*kept)
        self._selection, self._format, self._warn = selection, format, warn
        self._present: Counter[tuple[str, ...] | None] = Counter()
        self._copied: dict[str, None] = {}
        self._values: dict[str, FieldValues] = {}
        # Words of each copied field: all, those that the private texts of the record
        # hold too, and those that the private texts of the record before hold.
        self._words = defaultdict[str, np.ndarray](lambda: np.zeros(3, np.int64))
        self._before: set[str] = set()
        self._null_marks = 0

    def add(self, record: Record, new: Sequence[str] = ()) -> None:
        """Count a record; `new` are its texts in the output."""
        self.records += 1
        self._present[record.present] += 1
        if self.records > SAMPLE:
            if self._format.HAS_SHEETS:  # a later one has other columns
                self._look(self._format.others(record, self._selection))
            return
        self._null_marks += sum(
            text.strip() in _NULL_MARKS and text != other
            for text, other in zip(record.texts, new, strict=False)
        )
        private = _compared(*record.texts)
        for name, text in self._format.others(record, self._selection):
            self._copied[name] = None
            if name in self._values or len(self._values) < _FIELDS:
                self._values.setdefault(name, FieldValues()).add(text)
                words = _compared(text) - self._kept
                counts = len(words), len(words & private), len(words & self._before)
                self._words[name] += counts
        self._before = private
        if self.records == SAMPLE:
            self._warn_of_sample()

    def look(self, item: Verbatim) -> None:
        """Inspect items between records, by the first values of each field.

        These are copied too, such as rows of other sheets in a workbook.
        """
        self._look(self._format.between(item))

    def _look(self, fields: Iterable[tuple[str, str]]) -> None:
        for name, text in fields:
            self._copied[name] = None
            if name not in self._values and len(self._values) >= _FIELDS:
                continue
            values = self._values.setdefault(name, FieldValues())
            if values.texts < SAMPLE:
                values.add(text)

    def merge(self, present: Counter[tuple[str, ...] | None]) -> None:
        """Add counts by field of records that other processes have read."""
        self.records += present.total()
        self._present.update(present)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of records per field, empty if there are no fields."""
        counts = self._counts
        return {name: counts[name] for name in self._selection.fields if name in counts}

    @property
    def _counts(self) -> dict[str, int]:
        """Return the number of records per selected or changed field."""
        if self._present.keys() <= {None}:
            return {}
        counts = dict.fromkeys((*self._selection.fields, *self._selection.changed), 0)
        for present, count in self._present.items():
            for name in present or ():
                counts[name] += count
        return counts

    @property
    def absent(self) -> str | None:
        """Return the first selected field that no record has had so far, or None."""
        return next((name for name, count in self._counts.items() if not count), None)

    @property
    def copied(self) -> list[str]:
        """Return the names of copied fields in the sampled records, in order."""
        return list(self._copied)

    def identifying(self, copied: Sequence[str]) -> dict[str, str]:
        """Return the copied fields that look identifying in the sampled records."""
        subject = self._selection.subject_field
        named = {subject: str(Kind.PERSON)} if subject in copied and subject else {}
        return named | identifying(copied, self._values)

    def check(self, inputs: str) -> None:
        """Raise InputError, naming the inputs, if no record has a selected field."""
        if self.records < SAMPLE:
            self._warn_of_sample()
        if self.absent in self._selection.changed:
            option = self._selection.option_name(self.absent)
            error = _fields.unknown(self.absent, option, self._copied)
            raise UnknownFieldError(f"{inputs}: {error}")
        if self.absent is not None:
            raise InputError(
                f"{inputs}: field {self.absent!r} is in none of the {self.records} "
                "records, so no output was written; name a field that the records have"
            )

    def _warn_of_sample(self) -> None:
        self._warn_of_copies()
        if self._null_marks:
            where = f" in the first {SAMPLE} records" if self.records == SAMPLE else ""
            count = f"{self._null_marks} texts{where} are null marks"
            if self._null_marks == 1:
                count = f"1 text{where} is a null mark"
            keeps = option("set", 'tokens.keep.patterns=["^(NULL|NA)$"]')
            self._warn(
                f"{count} such as NULL, NA or \\N, and were replaced by words; {keeps} "
                "keeps them (except #N/A and <NA>), which shows where they are"
            )

    def _warn_of_copies(self) -> None:
        names = [
            name
            for name, (words, shared, by_chance) in self._words.items()
            if shared >= max(_LEAST, _SHARED * words, 2 * by_chance)
        ]
        if names:
            shown = ", ".join(map(repr, names))
            left, them = f"columns {shown} were left unchanged and repeat", "them"
            if len(names) == 1:
                left, them = f"column {shown} was left unchanged and repeats", "it"
            self._warn(
                f"{left} words of the private text; make {them} private too "
                f"({option('field')}), "
                f"or leave {them} out ({option('drop')})"
            )


def _compared(*texts: str) -> set[str]:
    """Return the words of texts, used to recognise repeated texts."""
    return {
        word for text in texts for word in _COMPARED.findall(text[:CHARACTERS].lower())
    }


class HeldBack:
    """A stream that holds its data until every selected field has occurred."""

    def __init__(self, stream: BinaryIO, fields: Fields) -> None:
        self._stream, self._fields = stream, fields
        self._waiting: io.BytesIO | None = io.BytesIO()

    @property
    def closed(self) -> bool:
        """Return whether the underlying stream is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write the data or hold it. Raises InputError if too much is held."""
        if self._waiting is None:
            return self._stream.write(data)
        self._waiting.write(data)
        absent = self._fields.absent  # of the fields that are selected
        if self._fields.records and absent is None:
            self.release()
        elif self._waiting.tell() > _HELD and absent is not None:
            raise InputError(
                f"field {absent!r} is in none of the first {self._fields.records} "
                "records; with -o FILE all records are read before anything is written"
            )
        return len(data)

    def release(self) -> None:
        """Write the held data."""
        if self._waiting is not None:
            self._stream.write(self._waiting.getvalue())
            self._waiting = None

    def flush(self) -> None:
        """Flush the underlying stream, unless data is held."""
        if self._waiting is None:
            self._stream.flush()
