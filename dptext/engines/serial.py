"""A job: read, privatize, write, one batch after the other.

The batches are privatized here, or by the processes of dptext.engines.pool.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dptext import formats, registry, streams
from dptext.engines import choosing, seeing
from dptext.errors import InputError
from dptext.metrics.epsilons import EpsilonHistogram
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import kinds
from dptext.types import Eps, Fault, Ids, Record, Selection, Verbatim, Words

METRICS = ("perturbation", "rare-words", "similarity")
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
    def of(cls, job: Job, release: streams.Release) -> Sinks:
        """Open what a job writes to, as a part of a release."""
        output = release.open(job.output)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            return cls(output, release.aside(job.quarantine))
        return cls(output)


@dataclass(slots=True)
class Tally:
    """What a run counts; everything here is a function of the private text."""

    meters: dict[str, Any]
    epsilons: EpsilonHistogram = field(default_factory=EpsilonHistogram)
    tokens: NDArray[np.int64] = field(default_factory=lambda: np.zeros(8, np.int64))
    records: int = 0
    words: int = 0
    faults: int = 0
    seconds: float = 0.0
    # In how many records each selected field is, null or not.
    fields: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, pipeline: Pipeline) -> Tally:
        """Start all metrics of a run."""
        found = {name: registry.find("metrics", name) for name in METRICS}
        return cls({m.NAME: m.Meter(pipeline.lexicon) for m in found.values()})

    def observe(self, words: Words, drawn: Ids, eps: Eps) -> None:
        """Take in a batch."""
        self.tokens += np.bincount(words.flags & kinds.KIND, minlength=8)
        self.words += len(drawn)
        self.epsilons.add(words, eps)
        for meter in self.meters.values():
            meter.add(words, drawn)


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
    sinks: Sinks | None = None,
    *,
    start: int = 0,
    progress: Progress | None = None,
    warn: Warn = _silent,
) -> Written:
    """Carry out a job. tally grows while it runs; ordinals count from start.

    With sinks, the output is complete then and their owner lets it appear; without, it
    is opened here and appears. Raises InputError at the
    first faulty record when on_error is "fail", when no record could be read, and when
    a selected field is in none; UsageError when input and output do not go together.
    """
    if sinks is None:
        streams.check_distinct(job.inputs, job.output)
        with streams.Release() as release:
            sinks = Sinks.of(job, release)
            written = _carried_out(
                job, pipeline, key, tally, sinks, start, progress, warn
            )
            release.commit()
        return written
    return _carried_out(job, pipeline, key, tally, sinks, start, progress, warn)


def _carried_out(
    job: Job,
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    sinks: Sinks,
    start: int,
    progress: Progress | None,
    warn: Warn,
) -> Written:
    began = time.monotonic()
    output = sinks.output
    with contextlib.ExitStack() as stack:
        source = _Source(job, tally, sinks.aside, start)
        chosen = source.open(stack, warn)
        module = formats.find(None, chosen)
        seen = seeing.Seen(job.selection, module, warn)
        # What has left cannot be taken back when a field turns out to be in no record.
        passes = job.selection.missing == "pass" and not output.can_be_discarded
        held = seeing.Held(output.stream, seen) if passes else None
        writer = module.writer(held or output.stream, job.selection)  # type: ignore[arg-type]
        for record, texts in _privatized(
            pipeline, source.records(module), key, job, tally
        ):
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
                continue
            seen.add(record)
            writer.write(record, texts)
            tally.records += 1
            if job.flush:
                (held or output.stream).flush()
            if progress is not None and not tally.records % 256:
                progress(tally.records, tally.words)
        source.check_read(seen.records)
        seen.check()
        writer.close()
        if held is not None:
            held.let_go()
    output.complete()
    tally.fields.update(seen.fields)
    tally.seconds += time.monotonic() - began
    return Written(chosen, output.size, output.digest or "", writer.copied)


def _privatized(
    pipeline: Pipeline, records: Iterable[Record], key: RunKey, job: Job, tally: Tally
) -> Iterator[tuple[Record, tuple[str, ...]]]:
    """Privatize here, or in several processes: the same bytes."""
    if job.jobs == 1:
        return pipeline.run(
            records, key, batch_size=job.batch_size, observe=tally.observe
        )
    from dptext.engines import pool

    return pool.run(
        pipeline,
        records,
        key,
        job.jobs,
        batch_size=job.batch_size,
        observe=tally.observe,
    )


class _Source:
    """The records of all inputs of a job, one after the other."""

    def __init__(
        self, job: Job, tally: Tally, aside: streams.Aside | None, start: int
    ) -> None:
        self._job = job
        self._tally = tally
        self._aside = aside
        self._next = start
        self._streams: list[tuple[str, BinaryIO]] = []
        self._faults = 0
        self._first_fault: Fault | None = None

    def open(self, stack: contextlib.ExitStack, warn: Warn) -> str:
        """Open the first input and return the format of all."""
        name = self._job.inputs[0]
        stream = stack.enter_context(streams.open_input(name))
        self._streams.append((_place(name), stream))
        return choosing.chosen(self._job, stream, warn)

    def records(self, module: formats.Format) -> Iterator[Record]:
        """Yield records; what stands between them comes as records without texts."""
        location, stream = self._streams[0]
        yield from self._read(module, stream, location)
        for name in self._job.inputs[1:]:
            with streams.open_input(name) as stream:
                yield from self._read(module, stream, _place(name))

    def _read(
        self, module: formats.Format, stream: BinaryIO, location: str
    ) -> Iterator[Record]:
        for item in module.read(stream, self._job.selection, location, self._next):
            if isinstance(item, Verbatim):
                yield Record(-1, (), item)
                continue
            self._next += 1
            if isinstance(item, Fault):
                self._fault(item)
            else:
                yield item

    def _fault(self, fault: Fault) -> None:
        if self._job.on_error == "fail":
            raise InputError(
                _told(fault, " (go on with --on-error skip, or --quarantine FILE)")
            )
        self._first_fault = self._first_fault or fault
        self._faults += 1
        self._tally.faults += 1
        if self._aside is not None:
            ending = b"" if fault.raw.endswith(b"\n") else b"\n"
            self._aside.add(fault.raw + ending)

    def check_read(self, records: int) -> None:
        """Refuse a run of which no record could be read. Raises InputError."""
        first = self._first_fault
        if first is not None and not records:
            msg = (
                f"no record could be read, so there is no output; of {self._faults} "
                f"the first is {_told(first)}"
            )
            raise InputError(msg)


def _told(fault: Fault, more: str = "") -> str:
    """Say what is wrong with a record, and the better advice of two."""
    advice = f"; {fault.advice}" if fault.advice else more
    return f"{fault.location}: {fault.reason}{advice}"


def _place(name: str) -> str:
    return "standard input" if streams.is_standard(name) else name
