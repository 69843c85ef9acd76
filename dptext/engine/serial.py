"""A job: read, privatize, write, batch after batch.

The batches are privatized here, or by the processes of dptext.engine.pool.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from dptext import formats, streams
from dptext import pipeline as pipelines
from dptext.engine.charging import FREE, Charging
from dptext.engine.fields import Fields, HeldBack
from dptext.engine.source import Source
from dptext.engine.tally import Tally
from dptext.engine.worker import Done, Finished, Part, Task, Worker
from dptext.errors import InputError
from dptext.formats import PieceWriter
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Fault, Record, Selection, Verbatim

_OFTEN = 256  # records from one call for progress to the next
# Called now and then with records and words done so far.
Progress = Callable[[int, int], None]
# Called with a line for people, which holds nothing of a text.
Warn = Callable[[str], None]


def _silent(message: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True, slots=True)
class Job:
    """One output and what goes into it.

    inputs are paths, "-" for standard input; output a path, or None for standard
    output; format a name, or None to go by suffix; on_error "fail", "skip" or
    "quarantine", the last with the path that takes the bytes of faulty records. With
    resume, an output of a folder that is done by its manifest stays.
    """

    inputs: tuple[str, ...]
    output: str | None
    selection: Selection
    format: str | None = None
    on_error: str = "fail"
    quarantine: str | None = None
    batch_size: int = 4096
    flush: bool = False
    jobs: int = 1
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Sinks:
    """Where a job writes: its opened output, and the file for faulty records."""

    output: streams.Output
    aside: streams.Aside | None = None

    @classmethod
    def of(cls, job: Job, release: streams.Release, *, held: bool = False) -> Sinks:
        """Open what a job writes to, as a part of a release; held as in Output."""
        output = release.open(job.output, held=held)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            return cls(output, release.aside(job.quarantine))
        return cls(output)


@dataclass(frozen=True, slots=True)
class Written:
    """A finished output: its format, size and sha256 of its bytes as they left.

    copied names the fields that are copied, where a header or a schema names them all.
    """

    format: str
    bytes: int
    sha256: str
    copied: tuple[str, ...] | None = None


def run(
    job: Job,
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    sinks: Sinks,
    *,
    charging: Charging = FREE,
    progress: Progress | None = None,
    warn: Warn = _silent,
) -> Written:
    """Carry out a job. tally grows while it runs; ordinals go on from it.

    charging charges each batch to a ledger before it is written.

    The output is complete then, and the owner of the sinks lets it appear. Raises
    InputError at the first faulty record when on_error is "fail", when no record could
    be read, and when a selected field is in none; RefusedError when a subject would
    lose too much; UsageError when input and output do not go together.
    """
    began = time.monotonic()
    output = sinks.output
    # No two records of a run have the same ordinal, so none share their noise.
    start, first_text = tally.next
    source = Source(job, sinks.aside, start, first_text)
    with contextlib.ExitStack() as stack:
        chosen = source.open(stack)
        module = formats.find(None, chosen)
        selection = job.selection
        fields = Fields(selection, module, warn)
        # What has left cannot be taken back when a field turns out to be in no record.
        passes = selection.missing == "pass" and not output.can_be_discarded
        held = HeldBack(output.stream, fields) if passes else None
        stream = held or output.stream
        writer = module.writer(stream, selection)  # type: ignore[arg-type]
        # A ledger is charged by records, which others would have read.
        parts = job.jobs > 1 and charging.entry is None
        tasks = _tasks(source.items(module, parts=parts), job.batch_size, first_text)
        for batch, done in _privatized(pipeline, tasks, key, job.jobs, tally):
            tally.add(done.counted)
            if isinstance(done, Finished):
                for fault in done.faults:
                    source.fault(fault)
                fields.merge(done.records, done.present)
                assert isinstance(writer, PieceWriter)
                writer.piece(done.data)
                tally.records += done.records
                if progress is not None:
                    progress(tally.records, tally.counted.words)
            else:
                charging.charge(batch, done.replaced)
                _write(writer, fields, batch, done, source)
                _count(tally, batch, progress)
            del batch, done  # memory for the next ones
            if job.flush:
                stream.flush()
        source.check_read(fields.records)
        source.check_unchanged()
        fields.check()
        writer.close()
        if held is not None:
            held.release()
    output.complete()
    tally.faults += source.faults
    tally.fields.update(fields.counts)
    tally.seconds += time.monotonic() - began
    return Written(chosen, output.size, output.digest or "", writer.copied)


def _write(
    writer: formats.Writer,
    fields: Fields,
    batch: list[Record],
    done: Done,
    source: Source,
) -> None:
    """Write the records of a batch, and what stands between them."""
    for record, texts in zip(batch, done.texts, strict=True):
        if isinstance(record.rest, Verbatim):
            writer.verbatim(record.rest)
        elif isinstance(record.rest, Fault):
            source.fault(record.rest)
        elif isinstance(record.rest, InputError):
            raise record.rest
        else:
            fields.add(record)
            writer.write(record, texts)


def _count(tally: Tally, batch: list[Record], progress: Progress | None) -> None:
    """Count records that were written, and say so now and then."""
    for record in batch:
        if record.ordinal >= 0:
            tally.records += 1
            if progress is not None and not tally.records % _OFTEN:
                progress(tally.records, tally.counted.words)


def _privatized(
    pipeline: Pipeline,
    tasks: Iterable[Task],
    key: RunKey,
    jobs: int,
    tally: Tally,
) -> Iterator[tuple[list[Record], Done | Finished]]:
    """Privatize here, or in several processes: the same bytes."""
    if jobs > 1:
        from dptext.engine import pool

        yield from pool.run(pipeline, tasks, key, jobs)
        return
    work = Worker(pipeline, key, tally.meters)
    for task in tasks:
        assert not isinstance(task, Part)  # they are for other processes
        batch, first_text = task
        yield batch, work(batch, first_text)


def _tasks(
    items: Iterable[Record | Part], size: int, first_text: int
) -> Iterator[Task]:
    """Group records into batches, each with the number of texts before it."""
    for is_part, group in itertools.groupby(items, lambda item: isinstance(item, Part)):
        if is_part:
            yield from cast("Iterator[Part]", group)
            continue
        for batch in pipelines.batches(cast("Iterator[Record]", group), size):
            yield batch, first_text
            first_text += sum(len(record.texts) for record in batch)
