"""Outputs of earlier runs: prevents drawing a finished output anew.

Two versions of a text with different draws reveal more than one. So a run into a folder
stops before it draws anew an output that a manifest or a public report shows to be
finished, and a run that replaces a single output says so. The manifest of a folder
names its finished outputs, so that `--resume` writes only the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Annotated

import msgspec

from dptext import settings, streams
from dptext.engine.files import SignedReports, is_folder
from dptext.engine.job import Job, Written
from dptext.errors import OutputError, UsageError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import document
from dptext.report.document import Document
from dptext.report.layout import Layout, sidecar_path
from dptext.run.interface import option
from dptext.run.work import SIDECAR
from dptext.settings import digest_of_data
from dptext.types import JsonObject

MANIFEST = ".dptext-manifest"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
# Values of `Job.on_error` with which a run leaves faulty records out.
_LEAVE_OUT = ("skip", "quarantine")


Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class ManifestLine(msgspec.Struct, forbid_unknown_fields=True):
    """An output finished by a run."""

    #: Path inside the folder.
    output: str
    sha256: Digest
    #: Keyed digest of everything besides the input that decides its draws.
    draws: Digest
    #: Keyed digest of everything that decides its bytes.
    work: Digest
    #: Keyed digest of the other fields.
    seal: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""


def is_manifest(path: Path) -> bool:
    """Return whether a file is a manifest, by its name and every line."""
    if path.name != MANIFEST or path.is_symlink() or not path.is_file():
        return False
    try:
        for line in filter(None, path.read_bytes().split(b"\n")):
            msgspec.json.decode(line, type=ManifestLine)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _digest_of_input(job: Job) -> str:
    """Return the digest of a job's only input, "" if it cannot be read."""
    (source,) = job.inputs
    with contextlib.suppress(OSError, UsageError):  # the job itself says so
        return settings.digest_of_path(source)
    return ""


class State(Enum):
    """The state of an output according to the manifest of its folder."""

    UNKNOWN = auto()
    #: Finished, with the bytes that the run would write.
    DONE = auto()
    #: Finished from another input or with other columns, with the same draws.
    OUTDATED = auto()
    #: Finished without faulty records of the same input, with another `Job.on_error`.
    OTHER_FAULTS = auto()
    #: Finished by other settings.
    OTHER_SETTINGS = auto()
    #: Finished under another key, or its line was edited.
    OTHER_KEY = auto()


