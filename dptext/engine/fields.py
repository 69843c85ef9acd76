"""Checks of the fields of records: whether they are there, whether copies repeat them.

A selected field that is in no record was mistyped: its texts would leave as they are.
Output that cannot be taken back waits until that is ruled out (`HeldBack`).
A copied field is named in a warning where its words stand in the private text of the
same record far more often than in that of the record before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import BinaryIO

from dptext.engine.identifying import Identifying, Kind
from dptext.errors import InputError
from dptext.formats import Format
from dptext.types import Record, Selection

SAMPLE = 200  # records that are looked at
_CHARACTERS = 20_000  # of each text
_FIELDS = 200  # of each record
_SHARE = 0.25  # of its words that a field must share to be named
_LEAST = 5  # words that it must share in all
_WORD = re.compile(r"\w{4,}")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_CHARACTERS].lower()))


class Fields:
    """Counts the records, and in how many of them each selected field is."""

    def __init__(
        self, selection: Selection, format: Format, warn: Callable[[str], None]
    ) -> None:
        self.records = 0
        self._selection = selection
        self._present: Counter[tuple[str, ...] | None] = Counter()
        self._format = format
        self._identifying = Identifying()
        self._others: dict[str, None] = {}
        self._warn = warn
        # Words of each copied field: all, those that the private texts of the record
        # hold too, and those that the private texts of the record before hold.
        self._words: Counter[str] = Counter()
        self._shared: Counter[str] = Counter()
        self._by_chance: Counter[str] = Counter()
        self._before: set[str] = set()

    def add(self, record: Record) -> None:
        """Count a record that was read."""
        self.records += 1
        self._present[record.present] += 1
        if self.records > SAMPLE:
            return
        others = list(self._format.others(record, self._selection))
        self._identifying.add(others)
        self._others.update(dict.fromkeys(name for name, _ in others))
        private = set().union(*map(_words, record.texts))
        for name, text in others[:_FIELDS]:
            words = _words(text)
            self._words[name] += len(words)
            self._shared[name] += len(words & private)
            self._by_chance[name] += len(words & self._before)
        self._before = private
        if self.records == SAMPLE:
            self._warn_of_copies()

    def merge(self, records: int, present: Counter[tuple[str, ...] | None]) -> None:
        """Count records after the sample that others have read."""
        self.records += records
        self._present.update(present)

    @property
    def counts(self) -> dict[str, int]:
        """Return in how many records each field is; empty for texts without fields."""
        if self._present.keys() <= {None}:
            return {}
        counts = dict.fromkeys(self._selection.fields, 0)
        for present, count in self._present.items():
            for name in present or ():
                counts[name] += count
        return counts

    @property
    def copied(self) -> list[str]:
        """Return the names of the copied fields in the sample of records, in order."""
        return list(self._others)

    def identifying(self, copied: Sequence[str]) -> dict[str, Kind]:
        """Return which copied fields look identifying, by the sample of records."""
        kinds = self._identifying.kinds(copied)
        subject = self._selection.subject_field
        if subject is None or subject not in copied:
            return kinds
        return {subject: Kind.NUMBER, **kinds}

    def check(self) -> None:
        """Refuse records none of which has a selected field. Raises InputError."""
        if self.records < SAMPLE:
            self._warn_of_copies()
        for name, count in self.counts.items():
            if not count:
                raise InputError(
                    f"field {name!r} is in none of the {self.records} records, so "
                    "there is no output; give the name of a field that some of them "
                    "have"
                )

    def _warn_of_copies(self) -> None:
        names = [
            name
            for name, shared in self._shared.items()
            if shared >= max(_LEAST, _SHARE * self._words[name])
            and shared >= 2 * self._by_chance[name]
        ]
        if names:
            shown = ", ".join(map(repr, names))
            self._warn(
                f"the output will hold copies of {shown}, which repeat words of the "
                "private text; make them private too (--field), or leave them out"
            )


_HELD = 2**26  # bytes that wait for each field to be in a record


class HeldBack:
    """A stream that keeps what is written until each field was in some record."""

    def __init__(self, stream: BinaryIO, fields: Fields) -> None:
        self._stream = stream
        self._fields = fields
        self._waiting: list[bytes] | None = []
        self._size = 0

    @property
    def closed(self) -> bool:
        """Tell whether the stream below is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write, or keep. Raises InputError when too much is kept."""
        if self._waiting is None:
            return self._stream.write(data)
        self._waiting.append(bytes(data))
        self._size += len(data)
        absent = [name for name, count in self._fields.counts.items() if not count]
        if self._fields.records and not absent:
            self.release()
        elif self._size > _HELD and absent:
            raise InputError(
                f"field {absent[0]!r} is in none of the first "
                f"{self._fields.records} records; with -o FILE all are read before "
                "there is an output"
            )
        return len(data)

    def release(self) -> None:
        """Write all that was kept."""
        waiting, self._waiting = self._waiting or [], None
        for data in waiting:
            self._stream.write(data)

    def flush(self) -> None:
        """Send on what was written."""
        if self._waiting is None:
            self._stream.flush()
