"""A job: read, privatize, write, one batch after the other.

The batches are privatized here, or by the processes of dptext.engines.pool.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dptext import formats, streams
from dptext import pipeline as pipelines
from dptext.engines.charging import FREE, Charging
from dptext.engines.fields import Fields
from dptext.engines.held_back import HeldBack
from dptext.engines.source import Source
from dptext.engines.tally import Tally
from dptext.engines.work import Done, Worker
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record, Selection, Verbatim

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
    "quarantine", the last with the path that takes the bytes of faulty records.
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

    copied names the fields that are copied, where a header or a schema names them all;
    selection is that of the job, its field detected where the job names none.
    """

    format: str
    bytes: int
    sha256: str
    copied: tuple[str, ...] | None = None
    selection: Selection = Selection()  # noqa: RUF009


def run(
    job: Job,
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    sinks: Sinks,
    *,
    start: int = 0,
    charging: Charging = FREE,
    progress: Progress | None = None,
    warn: Warn = _silent,
) -> Written:
    """Carry out a job. tally grows while it runs; ordinals count from start.

    charging charges each batch to a ledger before it is written.

    The output is complete then, and the owner of the sinks lets it appear. Raises
    InputError at the first faulty record when on_error is "fail", when no record could
    be read, and when a selected field is in none; RefusedError when a subject would
    lose too much; UsageError when input and output do not go together.
    """
    began = time.monotonic()
    output = sinks.output
    source = Source(job, sinks.aside, start)
    with contextlib.ExitStack() as stack:
        chosen = source.open(stack, warn)
        module = formats.find(None, chosen)
        selection = source.selection
        fields = Fields(selection, module, warn)
        # What has left cannot be taken back when a field turns out to be in no record.
        passes = selection.missing == "pass" and not output.can_be_discarded
        held = HeldBack(output.stream, fields) if passes else None
        stream = held or output.stream
        writer = module.writer(stream, selection)  # type: ignore[arg-type]
        batches = pipelines.batches(source.records(module), job.batch_size)
        for batch, done in _privatized(pipeline, batches, key, job.jobs, tally):
            charging.charge(batch, done.replaced)
            tally.add(done.counted)
            for record, texts in zip(batch, done.texts, strict=True):
                if isinstance(record.rest, Verbatim):
                    writer.verbatim(record.rest)
                    continue
                fields.add(record)
                writer.write(record, texts)
                tally.records += 1
                if progress is not None and not tally.records % _OFTEN:
                    progress(tally.records, tally.counted.words)
            del batch, done  # memory for the next ones
            if job.flush:
                stream.flush()
        source.check_read(fields.records)
        fields.check()
        writer.close()
        if held is not None:
            held.release()
    output.complete()
    tally.faults += source.faults
    tally.fields.update(fields.counts)
    tally.seconds += time.monotonic() - began
    return Written(chosen, output.size, output.digest or "", writer.copied, selection)


def _privatized(
    pipeline: Pipeline,
    batches: Iterable[list[Record]],
    key: RunKey,
    jobs: int,
    tally: Tally,
) -> Iterator[tuple[list[Record], Done]]:
    """Privatize here, or in several processes: the same bytes."""
    numbered = _numbered(batches, tally.texts)
    if jobs > 1:
        from dptext.engines import pool

        yield from pool.run(pipeline, numbered, key, jobs)
        return
    work = Worker(pipeline, key, tally.meters)
    for batch, first_text in numbered:
        yield batch, work(batch, first_text)


def _numbered(
    batches: Iterable[list[Record]], first_text: int
) -> Iterator[tuple[list[Record], int]]:
    """Yield each batch with the number of texts before it."""
    for batch in batches:
        yield batch, first_text
        first_text += sum(len(record.texts) for record in batch)
