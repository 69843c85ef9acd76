"""Parts of a file, each read, made private and written by one process."""

from __future__ import annotations

import io
from collections import Counter
from typing import NamedTuple

from dptext import formats, metrics
from dptext.engines.tally import Counted
from dptext.engines.work import Worker
from dptext.types import Fault, Record, Selection, Verbatim


class Part(NamedTuple):
    """Some bytes of an input: whole records, and what is needed to read them.

    head makes a file of them; start is the ordinal of the first one, line the number of
    lines before it.
    """

    format: str
    selection: Selection
    location: str
    head: bytes
    line: int
    start: int
    data: bytes = b""

    @property
    def first_line(self) -> int:
        """Return the number of the first line, those of the head included."""
        return self.line + 1 - self.head.count(b"\n")


# A batch with the number of texts before it, or a part of a file.
Task = tuple[list[Record], int] | Part


class Finished(NamedTuple):
    """A part as it is written, and what is counted in it."""

    data: bytes
    counted: Counted
    records: int
    present: Counter[tuple[str, ...] | None]
    faults: list[Fault]


def finish(part: Part, worker: Worker) -> Finished:
    """Read a part, make it private, and write it.

    It must be no part with one of the first FIRST_TEXTS texts of a run.
    """
    module = formats.find(None, part.format)
    batch: list[Record] = []
    faults: list[Fault] = []
    present: Counter[tuple[str, ...] | None] = Counter()
    stream = io.BytesIO(part.head + part.data)
    for item in module.read(
        stream, part.selection, part.location, part.start, part.first_line
    ):
        if isinstance(item, Fault):
            faults.append(item)
        elif isinstance(item, Verbatim):
            batch.append(Record(-1, (), item))
        else:
            batch.append(item)
            present[item.present] += 1
    # The head is there, so that no batch is empty.
    done = worker(batch, metrics.FIRST_TEXTS)
    out = io.BytesIO()
    writer = module.writer(out, part.selection)
    for record, texts in zip(batch, done.texts, strict=True):
        if isinstance(record.rest, Verbatim):
            writer.verbatim(record.rest)
        else:
            writer.write(record, texts)
    data = out.getvalue()[len(part.head) :]
    return Finished(data, done.counted, present.total(), present, faults)
