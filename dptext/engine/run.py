"""Runs jobs one after another, each with its public report.

A job is read, sanitized and written batch by batch: here, or by the processes of
dptext.engine.pool, which give the same bytes. With a ledger, each record is charged to
its subject before it is written (dptext.engine.charging).
"""

from __future__ import annotations

import contextlib
import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dptext import formats, signatures
from dptext.engine import documents
from dptext.engine.earlier import Earlier, Manifest, State
from dptext.engine.fields import SAMPLE, Fields, HeldBack
from dptext.engine.files import JobOutputs, SignedReports
from dptext.engine.job import (
    Job,
    Progress,
    Recipe,
    Shuffled,
    Task,
    TaskResult,
    Warn,
    Worker,
    Written,
    find_replacement,
)
from dptext.engine.language import Language
from dptext.engine.reading import JobRecords
from dptext.engine.source import Source, check_readable, location
from dptext.engine.tally import Tally
from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import document
from dptext.report.notebook import Report
from dptext.run.interface import noun, option
from dptext.streams.outputs import OutputFile, Release
from dptext.tokens import lists
from dptext.types import Fault, Record, Verbatim

if TYPE_CHECKING:  # runs without a ledger load nothing of it
    from dptext.engine.charging import Account, Charging


# Records of a batch that a third party is asked about.
_ASKED = 256
# Looks at a complete output that nobody can read yet, and raises what stops it.
Inspect = Callable[[Job, Written, OutputFile], None]
# What shows how far a job is, during a block.
Progressing = Callable[[], AbstractContextManager[Progress | None]]


