"""The jobs of a run, one after the other, each with its public report.

A job is read, made private and written batch after batch: here, or by the processes of
dptext.engine.pool, which give the same bytes. With a ledger, each record is charged to
its subject before it is written: the loss if its texts are replaced as a whole, by the
bound of the statement for texts with so many replaced words.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from dptext import formats, settings
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
from dptext.engine.shuffled import Shuffled
from dptext.engine.source import Source, find_subject, location
from dptext.engine.survey import Fields, HeldBack, Language
from dptext.engine.tally import BEGIN, Start, Tally
from dptext.errors import InputError, OutputError, RefusedError, UsageError
from dptext.guarantees.claims import SubjectLimit, TextLoss
from dptext.lexicons.public_rows import PublicRows
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.report import build, document, signatures
from dptext.report.document import Document
from dptext.report.exports import SIDECAR
from dptext.report.sections import Recorded
from dptext.report.signatures import Key
from dptext.streams.outputs import OutputFile, Quarantine, Release
from dptext.types import Fault, Notion, Record, Strategy, Verbatim

if TYPE_CHECKING:
    from dptext.ledger import Amount, Entry, Ledger, Limit

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


@dataclass(frozen=True, slots=True)
class Account:
    """A ledger and its rules for a run."""

    ledger: Ledger
    #: Field that names subjects.
    subject: str
    #: Most that each subject may lose.
    limit: Limit


@dataclass(frozen=True, slots=True)
class Charging:
    """Charges the records of one output before they are written."""

    #: Entry of the ledger; None charges nobody.
    entry: Entry | None = None
    #: Field that names subjects.
    subject: str = ""
    bound: TextLoss = field(default_factory=TextLoss)
    #: Delta of each replaced word.
    delta: float = 0.0
    #: Set if a key file makes draws repeatable: a second release of them costs nothing.
    randomness: Randomness | None = None

    def charge(self, batch: Sequence[Record], replaced: Iterable[int]) -> None:
        """Charge a batch; replaced: number of replaced words of each text.

        Raises RefusedError if a subject would lose more than its limit.
        """
        if self.entry is None:
            return
        from dptext.ledger import Charge

        counts, charges, keyed = iter(replaced), [], self.randomness
        for record in batch:
            amount = self._amount(islice(counts, len(record.texts)))
            if isinstance(record.rest, Verbatim):
                continue
            subject = find_subject(record, self.subject)
            nonce = None if keyed is None else keyed.nonce(record)
            charges.append(Charge(record.ordinal, subject, amount, nonce))
        self.entry.reserve(each for each in charges if any(each.amount))

    def leave(self) -> None:
        """Note in the ledger that the output leaves now."""
        if self.entry is not None:
            self.entry.leave()

    def _amount(self, replaced: Iterable[int]) -> Amount:
        """Return the joint loss bound of texts by their counts of replaced words."""
        from dptext.ledger import Amount

        total, each = self.bound.total, self.bound.each
        of_text = None if total is None else Amount.rounded_up(total).nats
        of_word = None if each is None else Amount.rounded_up(each).nats
        delta, lost = Amount.rounded_up(0.0, self.delta).delta, Amount(0, 0)
        for words in map(int, replaced):
            bounds = []
            if of_text is not None:
                bounds.append(of_text if words else 0)
            if of_word is not None:
                bounds.append(of_word * words)
            lost = lost.plus(Amount(min(bounds), delta * words))
        return lost


_MANIFEST = ".dptext-manifest"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


class ManifestLine(msgspec.Struct, forbid_unknown_fields=True):
    """A finished output."""

    #: Path inside the folder.
    output: str
    sha256: str
    #: Keyed digest of everything that decides its bytes.
    work: str
    #: Number of records of its input, faulty ones included.
    read: int
    #: Keyed digest of the other fields.
    seal: str = ""


class Manifest:
    """The finished outputs of a folder: a hidden file in it, for its owner only.

    A line holds the digest of one output, and a keyed digest of everything that decides
    its bytes: the input, the settings and the number of records before it. Without the
    key nobody can test a guess of an input, or forge a line.
    """

    def __init__(self, folder: Path, pipeline: Pipeline, key: RunKey) -> None:
        self._folder, self._path = folder, folder / _MANIFEST
        self._identity = pipeline.identity
        purpose = b"dptext/manifest/"
        self._key = hashlib.blake2b(purpose, key=key.secret, digest_size=32).digest()
        self._lines: dict[str, ManifestLine] = {}
        with contextlib.suppress(FileNotFoundError):
            for data in self._path.read_bytes().splitlines():
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    line = msgspec.json.decode(data, type=ManifestLine)
                    self._lines[line.output] = line

    def work(self, job: Job, start: int) -> str:
        """Return the keyed digest of everything that decides an output.

        start: number of records of the run before it.
        """
        (source,) = job.inputs
        name = Path(job.output or "").name
        parts = (
            settings.digest_of_path(source),
            self._identity,
            job.selection,
            job.format,
            job.on_error,
            name,
            start,
        )
        return self._keyed(msgspec.json.encode(parts, order="deterministic"))

    def done(self, job: Job, work: str, beside: Path | None) -> int | None:
        """Return the number of records of a finished output, None if it is not."""
        line, output = self._lines.get(self._name(job)), Path(job.output or "")
        if line is None or line.work != work or not output.is_file():
            return None
        sealed = hmac.compare_digest(self._seal(line).encode(), line.seal.encode())
        if not sealed or settings.digest_of_path(output) != line.sha256:
            return None
        return line.read if beside is None or beside.is_file() else None

    def add(self, job: Job, work: str, read: int, written: Written) -> None:
        """Note a finished output; the line is on the disk when this returns."""
        line = ManifestLine(self._name(job), written.sha256, work, read)
        line.seal = self._seal(line)
        self._lines[line.output] = line
        try:
            with open(os.open(self._path, _FLAGS, 0o600), "ab") as file:
                # A line end first: a killed run may have left a part of a line.
                file.write(b"\n" + msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: {error.strerror}") from None

    def _name(self, job: Job) -> str:
        """Return the path of an output in the folder, escaped to UTF-8 for JSON."""
        path = os.path.relpath(job.output or "", self._folder)
        return os.fsencode(path).decode("utf-8", "backslashreplace")

    def _seal(self, line: ManifestLine) -> str:
        return self._keyed(msgspec.json.encode(msgspec.structs.replace(line, seal="")))

    def _keyed(self, data: bytes) -> str:
        return hashlib.blake2b(data, key=self._key, digest_size=32).hexdigest()


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
        self._token: str | None = None
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
            written = self._carry_out(job, opened, charging)
            if self.inspect is not None:
                self.inspect(job, written, opened.output)
            if opened.public is not None:
                public = document.encode(document.public(self.report(job, [written])))
                opened.public.stream.write(signatures.sign(public, opened.key))
            yield written
            opened.release.complete()
            charging.leave()
            opened.release.commit()

    @contextlib.contextmanager
    def _charging(self, part: Path | None) -> Iterator[Charging]:
        """Record an output in the ledger, if there is one, for a block.

        part: the hidden file of the unfinished output.
        """
        account, pipeline = self._account, self.pipeline
        if account is None:
            yield Charging()
            return
        from dptext import ledger

        promise = build.promised(pipeline, self.key.origin)
        if promise.notion is Notion.NONE:
            raise RefusedError(
                "these settings have no guarantee, so a ledger cannot count losses; "
                "choose others, or leave --ledger out"
            )
        if promise.strategy is Strategy.DATA_SET:
            raise UsageError(
                "strategy data-set: one draw stands for words of several subjects, so "
                "a ledger cannot tell them apart; use token or record"
            )
        if promise.delta and not account.limit.delta:
            raise UsageError(
                f"the settings have a delta of {promise.delta:g} for each word, which "
                "adds up, too: give --limit-delta, as in 1e-6"
            )
        # Draws sent to a third party have left, even if the output is discarded.
        sent = pipeline.decoder.used is not None
        repeatable = self.key.origin == "key-file"
        with ledger.begin(
            account.ledger,
            account.limit,
            field=account.subject,
            settings=pipeline.identity,
            parts=[] if part is None or sent else [part],
        ) as entry:
            self._token = entry.token
            yield Charging(
                entry=entry,
                subject=account.subject,
                bound=promise.text_loss,
                delta=promise.delta,
                randomness=pipeline.randomness(self.key) if repeatable else None,
            )

    def _carry_out(self, job: Job, opened: JobOutputs, charging: Charging) -> Written:
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
            parts = job.jobs > 1 and charging.entry is None and not job.shuffle
            tasks = self._looked_at(source.tasks(parts=parts), language, charging)
            results = self._done(tasks, job.jobs, stack, self._key_for(job))
            first = tally.records
            shown = stack.enter_context(self._progress())
            for task, done in results:
                if before is None:
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
        self, tasks: Iterable[Task], language: Language, charging: Charging
    ) -> Iterator[Task]:
        """Check the language of records, and charge those sent to a third party."""
        sent = self.pipeline.decoder.used is not None
        for task in tasks:
            language.look(task.records)
            if sent and charging.entry is not None:
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
        account, recorded = self._account, None
        if account is not None:
            limit = account.limit
            limits = SubjectLimit(account.subject, limit.nats, limit.delta)
            token = self._token if len(written) == 1 else None
            recorded = Recorded(account.ledger.id, token, limits)
        return build.finished(
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
