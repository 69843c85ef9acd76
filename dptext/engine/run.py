"""The jobs of a run, one after the other, each with its public report.

A job is read, made private and written batch after batch: here, or by the processes of
dptext.engine.pool, which give the same bytes. With a ledger, each record is charged to
its subject before it is written (dptext.engine.charging).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from dptext import formats
from dptext.engine import documents
from dptext.engine.job import (
    Job,
    Progress,
    Recipe,
    Task,
    TaskResult,
    Warn,
    Worker,
    Written,
    pseudonym_function,
)
from dptext.engine.manifest import Manifest
from dptext.engine.shuffled import Shuffled
from dptext.engine.source import Source, location
from dptext.engine.survey import Fields, HeldBack, Language
from dptext.engine.tally import BEGIN, Start, Tally
from dptext.errors import InputError
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import document, signatures
from dptext.report.document import Document
from dptext.report.layout import SIDECAR
from dptext.report.signatures import Key
from dptext.streams.outputs import OutputFile, Quarantine, Release
from dptext.types import Fault, Strategy, Verbatim

if TYPE_CHECKING:  # runs without a ledger load nothing of it
    from dptext.engine.charging import Account, Charging

# Records of a batch that a third party is asked about.
_ASKED = 256
# Looks at a complete output that nobody can read yet, and raises what stops it.
Inspect = Callable[[Job, Written, OutputFile], None]
# What shows how far a job is, during a block.
Progressing = Callable[[], AbstractContextManager[Progress | None]]


@dataclass(frozen=True, slots=True)
class Reports:
    """Files for the reports of a run."""

    #: The internal report as JSON.
    internal: Path | None = None
    #: The internal report as a page.
    page: Path | None = None
    #: The public report; None for a sidecar beside each output.
    public: Path | None = None
    #: Whether outputs have public reports beside them.
    sidecar: bool = False
    #: Signs public reports.
    key: Key | None = None

    def public_path(self, job: Job) -> Path | None:
        """Return the path of a job's public report; devices have none beside them."""
        if self.public is not None:
            return self.public
        if job.output is None or not self.sidecar:
            return None
        target = Path(job.output)
        device = target.exists() and not target.is_file()
        return None if device else Path(job.output + SIDECAR)


class JobOutputs(NamedTuple):
    """The open files of a job."""

    release: Release
    output: OutputFile
    #: For faulty records.
    aside: Quarantine | None
    #: For the public report.
    public: OutputFile | None
    #: Signs the public report.
    key: Key | None

    @classmethod
    def open(
        cls,
        job: Job,
        reports: Reports,
        release: Release,
        *,
        held: bool = False,
    ) -> JobOutputs:
        """Open the files of a job as a part of a release, the data first.

        held as in OutputFile.
        """
        output = release.open(job.output, job.selection.encoding, held=held)
        aside, beside = None, reports.public_path(job)
        if job.on_error == "quarantine" and job.quarantine is not None:
            # For the user's eyes only: it holds original text.
            aside = release.open_quarantine(job.quarantine)
        public = None if beside is None else release.open(str(beside))
        return cls(
            release=release, output=output, aside=aside, public=public, key=reports.key
        )


