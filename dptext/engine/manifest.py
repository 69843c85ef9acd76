"""The finished outputs of a folder, so that `--resume` makes the others only."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
from pathlib import Path

import msgspec

from dptext import settings
from dptext.engine.job import Job, Written
from dptext.errors import OutputError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey

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
