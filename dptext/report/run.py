"""The jobs of a run, one after the other, each with its public report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from dptext import signatures, streams
from dptext.engines import charging, resuming, serial
from dptext.engines.charging import Account, Charging
from dptext.engines.manifest import Manifest
from dptext.engines.serial import Job, Progress, Sinks, Written
from dptext.engines.tally import BEGIN, Start, Tally
from dptext.guarantees.terms import SubjectLimit
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import assemble, document
from dptext.report.document import Document, Recorded
from dptext.report.exports import SIDECAR
from dptext.signatures import Key
from dptext.types import Selection


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the reports of a run go.

    The internal one as JSON and as a page; the public one to a file of its own, or
    beside each output as its sidecar, signed where there is a key.
    """

    internal: Path | None
    page: Path | None
    public: Path | None
    sidecar: bool
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
    """What a job writes to, opened: its data, and its public report."""

    sinks: Sinks
    public: streams.Output | None
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
        """Open what a job writes to, as a part of a release, the data first."""
        sinks = Sinks.of(job, release, held=held)
        beside = reports.beside(job)
        public = None if beside is None else release.open(str(beside))
        return cls(sinks, public, reports.key)


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
        progress: Callable[[], AbstractContextManager[Progress | None]] = nullcontext,
    ) -> None:
        """Begin; warn and what progress yields during a job are those of serial.run.

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
        self._selection: Selection | None = None
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
                release.commit(charging.leave)
        resuming.forget(job.output)
        return written

    def charging(self, opened: Opened | None) -> AbstractContextManager[Charging]:
        """Record an output for a block, in the ledger of the run if it has one."""
        if opened is None:
            return nullcontext(charging.FREE)
        promise = assemble.promised(self.pipeline, self.key.origin)
        part = opened.sinks.output.part
        return charging.charging(self._account, self.pipeline, self.key, promise, part)

    def carry_out(self, job: Job, opened: Opened, charging: Charging) -> Written:
        """Carry out a job and write its public report."""
        self._token = charging.token
        job = self._with_fields(job)
        with self._progress() as progress:
            written = serial.run(
                job,
                self.pipeline,
                self.key,
                self.tally,
                opened.sinks,
                charging=charging,
                progress=progress,
                warn=self._warn,
            )
        self._selection = written.selection
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
        return assemble.document(
            self.pipeline,
            self._with_fields(job),
            self.key,
            self.tally,
            written,
            self.measures,
            self._recorded(len(written)),
        )

    def _with_fields(self, job: Job) -> Job:
        """Return a job with the field that was detected in an earlier one."""
        if job.selection.fields or self._selection is None:
            return job
        return replace(job, selection=self._selection)

    def _recorded(self, outputs: int) -> Recorded | None:
        account = self._account
        if account is None:
            return None
        limits = SubjectLimit(account.subject, account.limit.nats, account.limit.delta)
        token = self._token if outputs == 1 else None
        return Recorded(account.ledger.id, token, limits)
