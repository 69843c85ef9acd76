"""Which fields the records of a job have, beside their texts.

A field that is in no record was mistyped: its texts would leave as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import BinaryIO

from dptext.engines.copies import SAMPLE, Copies
from dptext.errors import InputError
from dptext.formats import Format
from dptext.types import Record, Selection

_HELD = 2**26  # bytes that wait for each field to be in a record


class Fields:
    """Counts the records, and in how many of them each selected field is."""

    def __init__(
        self, selection: Selection, format: Format, warn: Callable[[str], None]
    ) -> None:
        self.records = 0
        self._selection = selection
        self._present: Counter[tuple[str, ...] | None] = Counter()
        self._format = format
        self._copies = Copies()
        self._warn = warn

    def add(self, record: Record) -> None:
        """Count a record that was read."""
        self.records += 1
        self._present[record.present] += 1
        if self.records <= SAMPLE:
            others = self._format.others(record, self._selection)
            self._copies.add(record.texts, others)
            if self.records == SAMPLE:
                self._warn_of_copies()

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

    def absent(self) -> list[str]:
        """Return the selected fields that were in no record so far."""
        return [name for name, count in self.counts.items() if not count]

    def check(self) -> None:
        """Refuse records none of which has a selected field. Raises InputError."""
        if self.records < SAMPLE:
            self._warn_of_copies()
        for name in self.absent():
            raise InputError(
                f"field {name!r} is in none of the {self.records} records, so there is "
                "no output; give the name of a field that some of them have"
            )

    def _warn_of_copies(self) -> None:
        names = self._copies.names()
        if names:
            shown = ", ".join(map(repr, names))
            self._warn(
                f"the output will hold copies of {shown}, which repeat words of the "
                "private text; make them private too (--field), or leave them out"
            )


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
        absent = self._fields.absent()
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