class Manifest:
    """The finished outputs of a folder, in a hidden file for its owner only.

    A line holds the digest of one output, and keyed digests of everything that
    determines its draws and bytes: settings and input. Without the key nobody can test
    a guess of an input, or forge a line.
    """

    def __init__(self, folder: Path, pipeline: Pipeline, key: RunKey) -> None:
        self._folder, self._path = folder, folder / MANIFEST
        self._identity = pipeline.identity
        purpose = b"dptext/manifest/"
        self._key = hashlib.blake2b(purpose, key=key.secret, digest_size=32).digest()
        self._lines: dict[str, ManifestLine] = {}
        self._inputs: dict[str, str] = {}
        with contextlib.suppress(FileNotFoundError):
            for data in self._path.read_bytes().splitlines():
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    line = msgspec.json.decode(data, type=ManifestLine)
                    self._lines[line.output] = line

    @property
    def is_there(self) -> bool:
        """Return whether an earlier run recorded an output."""
        return bool(self._lines)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the recorded output paths in the folder, escaped to UTF-8."""
        return tuple(self._lines)

    def note_input(self, job: Job) -> None:
        """Compute the digest of an input before it is read."""
        self._inputs.setdefault(self._name(job), _digest_of_input(job))

    def _work(self, job: Job, on_error: str) -> str:
        """Return the keyed digest of everything that determines an output.

        on_error: as in Job, "" for an input without faulty records.
        """
        parts = (
            self._inputs[self._name(job)],
            self._draws(job),
            job.selection,
            job.format,
            on_error,
        )
        return self._keyed(msgspec.json.encode(parts, order="deterministic"))

    def state(self, job: Job) -> State:
        """Return the state of an output; its input is read if necessary."""
        line = self._lines.get(self._name(job))
        if line is None or not Path(job.output or "").is_file():
            return State.UNKNOWN
        if not hmac.compare_digest(self._seal(line).encode(), line.seal.encode()):
            return State.OTHER_KEY if self._is_whole(job, line) else State.UNKNOWN
        if line.draws != self._draws(job):
            return State.OTHER_SETTINGS
        self.note_input(job)
        if line.work in (self._work(job, ""), self._work(job, job.work.treatment)):
            return State.DONE if self._is_whole(job, line) else State.UNKNOWN
        if any(line.work == self._work(job, each) for each in _LEAVE_OUT):
            return State.OTHER_FAULTS
        return State.OUTDATED

    def add(self, job: Job, written: Written) -> None:
        """Record an output just before it appears; the line is then on disk.

        Skipped if the input changed since `note_input`.
        """
        name = self._name(job)
        if self._inputs[name] != _digest_of_input(job):
            return
        work = self._work(job, job.work.treatment if written.has_faults else "")
        line = ManifestLine(name, written.sha256, self._draws(job), work)
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

    def _draws(self, job: Job) -> str:
        parts = (
            self._identity,
            job.selection.fields,
            job.selection.id_field,
            os.fsencode(job.name or "").hex(),
        )
        return self._keyed(msgspec.json.encode(parts))

    def _is_whole(self, job: Job, line: ManifestLine) -> bool:
        """Return whether an output has the bytes recorded in a line."""
        output = Path(job.output or "")
        return output.is_file() and settings.digest_of_path(output) == line.sha256

    def _name(self, job: Job) -> str:
        """Return the path of an output in the folder, escaped to UTF-8 for JSON."""
        path = os.path.relpath(job.output or "", self._folder)
        return os.fsencode(path).decode("utf-8", "backslashreplace")

    def _seal(self, line: ManifestLine) -> str:
        return self._keyed(msgspec.json.encode(msgspec.structs.replace(line, seal="")))

    def _keyed(self, data: bytes) -> str:
        return hashlib.blake2b(data, key=self._key, digest_size=32).hexdigest()


_NO_KEY = "because runs without a key use fresh randomness"
_WITHOUT_KEY = "made without this key"
_REASONS = {
    State.OTHER_KEY: f"made with another key (or {MANIFEST} was edited)",
    State.OTHER_SETTINGS: "made with other settings",
}
# Why an output is made again with the same draws.
_CHANGES = {
    State.OUTDATED: "the input, the columns or the format changed",
    State.OTHER_FAULTS: "an earlier run treated faulty records differently",
}


class Earlier:
    """Compares the draws of a run with the draws of existing outputs."""

    def __init__(
        self, settings: JsonObject, lexicon: str, key: RunKey, reports: SignedReports
    ) -> None:
        """Take a run's settings and its lexicon's digest, as in reports."""
        self._key, self._reports = key, reports
        self._settings, self._lexicon = digest_of_data(settings), lexicon

    def check(self, folder: str, jobs: Sequence[Job], manifest: Manifest) -> str:
        """Raise UsageError if a job would draw a finished output of a folder anew.

        Returns a line on outputs that will be rewritten with the same draws from
        another input, or "".
        """
        anew, again = [], []
        changes: dict[str, None] = {}
        for job in jobs:
            state = manifest.state(job)
            reason = _REASONS.get(state)
            if state is State.UNKNOWN:
                reason = self._difference(job)
            if reason is not None:
                anew.append((job, reason if self._key.origin != "system" else _NO_KEY))
            elif state in _CHANGES:
                again.append(job)
                changes[_CHANGES[state]] = None
        if anew:
            job, reason = anew[0]
            advice = (
                "write to another folder, or remove outputs that nobody has received"
            )
            if reason == _NO_KEY:
                advice += "; with a key file, repeated runs give identical outputs"
            else:
                advice = f"use the key and settings of that run, {advice}"
            raise UsageError(
                f"{folder}: this run would draw {_counted(len(anew))} anew "
                f"({_first(folder, anew[0][0], len(anew))}), {reason}; a second "
                f"version of a text weakens protection: {advice}"
            )
        if not again:
            return ""
        kept = "records with the same id and text keep their words"
        if again[0].selection.id_field is None:
            kept = (
                "records keep their words up to the first added or removed record "
                f"({option('id')} FIELD keeps them for all unchanged records)"
            )
        return (
            f"{folder}: {_counted(len(again))} will be written again "
            f"({_first(folder, again[0], len(again))}), because "
            f"{' or '.join(changes)}; {kept}"
        )

    def replaced(self, job: Job) -> str:
        """Return a line on an earlier output that a job draws anew, or ""."""
        if self._difference(job) is None:
            return ""
        return (
            f"{job.output}: this output would replace an earlier one with different "
            "draws; share only one version of a text, as a second one weakens "
            "protection"
        )

    def _difference(self, job: Job) -> str | None:
        """Return why a job's draws differ from the report of its output, or None.

        None without an output that has a report, or if no difference is known, since a
        report does not identify the key.
        """
        report = self._report(job)
        if report is None:
            return None
        run, key = report.run, self._key.origin
        if "system" in (key, run.key):
            return _NO_KEY if key == "system" else _WITHOUT_KEY
        layout = Layout.from_selection(job.selection, {job.format or "jsonl"})
        mine = (key, self._settings, self._lexicon, layout.fields, layout.id_field)
        noted = (
            run.key,
            run.settings_digest,
            run.lexicon_digest,
            run.layout.fields,
            run.layout.id_field,
        )
        return None if mine == noted else _REASONS[State.OTHER_SETTINGS]

    def _report(self, job: Job) -> Document | None:
        """Return the public report beside an existing output, or None."""
        target = Path(job.output or "")
        if job.output is None or not target.is_file():
            return None
        public = self._reports.public_report
        report = _read_report(sidecar_path(target), target.name)
        if report is None and public is not None:
            report = _read_report(public, target.name)
        return report


def describe_orphans(
    folder: str, jobs: Sequence[Job], inputs: Sequence[str], manifest: Manifest
) -> str:
    """Return a line on outputs in a folder that match no input of a run.

    inputs: as named by the user; "" if none is a folder, as the outputs
    may then have other inputs. Only files that the manifest or a report beside them
    names are outputs.
    """
    sources = list(filter(is_folder, inputs))
    if not sources:
        return ""
    out, expected = Path(folder), {Path(job.output or "") for job in jobs}
    noted = {out / name for name in manifest.outputs}
    reported = {
        path.with_name(path.name.removesuffix(SIDECAR))
        for path in out.rglob(f"*{SIDECAR}")
    }
    orphans = [
        str(path.relative_to(out))
        for path in sorted((noted | reported) - expected)
        if path.is_file()
        # A file of this path counts, chosen for the run or not.
        if not any(Path(each, path.relative_to(out)).exists() for each in sources)
        if path in noted or _read_report(sidecar_path(path), path.name)
    ]
    if not orphans:
        return ""
    which = f"1 output ({orphans[0]}) has"
    if len(orphans) > 1:
        which = f"{len(orphans):,} outputs (first {orphans[0]}) have"
    return (
        f"{folder}: {which} no input in this run; if an original was deleted, also "
        "delete its copy and the copy's report"
    )


def _read_report(path: Path, name: str) -> Document | None:
    """Return a report if it is readable and belongs to an output of this name."""
    with contextlib.suppress(OSError, UsageError):
        report = document.decode(streams.read_small(path, "report"), path.name)
        if report.output is not None and report.output.file == name:
            return report
    return None


def _counted(outputs: int) -> str:
    return "1 finished output" if outputs == 1 else f"{outputs:,} finished outputs"


def _first(folder: str, job: Job, count: int) -> str:
    """Name the output of a job in its folder, as the first of `count`."""
    name = os.path.relpath(job.output or "", folder)
    return name if count == 1 else f"first {name}"
