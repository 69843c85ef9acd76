"""Records in random order: what `--shuffle` puts before a writer.

A record's place follows from 128 bits that the key of the run gives for its place in
the input and its texts, or for its id and its texts, as BLAKE2b gives its noise: nobody
without the key can tell the order from one drawn at random. A key file, the same input
and the same settings give the same order again; where two inputs differ, the records
that are equal in both keep their order among each other.

All records of an output are held in memory until its last one is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from dptext import formats
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.types import Record, Verbatim


class Shuffled(formats.Writer):
    """Gives a writer its records in random order, when all of them are there."""

    def __init__(
        self,
        writer: formats.Writer,
        pipeline: Pipeline,
        key: RunKey,
        output: str | None,
    ) -> None:
        """Draw the order by the key of a run, apart from all noise of the pipeline.

        output as in Randomness.
        """
        self._writer = writer
        settings = f"order of records {pipeline.identity}"
        self._order = Randomness(key, settings, output)
        self._held: list[tuple[bytes, int, Record, Sequence[str]]] = []

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Hold a record; the number of it decides nothing, as no two places are equal.

        Places are equal with a chance of 2^-128 for two records.
        """
        rank = self._order.nonce(record)
        self._held.append((rank, len(self._held), record, texts))

    def verbatim(self, item: Verbatim) -> None:
        """Write what stands between records, all of it before them."""
        self._writer.verbatim(item)

    def close(self) -> None:
        """Write all records."""
        self._held.sort(key=lambda held: held[:2])
        for _, _, record, texts in self._held:
            self._writer.write(record, texts)
        self._held.clear()
        self._writer.close()

    @property
    def note(self) -> str:
        """Return the note of the writer."""
        return self._writer.note
