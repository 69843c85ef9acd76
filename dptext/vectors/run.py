"""Embeds files: the jobs of a vectors run, and their reports.

The engine plans, opens, signs and releases like for words (dptext.engine.request).
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from dptext import lexicons
from dptext.engine import documents
from dptext.engine.earlier import Earlier
from dptext.engine.files import JobOutputs, SignedReports
from dptext.engine.identifying import advise_on_vectors
from dptext.engine.job import Job, Task, Written
from dptext.engine.language import Language
from dptext.engine.reading import JobRecords
from dptext.engine.run import JobRun
from dptext.engine.source import find_subject
from dptext.errors import RefusedError, UsageError
from dptext.measures.vector_figures import VectorMeasures
from dptext.randomness import RunKey
from dptext.report import names
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.report.sections import Private, VectorCounts, VectorSection
from dptext.run.interface import option
from dptext.types import Record, Verbatim
from dptext.vectors import Counts, columns, release, statement
from dptext.vectors.columns import Columns
from dptext.vectors.release import Rows, VectorRelease, VectorSettings


def _again(
    settings: VectorSettings, identity: str, key: RunKey
) -> Callable[[Task], Rows]:
    """Build a worker in another process; settings already have their epsilon.

    Raises UsageError if a file has changed.
    """
    ready = release.prepare(settings)
    if ready.identity != identity:
        raise UsageError(
            "the lexicon, or a file named in the settings, has changed since the run "
            "began; run again"
        )
    return _worker(ready, key)


def _worker(ready: VectorRelease, key: RunKey) -> Callable[[Task], Rows]:
    """Return the worker that embeds batches; release and key determine all draws."""
    randomness = ready.randomness(key)
    return lambda task: ready.rows(task.records, randomness)


class VectorRun(JobRun):
    """A release of vectors, a key, and the counts of a job."""

    def __init__(self, settings: VectorSettings, key: RunKey, **others: Any) -> None:
        """Prepare the release; others: as in JobRun. Raises as `release.prepare`."""
        super().__init__(key, **others)
        self.ready = release.prepare(settings, self._warn)
        self.counts = Counts()

    def earlier(self, reports: SignedReports) -> Earlier:
        """Return the comparison with earlier runs' outputs."""
        settings, digest = self.ready.settings.plain(), self.ready.base_digest
        return Earlier(settings, digest, self.key, reports)

    @property
    def identifying(self) -> Mapping[str, str]:
        """Return the id field with its kind, if it looks identifying."""
        return self.counts.identifying

    @property
    def advice(self) -> str:
        """Return advice on identifying fields."""
        return advise_on_vectors()

    @cached_property
    def measures(self) -> VectorMeasures:
        """Return the measurements on public data, computed once."""
        return statement.measure(self.ready)

    def _carry_out(self, job: Job, opened: JobOutputs, charging: object) -> Written:
        """Embed all records of a job.

        Raises InputError at the first faulty record if on_error is "fail", if no record
        could be read, and if no record has a selected field; RefusedError if a subject
        has more vectors than may share epsilon; UsageError if lexicon and script are
        incompatible.
        """
        began, counts, ready = time.monotonic(), self.counts, self.ready
        output, worker = opened.output, _worker(self.ready, self.key)
        with contextlib.ExitStack() as stack:
            known = None if job.any_language else ready.tokenizer
            language = Language(known, ready.lexicon.name, self._warn)
            reading = JobRecords(
                job, stack, aside=opened.aside, language=language, warn=self._warn
            )
            fields = reading.fields
            writer = columns.find(job.output)(output.stream)
            again = partial(_again, ready.settings, ready.identity, self.key)
            results = reading.results(reading.batches(), worker, again)
            shown = stack.enter_context(self._progress())
            for (batch, *_), rows in results:
                for record in batch:
                    fields.add(record)
                self._count(batch, rows)
                writer.write(_columns(job, batch, rows))
                if shown is not None:
                    shown(fields.records, counts.words or counts.texts)
            reading.close()
            if not counts.records:
                writer.write(_columns(job, [], worker(Task([], 0))))
            if job.selection.id_field is not None and "id" in writer.names:
                counts.identifying = fields.identifying([job.selection.id_field])
            writer.close()
        output.complete()
        counts.faults, counts.seconds = reading.source.faults, time.monotonic() - began
        return Written(
            format=reading.format.name,
            bytes=output.size,
            sha256=output.digest or "",
            columns=writer.names,
            rows=writer.rows,
        )

    def _count(self, batch: Sequence[Record], rows: Rows) -> None:
        counts, options = self.counts, self.ready.settings.options
        counts.records += len(batch)
        counts.texts += sum(len(record.texts) for record in batch)
        counts.words += rows.encoded
        counts.vectors += len(rows.vectors)
        if options.subject is None:
            return
        mine = np.searchsorted([record.ordinal for record in batch], rows.records)
        each = np.bincount(mine, minlength=len(batch)).tolist()
        for record, count in zip(batch, each, strict=True):
            if isinstance(record.rest, Verbatim):
                continue
            value = find_subject(record, options.subject)
            encoded = value.encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(encoded, digest_size=16).digest()
            counts.subjects[digest] += count
        if options.most > 1 and max(counts.subjects.values(), default=0) > options.most:
            raise RefusedError(
                f'a value of "{options.subject}" has more than {options.most} vectors, '
                f"which share epsilon; give a larger {option('most')}"
            )

    def stated(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the report of the output, without counts of private texts."""
        layout = Layout.from_selection(job.selection, {each.format for each in written})
        measures = None if self.key.origin == "seed" else self.measures
        document = stated(self.ready, self.key.origin, layout, measures=measures)
        return replace(document, output=documents.only_output(job, written))

    def report(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the internal report on the finished job."""
        counts, document = self.counts, self.stated(job, written)
        claim = statement.make_claim(self.ready, self.key.origin)
        most = max(counts.subjects.values(), default=None)
        total = None if most is None or claim.none else claim.together(most)
        vectors = VectorCounts(counts.words, counts.vectors, most, total)
        private = Private.from_counts(job.inputs, counts, None, vectors)
        return replace(document, audience="internal", private=private)


def _columns(job: Job, batch: Sequence[Record], rows: Rows) -> Columns:
    """Combine vectors with the columns that identify them."""
    named: dict[str, np.ndarray] = {}
    if job.selection.id_field is not None:
        ids = {record.ordinal: record.identity or "" for record in batch}
        named["id"] = np.array([ids[row] for row in rows.records.tolist()], object)
    named |= {"record": rows.records, "text": rows.texts}
    if rows.words is not None:
        named["word"] = rows.words
    return {**named, "vector": rows.vectors}


def stated(
    ready: VectorRelease,
    key: str,
    layout: Layout,
    *,
    measures: VectorMeasures | None = None,
) -> Report:
    """Build the report sections that depend only on settings, lexicon and layout.

    Measurements are taken unless given.
    """
    promise = statement.build(
        ready,
        key=key,
        identified=layout.id_field is not None,
        lexicon_is_custom=ready.base_digest != lexicons.builtin_digest(),
    )
    # With the seed every draw can be repeated: there is nothing left to guess.
    measured = None if key == "seed" else measures or statement.measure(ready)
    # A report names the lexicon by its words; the section holds the digest of vectors.
    lexicon = replace(ready.lexicon, digest=ready.base_digest)
    run = documents.run_section(
        settings=ready.settings.plain(),
        profile="embed",
        lexicon=names.lexicon_name(lexicon),
        lexicon_digest=ready.base_digest,
        key=key,
        layout=layout,
    )
    section = VectorSection.from_release(ready, measured)
    return documents.public_report(run, promise, vectors=section)