class Run:
    """A pipeline, a key, and the counts of the jobs so far."""

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        *,
        bayes_risk: bool | None = None,
        account: Account | None = None,
        measures: PublicMeasures | None = None,
        start: Start = BEGIN,
        inspect: Inspect | None = None,
        warn: Warn,
        progress: Progressing = nullcontext,
    ) -> None:
        """Begin a run.

        bayes_risk: whether to measure the risk, None: where it is quick; account:
        ledger of the outputs; measures: those of the pipeline, if they are known;
        start: records and texts before this run; inspect: looks at each output before
        it leaves; warn: takes lines for people; progress: shows how far a job is.
        """
        self.pipeline = pipeline
        self.key = key
        self.tally = Tally.begin(pipeline.lexicon, start)
        self._bayes_risk, self._measures = bayes_risk, measures
        self._warn, self._progress = warn, progress
        self._account = account
        self.inspect = inspect
        self._public = PublicRows(pipeline.lexicon)
        self._charged: Charging | None = None
        if key.origin != "system" and pipeline.decoder.note:
            # The user expects equal bytes from equal keys.
            warn(pipeline.decoder.note)

    def release_all(
        self, jobs: Sequence[Job], reports: Reports, folder: Path
    ) -> list[tuple[Job, Written]]:
        """Carry out jobs one after the other; return those that were not finished yet.

        With resume, outputs that are finished by the manifest of the folder stay.
        """
        resumes = any(job.resume for job in jobs)
        kept = Manifest(folder, self.pipeline, self.key) if resumes else None
        released = []
        for job in jobs:
            if kept is None:
                released.append((job, self.release(job, reports)))
                continue
            start = self.tally.next.records
            work = kept.work(job, start)
            read = kept.done(job, work, reports.public_path(job))
            if read is not None:
                self.tally.pass_over(read)
                continue
            written = self.release(job, reports)
            released.append((job, written))
            # An input that changed meanwhile made another output: it is not noted.
            if kept.work(job, start) == work:
                kept.add(job, work, self.tally.next.records - start, written)
        return released

    @property
    def holds(self) -> bool:
        """Tell whether nothing may leave before an output is complete."""
        return self._account is not None or self.inspect is not None

    def release(self, job: Job, reports: Reports) -> Written:
        """Carry out a job of several: its output appears with its sidecar."""
        with Release() as release:
            opened = JobOutputs.open(job, reports, release, held=self.holds)
            with self.releasing(job, opened) as written:
                return written

    @contextlib.contextmanager
    def releasing(self, job: Job, opened: JobOutputs) -> Iterator[Written]:
        """Carry out a job; its release appears as a whole when the block succeeds.

        Raises InputError at the first faulty record if on_error is "fail", if no record
        could be read, and if no record has a selected field; RefusedError if a subject
        would lose too much, and without guarantee; StoppedError from `inspect`;
        UsageError if input and output, lexicon and script, or settings and ledger do
        not go together.
        """
        with self._charging(opened.output.part) as charging:
            self._charged = charging
            written = self._carry_out(job, opened, charging)
            if self.inspect is not None:
                self.inspect(job, written, opened.output)
            if opened.public is not None:
                public = document.encode(document.public(self.report(job, [written])))
                opened.public.stream.write(signatures.sign(public, opened.key))
            yield written
            opened.release.complete()
            if charging is not None:
                charging.leave()
            opened.release.commit()

    def _charging(self, part: Path | None) -> AbstractContextManager[Charging | None]:
        """Record an output in the ledger, if there is one, for a block.

        part: the hidden file of the unfinished output.
        """
        if self._account is None:
            return nullcontext()
        return self._account.charging(self.pipeline, self.key, part)

    def _carry_out(
        self, job: Job, opened: JobOutputs, charging: Charging | None
    ) -> Written:
        """Read, make private and write all records of a job, and count them."""
        began, pipeline, tally = time.monotonic(), self.pipeline, self.tally
        before = pipeline.decoder.used
        if before is not None:
            # One process bounds the requests under way; small batches show how far.
            job = replace(job, jobs=1, batch_size=min(job.batch_size, _ASKED))
        output, selection = opened.output, job.selection
        for name in job.inputs:
            self._public.check_file(name)
        # No two records of a run have the same ordinal, so none share their noise.
        source = Source(job, opened.aside, *tally.next, self._warn)
        with contextlib.ExitStack() as stack:
            module = source.open(stack)
            fields = Fields(selection, module, self._warn)
            # An output that has left cannot be withdrawn if a field proves absent.
            may_be_absent = selection.missing == "pass" or bool(selection.changed)
            waits = may_be_absent and not output.can_be_discarded
            held = HeldBack(output.stream, fields) if waits else None
            stream = held or output.stream
            writer = self._writer(job, module, stream)  # type: ignore[arg-type]
            tokenizer = None if job.any_language else pipeline.tokenizer
            language = Language(
                tokenizer, pipeline.lexicon.name, self._warn, self._public
            )
            # A ledger is charged by records, and these are shuffled one by one.
            parts = job.jobs > 1 and charging is None and not job.shuffle
            tasks = self._looked_at(source.tasks(parts=parts), language, charging)
            results = self._done(tasks, job.jobs, stack, self._key_for(job))
            first = tally.records
            shown = stack.enter_context(self._progress())
            for task, done in results:
                if charging is not None and before is None:
                    charging.charge(task.records, done.replaced)
                _write(
                    writer=writer, fields=fields, task=task, done=done, source=source
                )
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
            if writer.note:
                self._warn(f"{', '.join(map(location, job.inputs))}: {writer.note}")
            if held is not None:
                held.release()
        output.complete()
        if output.replaced:
            self._warn(
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
        return Written(
            format=module.name,
            bytes=output.size,
            sha256=output.digest or "",
            copied=source.copied,
            used=used,
        )

    def _writer(
        self, job: Job, module: formats.Format, stream: BinaryIO
    ) -> formats.Writer:
        """Return the writer of the records of a job."""
        token = pseudonym_function(job.selection, self.key)
        writer = module.writer(stream, job.selection, token)
        return Shuffled(writer, self.pipeline, self.key) if job.shuffle else writer

    def _looked_at(
        self, tasks: Iterable[Task], language: Language, charging: Charging | None
    ) -> Iterator[Task]:
        """Check the language of records, and charge those sent to a third party."""
        sent = self.pipeline.decoder.used is not None
        for task in tasks:
            language.look(task.records)
            if sent and charging is not None:
                charging.charge(task.records, self.pipeline.replaced(task.records))
                charging.leave()
            yield task

    def _key_for(self, job: Job) -> RunKey:
        """Return the key of an output.

        Repeated ids are counted inside one output only. So if no key file repeats
        draws, each output with ids gets independent draws; a key file repeats them for
        each id and text.
        """
        is_shared = self.pipeline.profile.strategy is Strategy.DATA_SET
        if self.key.origin != "system" or job.selection.id_field is None or is_shared:
            return self.key
        return self.key.for_output(job.output or "")

    def _done(
        self,
        tasks: Iterable[Task],
        jobs: int,
        stack: contextlib.ExitStack,
        key: RunKey,
    ) -> Iterator[tuple[Task, TaskResult]]:
        """Carry out tasks here, or in processes that end with the stack."""
        worker = Worker(self.pipeline, key, self.tally.meters)
        if jobs == 1:
            return ((task, worker(task)) for task in tasks)
        from dptext.engine import pool

        recipe = Recipe.from_pipeline(self.pipeline, key)
        workers = stack.enter_context(pool.started(recipe.worker, jobs, worker))
        return pool.spread(workers, tasks)

    @property
    def measures(self) -> PublicMeasures:
        """Return the measures on public data, computed once for all outputs."""
        if self._measures is None:
            self._measures = PublicMeasures.measure(self.pipeline, self._bayes_risk)
        return self._measures

    def report(self, job: Job, written: Sequence[Written]) -> Document:
        """Return the internal report of the jobs so far."""
        recorded = None
        if self._account is not None:
            charged = self._charged if len(written) == 1 else None
            recorded = self._account.recorded(charged)
        return documents.finished(
            pipeline=self.pipeline,
            job=job,
            key=self.key,
            tally=self.tally,
            written=written,
            measures=self.measures,
            recorded=recorded,
        )


def _write(
    writer: formats.Writer, fields: Fields, task: Task, done: TaskResult, source: Source
) -> None:
    """Write the records of a batch with the bytes between them, or a part."""
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
    fields.merge(done.present)
    if done.data:
        assert isinstance(writer, formats.LineWriter)
        writer.piece(done.data)
