"""The finished outputs of a folder, so that `--resume` makes the others only."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from enum import Enum, auto
from pathlib import Path
from typing import Annotated

import msgspec

from dptext import settings
from dptext.engine.job import Job, Written
from dptext.errors import OutputError, UsageError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey

MANIFEST = ".dptext-manifest"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
# Values of `Job.on_error` with which a run leaves faulty records out.
_LEAVE_OUT = ("skip", "quarantine")


Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class ManifestLine(msgspec.Struct, forbid_unknown_fields=True):
    """An output that a run finished."""

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
    """Tell whether a file is a manifest by its name, and by each of its lines."""
    if path.name != MANIFEST or path.is_symlink() or not path.is_file():
        return False
    try:
        for line in filter(None, path.read_bytes().split(b"\n")):
            msgspec.json.decode(line, type=ManifestLine)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _digest_of_input(job: Job) -> str:
    """Return the digest of the input of a job of one, "" if it cannot be read."""
    (source,) = job.inputs
    with contextlib.suppress(OSError, UsageError):  # the job itself says so
        return settings.digest_of_path(source)
    return ""


class State(Enum):
    """The state of an output, as the manifest of its folder tells it."""

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
    """The finished outputs of a folder: a hidden file in it, for its owner only.

    A line holds the digest of one output, and keyed digests of everything that decides
    its draws and its bytes: settings and input. Without the key nobody can test a guess
    of an input, or forge a line.
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
        """Tell whether an earlier run noted an output."""
        return bool(self._lines)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the paths in the folder that earlier runs noted, escaped to UTF-8."""
        return tuple(self._lines)

    def note_input(self, job: Job) -> None:
        """Take the digest of an input before it is read."""
        self._inputs.setdefault(self._name(job), _digest_of_input(job))

    def _work(self, job: Job, on_error: str) -> str:
        """Return the keyed digest of everything that decides an output.

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
        """Return the state of an output; its input is read for that if needed."""
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
        """Note an output that will appear at once; its line is on the disk then.

        It is not noted if its input changed since `note_input`.
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
        """Tell whether an output has the bytes that a line notes."""
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
