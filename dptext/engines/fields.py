"""Which fields the records of a job have, beside their texts.

A field that is in no record was mistyped: its texts would leave as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from dptext.engines import detection
from dptext.engines.copies import SAMPLE as SAMPLE
from dptext.engines.copies import Copies
from dptext.errors import InputError
from dptext.formats import Format
from dptext.types import Record, Selection


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
            others = list(self._format.others(record, self._selection))
            if self._selection.is_detected:
                self._check_only(others)
            self._copies.add(record.texts, others)
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

    def _check_only(self, others: Iterable[tuple[str, str]]) -> None:
        """Refuse another field with text where nobody named the private one."""
        names = set(detection.others_with_text(others))
        if names:
            raise detection.several(names | {*self._selection.fields})

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
