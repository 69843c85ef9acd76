"""The jobs of a run, each with its public report, and the manifest of a folder.

The jobs of a run, one after the other, each with its public report.

Which outputs of a folder are done: a hidden file in it, for its owner only.

A line says of one output its digest, and a keyed digest of all that its bytes follow
from: the input, the settings and the records before it. Whoever lacks the key can try
no input out, and writes no line that counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dptext import settings, streams
from dptext.engine import charging, serial
from dptext.engine.charging import Account, Charging
from dptext.engine.serial import Job, Progress, Sinks, Written
from dptext.engine.tally import BEGIN, Start, Tally
from dptext.errors import OutputError
from dptext.guarantees.terms import SubjectLimit
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import build, document, signatures
from dptext.report.document import Document, Recorded
from dptext.report.exports import SIDECAR
from dptext.report.signatures import Key

NAME = ".dptext-manifest"


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One output: name and sha256; work, the keyed digest of what it follows from.

    read, how many records its input has, those that were left out included; seal, that
    of the other fields.
    """

    output: str
    sha256: str
    work: str
    read: int
    seal: str = ""


class Manifest:
    """What is known of the outputs of a folder, under one key and pipeline."""

    def __init__(self, folder: Path, pipeline: Pipeline, key: RunKey) -> None:
        self._path = folder / NAME
        self._folder = folder
        self._identity = pipeline.identity
        purpose = b"dptext/manifest/"
        self._key = hashlib.blake2b(purpose, key=key.secret, digest_size=32).digest()
        self._lines = {line.output: line for line in self._read()}

    def work(self, job: Job, start: int) -> str:
        """Return the keyed digest of what an output follows from.

        start is the number of records of the run before it.
        """
        (source,) = job.inputs
        parts = (
            *(
                settings.digest_of_path(source),
                self._identity,
                job.selection,
                job.format,
            ),
            *(job.on_error, Path(job.output or "").name, start),
        )
        return self._keyed(msgspec.json.encode(parts, order="deterministic"))

    def done(self, job: Job, work: str, beside: Path | None) -> int | None:
        """Return how many records an output that is done was made from, else None."""
        line = self._lines.get(self._name(job))
        if line is None or line.work != work or not self._is_sealed(line):
            return None
        output = Path(job.output or "")
        if not output.is_file() or settings.digest_of_path(output) != line.sha256:
            return None
        return line.read if beside is None or beside.is_file() else None

    def add(self, job: Job, work: str, read: int, written: Written) -> None:
        """Note that an output is done, on the disk when this returns."""
        line = Line(self._name(job), written.sha256, work, read)
        line.seal = self._seal(line)
        self._lines[line.output] = line
        try:
            with open(os.open(self._path, _FLAGS, 0o600), "ab") as file:
                # What a killed run left of a line ends here.
                file.write(b"\n" + msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: {error.strerror}") from None

    def _name(self, job: Job) -> str:
        return os.path.relpath(job.output or "", self._folder)

    def _read(self) -> list[Line]:
        lines = []
        with contextlib.suppress(FileNotFoundError):
            for data in self._path.read_bytes().splitlines():
                with contextlib.suppress(msgspec.DecodeError):
                    lines.append(msgspec.json.decode(data, type=Line))
        return lines

    def _seal(self, line: Line) -> str:
        return self._keyed(msgspec.json.encode(msgspec.structs.replace(line, seal="")))

    def _is_sealed(self, line: Line) -> bool:
        return hmac.compare_digest(self._seal(line), line.seal)

    def _keyed(self, data: bytes) -> str:
        return hashlib.blake2b(data, key=self._key, digest_size=32).hexdigest()


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


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
        return written

    def charging(self, opened: Opened | None) -> AbstractContextManager[Charging]:
        """Record an output for a block, in the ledger of the run if it has one."""
        if opened is None:
            return nullcontext(charging.FREE)
        promise = build.promised(self.pipeline, self.key.origin)
        part = opened.sinks.output.part
        return charging.charging(self._account, self.pipeline, self.key, promise, part)

    def carry_out(self, job: Job, opened: Opened, charging: Charging) -> Written:
        """Carry out a job and write its public report."""
        self._token = charging.token
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
