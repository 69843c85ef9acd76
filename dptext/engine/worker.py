"""The work of one process: a batch of records, or a part of a file.

What is done with a batch of records, in whatever process: privatize and count.

Parts of a file, each read, made private and written by one process.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dptext import formats, metrics
from dptext.engine.tally import Counted, Meters
from dptext.metrics import Batch
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.joining import Joined
from dptext.types import Eps, Fault, Ids, Record, Selection, Verbatim, Words


class Done(NamedTuple):
    """A finished batch: the new texts of each record, and what is counted in all.

    replaced says how many words of each text were replaced.
    """

    texts: list[tuple[str, ...]]
    counted: Counted
    replaced: list[int]


class Worker:
    """Privatizes batches by one pipeline and one run key, which decide every draw."""

    def __init__(self, pipeline: Pipeline, key: RunKey, meters: Meters) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._meters = meters

    def __call__(self, records: Sequence[Record], first_text: int) -> Done:
        """Privatize a batch; first_text is how many texts of the run come before it."""
        counted: list[Counted] = []
        replaced: list[int] = []

        def observe(words: Words, drawn: Ids, joined: Joined, eps: Eps) -> None:
            batch = Batch(words, joined.written, joined.spelled, eps, first_text)
            counted.append(self._meters.observe(batch))
            counts = np.bincount(words.texts, minlength=len(words.ends))
            replaced.extend(counts.tolist())

        texts = self._pipeline.privatize(records, self._randomness, observe)
        return Done(texts, counted[0], replaced)


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
