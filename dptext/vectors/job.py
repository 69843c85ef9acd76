"""Embed a file: read, encode, release, write, batch after batch."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dptext.engine.job import Job, Progress, Task, Warn
from dptext.engine.reading import Reading
from dptext.engine.source import find_subject
from dptext.errors import RefusedError, UsageError
from dptext.randomness import RunKey
from dptext.run.interface import option
from dptext.streams.outputs import OutputFile, Quarantine
from dptext.types import Record, Verbatim
from dptext.vectors import columns, release
from dptext.vectors.columns import Columns, VectorWriter
from dptext.vectors.counts import Counts
from dptext.vectors.release import Rows, VectorRelease, VectorSettings


def _again(
    settings: VectorSettings, identity: str, key: RunKey
) -> Callable[[Task], Rows]:
    """Make a worker in another process; settings have their epsilon.

    Raises UsageError when a file is not what it was.
    """
    ready = release.prepare(settings)
    if ready.identity != identity:
        raise UsageError(
            "the lexicon, or a file that the settings name, has changed since the run "
            "began; run again"
        )
    return _worker(ready, key)


def _worker(ready: VectorRelease, key: RunKey) -> Callable[[Task], Rows]:
    """Return what embeds batches: release and key decide every draw."""
    randomness = ready.randomness(key)
    return lambda task: ready.rows(task.records, randomness)


def run(
    job: Job,
    ready: VectorRelease,
    key: RunKey,
    output: OutputFile,
    aside: Quarantine | None = None,
    *,
    progress: Progress | None = None,
    warn: Warn = lambda line: None,
) -> tuple[VectorWriter, Counts]:
    """Carry out a job; its output is complete then, and its owner lets it appear.

    Raises InputError at the first faulty record when on_error is "fail", when no record
    could be read, and when a selected field is in none; RefusedError where a subject
    has more vectors than share epsilon; UsageError where lexicon and script do not go
    together.
    """
    began, counts = time.monotonic(), Counts()
    with contextlib.ExitStack() as stack:
        reading = Reading(
            # The input has another format than the output.
            replace(job, output=None),
            stack,
            aside=aside,
            tokenizer=ready.tokenizer,
            lexicon=ready.lexicon.name,
            warn=warn,
            writes_copies=False,
        )
        fields, counts.format = reading.fields, reading.format.name
        writer = columns.find(job.output)(output.stream)
        results = reading.results(
            reading.batches(),
            _worker(ready, key),
            partial(_again, ready.settings, ready.identity, key),
        )
        for (batch, *_), rows in results:
            for record in batch:
                fields.add(record)
            _count(counts, ready, batch, rows)
            writer.write(_columns(job, batch, rows))
            if progress is not None:
                progress(fields.records, counts.words or counts.texts)
        reading.close()
        if not counts.records:
            none = ready.rows([], ready.randomness(key))
            writer.write(_columns(job, [], none))
        if job.selection.id_field is not None and "id" in writer.names:
            counts.identifying = fields.identifying([job.selection.id_field])
        writer.close()
    output.complete()
    counts.faults, counts.seconds = reading.source.faults, time.monotonic() - began
    return writer, counts


def _count(
    counts: Counts, ready: VectorRelease, batch: Sequence[Record], rows: Rows
) -> None:
    counts.records += len(batch)
    counts.texts += sum(len(record.texts) for record in batch)
    counts.words += rows.encoded
    counts.vectors += len(rows.vectors)
    options = ready.settings.options
    if options.subject is None:
        return
    mine = np.searchsorted([record.ordinal for record in batch], rows.records)
    each = np.bincount(mine, minlength=len(batch)).tolist()
    for record, count in zip(batch, each, strict=True):
        if isinstance(record.rest, Verbatim):
            continue
        value = find_subject(record, options.subject).encode("utf-8", "surrogatepass")
        counts.subjects[hashlib.blake2b(value, digest_size=16).digest()] += count
    if options.most > 1 and max(counts.subjects.values(), default=0) > options.most:
        raise RefusedError(
            f'a value of "{options.subject}" has more than {options.most} vectors, '
            f"among which epsilon is shared; give a larger {option('most')}"
        )


def _columns(job: Job, batch: Sequence[Record], rows: Rows) -> Columns:
    """Put what vectors are of beside them."""
    named: dict[str, np.ndarray] = {}
    if job.selection.id_field is not None:
        ids = {record.ordinal: record.identity or "" for record in batch}
        named["id"] = np.array([ids[row] for row in rows.records.tolist()], object)
    named |= {"record": rows.records, "text": rows.texts}
    if rows.words is not None:
        named["word"] = rows.words
    return {**named, "vector": rows.vectors}