class JobRun(ABC):
    """Executes jobs under a key, for words (`Run`) or vectors."""

    def __init__(
        self,
        key: RunKey,
        *,
        inspect: Inspect | None = None,
        warn: Warn,
        progress: Progressing = nullcontext,
    ) -> None:
        """Begin a run.

        inspect: checks each output before release; warn: receives warnings;
        progress: shows the progress of a job.
        """
        self.key = key
        self.inspect = inspect
        self._warn, self._progress = warn, progress
        self._charged: Charging | None = None

    @abstractmethod
    def earlier(self, reports: SignedReports) -> Earlier:
        """Return the comparison with earlier runs' outputs."""

    @property
    @abstractmethod
    def identifying(self) -> Mapping[str, str]:
        """Return the kinds of copied fields that look identifying."""

    @property
    def advice(self) -> str:
        """Return advice on copied fields that look identifying, "" for the usual."""
        return ""

    def copied(self, written: Sequence[Written]) -> tuple[tuple[str, ...], int]:
        """Return the copied fields, and the number of records sampled, 0 for all."""
        return (), 0

    @abstractmethod
    def stated(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the report of these outputs, without counts of private texts."""

    @abstractmethod
    def report(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the internal report on the jobs so far."""

    @abstractmethod
    def _carry_out(
        self, job: Job, opened: JobOutputs, charging: Charging | None
    ) -> Written:
        """Read, process, write and count all records of a job."""

    def _charging(
        self, job: Job, part: Path | None
    ) -> AbstractContextManager[Charging | None]:
        """Record an output in the ledger, if there is one, during a block.

        part: the hidden file of the unfinished output.
        """
        return nullcontext()

    @contextlib.contextmanager
    def releasing(self, job: Job, opened: JobOutputs) -> Iterator[Written]:
        """Execute a job; its release appears atomically when the block succeeds.

        Raises InputError at the first faulty record if on_error is "fail", if no record
        could be read, and if no record has a selected field; RefusedError if a subject
        would lose too much, or without a guarantee; StoppedError from `inspect`;
        UsageError if input and output, lexicon and script, or settings and ledger do
        not fit together.
        """
        with self._charging(job, opened.output.part) as charging:
            self._charged = charging
            written = self._carry_out(job, opened, charging)
            if self.inspect is not None:
                self.inspect(job, written, opened.output)
            if opened.public is not None:
                public = document.encode(document.public(self.stated(job, [written])))
                opened.public.stream.write(signatures.sign(public, opened.key))
            yield written
            opened.release.complete()
            if charging is not None:
                charging.leave()
            opened.release.commit()


class Run(JobRun):
    """A pipeline, a key, and counts of the jobs so far."""

    def __init__(
        self,
        pipeline: Pipeline,
        key: RunKey,
        *,
        bayes_risk: bool | None = None,
        account: Account | None = None,
        measures: PublicMeasures | None = None,
        texts: int = 0,
        **others: Any,
    ) -> None:
        """Begin a run.

        bayes_risk: whether to measure the risk, None: if it is quick; account:
        ledger of the outputs; measures: of the pipeline, if known;
        texts: number of texts before this run; others: as in JobRun.
        """
        super().__init__(key, **others)
        self.pipeline = pipeline
        self._account = account
        self.tally = Tally.begin(pipeline.lexicon, texts)
        self._bayes_risk, self._measures = bayes_risk, measures
        self._public = PublicRows(pipeline.lexicon)
        #: Jobs of several that have no output, as their input cannot be read.
        self.left_out: list[tuple[Job, InputError]] = []
        if key.origin != "system" and pipeline.decoder.note:
            # The user expects equal bytes from equal keys.
            self._warn(pipeline.decoder.note)

    def earlier(self, reports: SignedReports) -> Earlier:
        """Return the comparison with earlier runs' outputs."""
        settings = self.pipeline.profile.settings()
        return Earlier(settings, self.pipeline.lexicon.digest, self.key, reports)

    @property
    def identifying(self) -> Mapping[str, str]:
        """Return the kinds of copied fields that look identifying."""
        return self.tally.identifying

    def copied(self, written: Sequence[Written]) -> tuple[tuple[str, ...], int]:
        """Return the copied fields, and the number of records sampled, 0 for all."""
        is_exact = all(each.copied is not None for each in written)
        is_sampled = not is_exact and self.tally.records > SAMPLE
        return tuple(self.tally.copied), SAMPLE if is_sampled else 0

    def release_all(
        self,
        jobs: Sequence[Job],
        reports: SignedReports,
        kept: Manifest | None = None,
        check: Callable[[Job], object] = lambda job: None,
    ) -> list[tuple[Job, Written]]:
        """Execute jobs one by one; return the jobs with new outputs.

        kept: the folder's manifest, which records them; with resume, outputs that it
        lists as finished stay; check: raises UsageError for a job whose output another
        run has finished since. An unreadable input is skipped, unless
        on_error is "fail".
        """
        released = []
        for job in jobs:
            beside = reports.public_path(job.output)
            is_complete = beside is None or beside.is_file()
            if kept is not None and job.outputs.resume and is_complete:
                if kept.state(job) is State.DONE:
                    continue
            counted = self.tally.counted, self.tally.records
            try:
                check_readable(job)
                if kept is None:
                    written = self.release(job, reports, check=check)
                else:
                    kept.note_input(job)
                    written = self.release(job, reports, partial(kept.add, job), check)
            except InputError as error:
                self.leave_out(job, error)
                self.tally.counted, self.tally.records = counted
            else:
                released.append((job, written))
        return released

    def leave_out(self, job: Job, error: InputError) -> None:
        """Record that the input of one of several jobs cannot be read.

        Raises InputError if on_error is "fail".
        """
        if job.work.treatment != "fail":
            self.left_out.append((job, error))
            self._warn(f"file left out: {error}")
            return
        if isinstance(error, UnknownFieldError) or noun("on-error") in str(error):
            raise error
        raise InputError(
            f"{error} ({option('on-error', 'skip')} skips this file and continues)"
        )

    @property
    def holds(self) -> bool:
        """Return whether output must be held until complete."""
        return self._account is not None or self.inspect is not None

    def release(
        self,
        job: Job,
        reports: SignedReports,
        note: Callable[[Written], None] = lambda written: None,
        check: Callable[[Job], object] = lambda job: None,
    ) -> Written:
        """Execute one of several jobs; its output appears with its sidecar.

        note is called before that, so a killed run has recorded all existing outputs.
        check is called first; an output that appears later is detected at the end.
        """
        with Release() as release:
            opened = JobOutputs.open(job, reports, release, held=self.holds)
            check(job)
            with self.releasing(job, opened) as written:
                note(written)
                return written

    def _charging(
        self, job: Job, part: Path | None
    ) -> AbstractContextManager[Charging | None]:
        if self._account is None:
            return nullcontext()
        return self._account.charging(
            self.pipeline, self.key, part, self._draw_name(job)
        )

    def _carry_out(
        self, job: Job, opened: JobOutputs, charging: Charging | None
    ) -> Written:
        began, pipeline, tally = time.monotonic(), self.pipeline, self.tally
        before = pipeline.decoder.used
        if before is not None:
            job = _asking(job)
        output, selection = opened.output, job.selection
        for name in job.inputs:
            self._public.check_file(name)
        with contextlib.ExitStack() as stack:
            reading = JobRecords(
                job,
                stack,
                aside=opened.aside,
                language=self._language(job),
                warn=self._warn,
                texts=tally.next_text,
                kept=lists.entries(pipeline.profile.tokens.keep),
            )
            source, fields = reading.source, reading.fields
            # An output that has left cannot be withdrawn if a field proves absent.
            may_be_absent = selection.missing == "pass" or bool(selection.changed)
            waits = may_be_absent and not output.can_be_discarded
            held = HeldBack(output.stream, fields) if waits else None
            stream = held or output.stream
            writer = self._writer(job, reading.format, stream)  # type: ignore[arg-type]
            aside = self._aside(job, reading.format)
            draws_by = self._draw_name(job)
            # A ledger is charged by records, and these are shuffled one by one.
            parts = job.work.jobs > 1 and charging is None and not job.outputs.shuffle
            results = reading.results(
                source.tasks(parts=parts),
                Worker(pipeline, self.key, tally.meters, draws_by),
                self._workers(job, draws_by),
                None if before is None else partial(self._charge_sent, charging),
            )
            first = tally.records
            shown = stack.enter_context(self._progress())
            for task, done in results:
                if charging is not None and before is None:
                    charging.charge(task.records, done.replaced)
                _write(
                    task, done, writer=writer, fields=fields, source=source, aside=aside
                )
                tally.add(done.counted)
                tally.records = first + fields.records
                if shown is not None:
                    shown(tally.records, tally.counted.words)
                del task, done  # memory for the next ones
                if job.outputs.line_buffered:
                    stream.flush()
            reading.close()
            writer.close()
            if writer.note:
                self._warn(f"{', '.join(map(location, job.inputs))}: {writer.note}")
            if held is not None:
                held.release()
        output.complete()
        if output.replaced:
            self._warn(
                f"characters of new texts that {selection.encoding} lacks were "
                f"written as '?': {output.replaced}"
            )
        self._count(source, fields)
        tally.seconds += time.monotonic() - began
        after = pipeline.decoder.used
        used = None if before is None or after is None else after.since(before)
        return Written(
            format=reading.format.name,
            bytes=output.size,
            sha256=output.digest or "",
            copied=source.copied,
            sheets=source.sheets,
            used=used,
            has_faults=bool(source.faults),
        )

    def _count(self, source: Source, fields: Fields) -> None:
        """Count the records and fields of a completely read job."""
        tally = self.tally
        tally.faults += source.faults
        tally.others += source.others
        tally.fields.update(fields.counts)
        copied = fields.copied if source.copied is None else source.copied
        tally.copied.update(dict.fromkeys(copied))
        tally.identifying.update(fields.identifying(copied))

    def _language(self, job: Job) -> Language:
        known = None if job.any_language else self.pipeline.tokenizer
        return Language(known, self.pipeline.lexicon.name, self._warn, self._public)

    def _writer(
        self, job: Job, module: formats.Format, stream: BinaryIO
    ) -> formats.Writer:
        replacement = find_replacement(job.selection, self.key)
        writer = module.writer(stream, job.selection, replacement)
        if not job.outputs.shuffle:
            return writer
        return Shuffled(writer, self.pipeline, self.key, self._draw_name(job))

    def _aside(self, job: Job, module: formats.Format) -> Callable[[Record], bytes]:
        """Return the function that serialises a record in another language unchanged.

        Raises UsageError for a format that cannot separate records.
        """
        replacement = find_replacement(job.selection, self.key)

        def lines(record: Record) -> bytes:
            out = io.BytesIO()
            module.writer(out, job.selection, replacement).write(record, record.texts)
            return out.getvalue()

        if job.selection.other_language == "quarantine":
            if not isinstance(
                module.writer(io.BytesIO(), job.selection, replacement),
                formats.LineWriter,
            ):
                raise UsageError(
                    f"{option('other-language', 'quarantine')}: records of this format "
                    f"are not lines; use {option('other-language', 'drop')}, or JSON "
                    "Lines, CSV, TSV or text"
                )
        return lines

    def _workers(self, job: Job, name: str | None) -> Callable[[], Worker] | None:
        """Return the worker factory for other processes, None for a single process."""
        if job.work.jobs == 1:
            return None
        return partial(Recipe.from_pipeline(self.pipeline, self.key).worker, name)

    def _charge_sent(self, charging: Charging | None, task: Task) -> None:
        """Charge a task's records that a third party sees."""
        if charging is not None:
            charging.charge(task.records, self.pipeline.replaced(task.records))
            charging.leave()

    def _draw_name(self, job: Job) -> str | None:
        """Return the name that an output's draws depend on, or None.

        Records are numbered per output, and repeated ids counted, so its name keeps
        outputs of a run from sharing draws. With ids, a key file or seed repeats
        the draws of each id and text, wherever the record is.
        """
        is_by_id = job.selection.id_field is not None
        return None if is_by_id and self.key.origin != "system" else job.name

    @property
    def measures(self) -> PublicMeasures:
        """Return the measurements on public data, computed once for all outputs."""
        if self._measures is None:
            self._measures = PublicMeasures.measure(self.pipeline, self._bayes_risk)
        return self._measures

    def stated(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the report of these outputs, without counts of private texts."""
        recorded = None
        if self._account is not None:
            charged = self._charged if len(written) == 1 else None
            recorded = self._account.recorded(charged)
        return documents.released(
            pipeline=self.pipeline,
            job=job,
            key=self.key,
            written=written,
            measures=self.measures,
            recorded=recorded,
        )

    def report(self, job: Job, written: Sequence[Written]) -> Report:
        """Return the internal report on the jobs so far."""
        document = self.stated(job, written)
        return documents.counted(document, self.pipeline, self.tally, job.inputs)


def _asking(job: Job) -> Job:
    """Return a job with small batches if a third party sees its records.

    One process bounds the pending requests; small batches show progress.
    """
    size = min(job.batch_size, _ASKED)
    return replace(job, work=replace(job.work, jobs=1, batch_size=size))


def _write(
    task: Task,
    done: TaskResult,
    *,
    writer: formats.Writer,
    fields: Fields,
    source: Source,
    aside: Callable[[Record], bytes],
) -> None:
    """Write a part, or a batch's records with the bytes between them."""
    for record, texts in zip(task.records, done.texts, strict=True):
        if isinstance(record.rest, Verbatim):
            fields.look(record.rest)
            writer.verbatim(record.rest)
        elif isinstance(record.rest, Fault):
            source.fault(record.rest)
        elif isinstance(record.rest, InputError):
            raise record.rest
        elif texts is None:
            source.leave_out(1, aside(record))
        else:
            fields.add(record, texts)
            writer.write(record, texts)
    for fault in done.faults:
        source.fault(fault)
    source.leave_out(done.others, done.left_out)
    fields.merge(done.present)
    if done.data:
        assert isinstance(writer, formats.LineWriter)
        writer.piece(done.data)
