"""The work of one process: a batch of records, or a part of a file, made private.

A part is read, made private and written by one process, which gives back the bytes.
"""

from __future__ import annotations

import io
from collections import Counter
from typing import BinaryIO, NamedTuple

from dptext import formats, metrics
from dptext.engine.tally import Counted, Meters
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Fault, Record, Selection, Verbatim


class FilePart(NamedTuple):
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

    def source(self, stream: BinaryIO) -> formats.Input:
        """Return what reads a stream of the head and whole records."""
        line = self.line + 1 - self.head.count(b"\n")
        return formats.Input(stream, self.selection, self.location, self.start, line)


class Task(NamedTuple):
    """What is made private at once: records, or a part of a file in their place.

    first_text is how many texts of the run come before, as far as meters care.
    """

    records: list[Record]
    first_text: int
    part: FilePart | None = None

    def bare(self) -> Task:
        """Return it as another process needs it: what is only written back stays."""
        records = [
            Record(record.ordinal, record.texts, None, record.identity)
            for record in self.records
        ]
        return self._replace(records=records)


class Done(NamedTuple):
    """A finished task: what is counted in it, and what is to be written.

    Of a batch: the new texts of each record, and how many words of each text were
    replaced. Of a part: its new bytes, how many records it has, which fields they have,
    and the faults among them.
    """

    counted: Counted
    texts: list[tuple[str, ...]]
    replaced: list[int]
    data: bytes
    records: int
    present: Counter[tuple[str, ...] | None]
    faults: list[Fault]


class Worker:
    """Does tasks by one pipeline and one run key, which decide every draw."""

    def __init__(self, pipeline: Pipeline, key: RunKey, meters: Meters) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._meters = meters

    def __call__(self, task: Task) -> Done:
        """Make a batch or a part private."""
        return self._records(task) if task.part is None else self._part(task.part)

    def _records(self, task: Task) -> Done:
        private = self._pipeline.privatize(task.records, self._randomness)
        counted = self._meters.observe(private.batch(task.first_text))
        return Done(counted, private.texts, private.replaced, b"", 0, Counter(), [])

    def _part(self, part: FilePart) -> Done:
        """Read a part, make it private, and write it.

        It must be no part with one of the first FIRST_TEXTS texts of a run.
        """
        module = formats.find(None, part.format)
        batch: list[Record] = []
        faults: list[Fault] = []
        present: Counter[tuple[str, ...] | None] = Counter()
        for item in module.read(part.source(io.BytesIO(part.head + part.data))):
            if isinstance(item, Fault):
                faults.append(item)
            elif isinstance(item, Verbatim):
                batch.append(Record(-1, (), item))
            else:
                batch.append(item)
                present[item.present] += 1
        # The head is there, so that no batch is empty.
        done = self._records(Task(batch, metrics.FIRST_TEXTS))
        out = io.BytesIO()
        writer = module.writer(out, part.selection)
        for record, texts in zip(batch, done.texts, strict=True):
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
            else:
                writer.write(record, texts)
        data = out.getvalue()[len(part.head) :]
        count = present.total()
        return Done(done.counted, [], [], data, count, present, faults)
