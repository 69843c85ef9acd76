"""The jobs of a run, one after the other, each with its public report.

A job is read, made private and written batch after batch: here, or by the processes of
dptext.engine.pool, which give the same bytes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from dptext import formats, streams
from dptext.engine import charging
from dptext.engine.charging import FREE, Account, Charging
from dptext.engine.job import Job, Progress, Warn, Written
from dptext.engine.manifest import Manifest
from dptext.engine.source import Source
from dptext.engine.survey import Fields, HeldBack, Language
from dptext.engine.tally import BEGIN, Start, Tally
from dptext.engine.worker import Done, Task, Worker
from dptext.errors import InputError
from dptext.guarantees.claims import SubjectLimit
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import build, document, signatures
from dptext.report.document import Document, Recorded
from dptext.report.exports import SIDECAR
from dptext.report.signatures import Key
from dptext.types import Fault, Verbatim

# Records of a batch that a third party is asked about.
_ASKED = 256
# What shows how far a job is, during a block.
Progressing = Callable[[], AbstractContextManager[Progress | None]]


def run_job(
    job: Job,
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    opened: Opened,
    *,
    charging: Charging = FREE,
    progress: Progressing = nullcontext,
    warn: Warn,
) -> Written:
    """Carry out a job. tally grows while it runs; ordinals go on from it.

    charging charges each batch to a ledger before it is written.

    The output is complete then, and the owner of its release lets it appear. Raises
    InputError at the first faulty record when on_error is "fail", when no record could
    be read, and when a selected field is in none; RefusedError when a subject would
    lose too much; UsageError when input and output do not go together, or lexicon and
    script.
    """
    began = time.monotonic()
    before = pipeline.decoder.used
    if before is not None:
        # One process bounds the requests under way; small batches show how far it is.
        job = replace(job, jobs=1, batch_size=min(job.batch_size, _ASKED))
    output = opened.output
    # No two records of a run have the same ordinal, so none share their noise.
    start, first_text = tally.next
    source = Source(job, opened.aside, start, first_text, warn)
    with contextlib.ExitStack() as stack:
        module = source.open(stack)
        selection = job.selection
        fields = Fields(selection, module, warn)
        # What has left cannot be taken back when a field turns out to be in no record.
        passes = selection.missing == "pass" and not output.can_be_discarded
        held = HeldBack(output.stream, fields) if passes else None
        stream = held or output.stream
        writer = module.writer(stream, selection)  # type: ignore[arg-type]
        # A ledger is charged by records, which others would have read.
        parts = job.jobs > 1 and charging.entry is None
        tokenizer = None if job.any_language else pipeline.tokenizer
        language = Language(tokenizer, pipeline.lexicon.name, warn)
        tasks = _looked_at(source.tasks(parts=parts), language)
        later = charging
        if before is not None:
            tasks, later = _charged(tasks, pipeline, charging), FREE
        first = tally.records
        worker = Worker(pipeline, key, tally.meters)
        results: Iterable[tuple[Task, Done]] = ((task, worker(task)) for task in tasks)
        if job.jobs > 1:
            from dptext.engine import pool

            recipe = pool.Recipe.of(pipeline, key)
            workers = stack.enter_context(pool.started(recipe.worker, job.jobs, worker))
            results = pool.spread(workers, tasks, job.jobs)
        shown = stack.enter_context(progress())
        for task, done in results:
            later.charge(task.records, done.replaced)
            _write(writer, fields, task, done, source)
            tally.add(done.counted)
            tally.records = first + fields.records
            if shown is not None:
                shown(tally.records, tally.counted.words)
            del task, done  # memory for the next ones
            if job.flush:
                stream.flush()
        source.check_read(fields.records)
        source.check_unchanged()
        fields.check()
        language.close()
        writer.close()
        if held is not None:
            held.release()
    output.complete()
    if output.replaced:
        warn(
            f"{output.replaced} characters of new texts are not in "
            f"{selection.encoding} and were written as '?'"
        )
    tally.faults += source.faults
    tally.fields.update(fields.counts)
    copied = fields.copied if source.copied is None else source.copied
    tally.copied.update(dict.fromkeys(copied))
    tally.identifying.update(fields.identifying(copied))
    tally.seconds += time.monotonic() - began
    after = pipeline.decoder.used
    used = None if before is None or after is None else after.since(before)
    return Written(module.name, output.size, output.digest or "", source.copied, used)


def _looked_at(tasks: Iterable[Task], language: Language) -> Iterator[Task]:
    """Look whether the lexicon knows the words of records before they are private."""
    for task in tasks:
        language.look(task.records)
        yield task


def _charged(
    tasks: Iterable[Task], pipeline: Pipeline, charging: Charging
) -> Iterator[Task]:
    """Charge each batch before its draws leave for a third party."""
    for task in tasks:
        charging.charge(task.records, pipeline.replaced(task.records))
        charging.leave()
        yield task


def _write(
    writer: formats.Writer, fields: Fields, task: Task, done: Done, source: Source
) -> None:
    """Write the records of a batch and what stands between them, or a part."""
    for record, texts in zip(task.records, done.texts, strict=True):
        if isinstance(record.rest, Verbatim):
            writer.verbatim(record.rest)
        elif isinstance(record.rest, Fault):
            source.fault(record.rest)
        elif isinstance(record.rest, InputError):
            raise record.rest
        else:
            fields.add(record)
            writer.write(record, texts)
    for fault in done.faults:
        source.fault(fault)
    fields.merge(done.records, done.present)
    if done.data:
        assert isinstance(writer, formats.PieceWriter)
        writer.piece(done.data)


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the reports of a run go.

    The internal one as JSON and as a page; the public one to a file of its own, or
    beside each output as its sidecar, signed where there is a key.
    """

    internal: Path | None = None
    page: Path | None = None
    public: Path | None = None
    sidecar: bool = False
    key: Key | None = None

    def beside(self, job: Job) -> Path | None:
        """Return where a job's public report goes; devices have none beside them."""
        if self.public is not None:
            return self.public
        if job.output is None or not self.sidecar:
            return None
        target = Path(job.output)
        device = target.exists() and not target.is_file()
        return None if device else Path(job.output + SIDECAR)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a job writes to, opened: data, faulty records, and its public report."""

    output: streams.Output
    aside: streams.Aside | None = None
    public: streams.Output | None = None
    key: Key | None = None

    @classmethod
    def of(
        cls,
        job: Job,
        reports: Reports,
        release: streams.Release,
        *,
        held: bool = False,
    ) -> Opened:
        """Open what a job writes to, as a part of a release, the data first.

        held as in Output.
        """
        output = release.open(job.output, job.selection.encoding, held=held)
        aside, beside = None, reports.beside(job)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            aside = release.aside(job.quarantine)
        public = None if beside is None else release.open(str(beside))
        return cls(output, aside, public, reports.key)


class Run:
    """Settings made ready, a key, and what the jobs so far have counted."""

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        *,
        bayes_risk: bool = True,
        account: Account | None = None,
        measures: PublicMeasures | None = None,
        start: Start = BEGIN,
        warn: Callable[[str], None],
        progress: Progressing = nullcontext,
    ) -> None:
        """Begin; warn and what progress yields during a job are those of `run_job`.

        account is the ledger that each output is recorded in, if one is; measures are
        those of the pipeline, where they are known; start is what comes before.
        """
        self.pipeline = pipeline
        self.key = key
        self._bayes_risk = bayes_risk
        self._warn = warn
        self._progress = progress
        self._account = account
        self._token: str | None = None
        self._measures = measures
        self.tally = Tally.of(pipeline.lexicon, start)
        if key.origin != "system" and pipeline.decoder.note:
            warn(pipeline.decoder.note)  # equal keys are to give equal bytes

    def release_all(
        self, jobs: Sequence[Job], reports: Reports, folder: Path
    ) -> list[tuple[Job, Written]]:
        """Carry out jobs one after the other; return those that were not done already.

        With resume, outputs that are done by the manifest of the folder stay.
        """
        resumes = any(job.resume for job in jobs)
        kept = Manifest(folder, self.pipeline, self.key) if resumes else None
        released = []
        for job in jobs:
            start = self.tally.next.records
            work = "" if kept is None else kept.work(job, start)
            beside = reports.beside(job)
            read = None if kept is None else kept.done(job, work, beside)
            if read is not None:
                self.tally.pass_over(read)
                continue
            written = self.release(job, reports)
            released.append((job, written))
            # What was written is noted only if it is of the input that was named.
            if kept is not None and kept.work(job, start) == work:
                kept.add(job, work, self.tally.next.records - start, written)
        return released

    def release(self, job: Job, reports: Reports) -> Written:
        """Carry out a job of several: its output appears with its sidecar."""
        with streams.Release() as release:
            held = self._account is not None
            opened = Opened.of(job, reports, release, held=held)
            with self.charging(opened) as charging:
                written = self.carry_out(job, opened, charging)
                release.complete()
                charging.leave()
                release.commit()
        return written

    def charging(self, opened: Opened | None) -> AbstractContextManager[Charging]:
        """Record an output for a block, in the ledger of the run if it has one."""
        if opened is None:
            return nullcontext(charging.FREE)
        promise = build.promised(self.pipeline, self.key.origin)
        part = opened.output.part
        if self.pipeline.decoder.used is not None:
            part = None  # what is sent has left, whatever becomes of the output
        return charging.charging(self._account, self.pipeline, self.key, promise, part)

    def carry_out(self, job: Job, opened: Opened, charging: Charging) -> Written:
        """Carry out a job and write its public report."""
        self._token = charging.token
        written = run_job(
            job,
            self.pipeline,
            self.key,
            self.tally,
            opened,
            charging=charging,
            progress=self._progress,
            warn=self._warn,
        )
        if opened.public is not None:
            public = document.public(self.report(job, [written]))
            encoded = document.encode(public)
            opened.public.stream.write(signatures.signed(encoded, opened.key))
        return written

    @property
    def measures(self) -> PublicMeasures:
        """Return what is measured on public data, once for all outputs."""
        if self._measures is None:
            self._measures = PublicMeasures.of(self.pipeline, self._bayes_risk)
        return self._measures

    def report(self, job: Job, written: Sequence[Written]) -> Document:
        """Return the internal report of what was done so far."""
        return build.finished(
            self.pipeline,
            job,
            self.key,
            self.tally,
            written,
            self.measures,
            self._recorded(len(written)),
        )

    def _recorded(self, outputs: int) -> Recorded | None:
        account = self._account
        if account is None:
            return None
        limits = SubjectLimit(account.subject, account.limit.nats, account.limit.delta)
        token = self._token if outputs == 1 else None
        return Recorded(account.ledger.id, token, limits)
