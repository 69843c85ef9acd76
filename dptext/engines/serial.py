"""A job: read, privatize, write, one batch after the other.

The batches are privatized here, or by the processes of dptext.engines.pool.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dptext import formats, registry, streams
from dptext.errors import InputError, OutputError, UsageError
from dptext.metrics.spending import Spending
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import kinds
from dptext.types import Eps, Fault, Ids, Record, Selection, Verbatim, Words

METRICS = ("perturbation", "rare-words", "similarity")
# Called now and then with records and words done so far.
Progress = Callable[[int, int], None]


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


@dataclass(slots=True)
class Tally:
    """What a run counts; everything here is a function of the private text."""

    meters: dict[str, Any]
    spending: Spending = field(default_factory=Spending)
    tokens: NDArray[np.int64] = field(default_factory=lambda: np.zeros(8, np.int64))
    records: int = 0
    words: int = 0
    faults: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, pipeline: Pipeline) -> Tally:
        """Start all metrics of a run."""
        found = {name: registry.find("metrics", name) for name in METRICS}
        return cls({m.NAME: m.Meter(pipeline.lexicon) for m in found.values()})

    def observe(self, words: Words, drawn: Ids, eps: Eps) -> None:
        """Take in a batch."""
        self.tokens += np.bincount(words.flags & kinds.KIND, minlength=8)
        self.words += len(drawn)
        self.spending.add(words, eps)
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
    *,
    start: int = 0,
    progress: Progress | None = None,
) -> Written:
    """Carry out a job. tally grows while it runs; ordinals count from start.

    Raises InputError at the first faulty record when on_error is "fail", and leaves no
    output file then, nor after any other error.
    """
    streams.check_distinct(job.inputs, job.output)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(streams.open_output(job.output))
        aside = _aside(job, stack)
        source = _Source(job, tally, aside, start)
        chosen = source.open(stack)
        module = formats.find(None, chosen)
        writer = module.Writer(output.stream, job.selection)
        for record, texts in _privatized(
            pipeline, source.records(module), key, job, tally
        ):
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
                continue
            writer.write(record, texts)
            tally.records += 1
            if job.flush:
                output.stream.flush()
            if progress is not None and not tally.records % 256:
                progress(tally.records, tally.words)
        writer.close()
    tally.seconds += time.monotonic() - began
    copied: tuple[str, ...] | None = getattr(writer, "copied", None)
    return Written(chosen, output.size, output.digest or "", copied)


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
        self, job: Job, tally: Tally, aside: BinaryIO | None, start: int
    ) -> None:
        self._job = job
        self._tally = tally
        self._aside = aside
        self._next = start
        self._streams: list[tuple[str, BinaryIO]] = []

    def open(self, stack: contextlib.ExitStack) -> str:
        """Open the first input and return the format of all."""
        name = self._job.inputs[0]
        stream = stack.enter_context(streams.open_input(name))
        self._streams.append((_place(name), stream))
        if self._job.format is not None:
            return self._job.format
        if not streams.is_standard(name):
            return one_format(self._job.inputs)
        return one_format(self._job.inputs, formats.sniff(stream.peek(1)))

    def records(self, module: formats.Format) -> Iterator[Record]:
        """Yield records; what stands between them comes as records without texts."""
        place, stream = self._streams[0]
        yield from self._read(module, stream, place)
        for name in self._job.inputs[1:]:
            with streams.open_input(name) as stream:
                yield from self._read(module, stream, _place(name))

    def _read(
        self, module: formats.Format, stream: BinaryIO, place: str
    ) -> Iterator[Record]:
        for item in module.read(stream, self._job.selection, place, self._next):
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
            msg = (
                f"{fault.place}: {fault.reason} "
                "(go on with --on-error skip, or --quarantine FILE)"
            )
            raise InputError(msg)
        self._tally.faults += 1
        if self._aside is not None:
            ending = b"" if fault.raw.endswith(b"\n") else b"\n"
            self._aside.write(fault.raw + ending)


def _place(name: str) -> str:
    return "standard input" if streams.is_standard(name) else name


def _name_of(path: str) -> str:
    module = formats.find(path)
    return str(module.__name__).rsplit(".", 1)[1].replace("_", "-")  # type: ignore[attr-defined]


def _aside(job: Job, stack: contextlib.ExitStack) -> BinaryIO | None:
    if job.on_error != "quarantine" or job.quarantine is None:
        return None
    try:
        # For the user's eyes only: it holds original text.
        path = Path(job.quarantine)
        path.touch(mode=0o600)
        return stack.enter_context(path.open("ab"))
    except OSError as error:
        msg = f"{job.quarantine}: {error.strerror}"
        raise OutputError(msg) from None


def one_format(paths: Iterable[str], *others: str) -> str:
    """Return the format that paths have by their suffixes; standard input has none.

    Raises UsageError when they, or others, are of different formats.
    """
    found = {_name_of(path) for path in paths if not streams.is_standard(path)}
    found.update(others)
    if len(found) > 1:
        msg = (
            f"the inputs are of different formats ({', '.join(sorted(found))}); run "
            "once for each, or write each to its own file with --out-dir"
        )
        raise UsageError(msg)
    return "".join(found)
