"""Which outputs of a folder are done: a hidden file in it, for its owner only.

A line says of one output its digest, and a keyed digest of all that its bytes follow
from: the input, the settings and the records before it. Whoever lacks the key can try
no input out, and writes no line that counts.
"""

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

NAME = ".dptext-manifest"


class ManifestLine(msgspec.Struct, forbid_unknown_fields=True):
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
        self._folder, self._path = folder, folder / NAME
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
        """Return the keyed digest of what an output follows from.

        start is the number of records of the run before it.
        """
        (source,) = job.inputs
        name = Path(job.output or "").name
        parts = (
            *(settings.digest_of_path(source), self._identity, job.selection),
            *(job.format, job.on_error, name, start),
        )
        return self._keyed(msgspec.json.encode(parts, order="deterministic"))

    def done(self, job: Job, work: str, beside: Path | None) -> int | None:
        """Return how many records an output that is done was made from, else None."""
        line, output = self._lines.get(self._name(job)), Path(job.output or "")
        if line is None or line.work != work or not output.is_file():
            return None
        sealed = hmac.compare_digest(self._seal(line).encode(), line.seal.encode())
        if not sealed or settings.digest_of_path(output) != line.sha256:
            return None
        return line.read if beside is None or beside.is_file() else None

    def add(self, job: Job, work: str, read: int, written: Written) -> None:
        """Note that an output is done, on the disk when this returns."""
        line = ManifestLine(self._name(job), written.sha256, work, read)
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
        """Return the path of an output in the folder, as UTF-8, which JSON is."""
        path = os.path.relpath(job.output or "", self._folder)
        return os.fsencode(path).decode("utf-8", "backslashreplace")

    def _seal(self, line: ManifestLine) -> str:
        return self._keyed(msgspec.json.encode(msgspec.structs.replace(line, seal="")))

    def _keyed(self, data: bytes) -> str:
        return hashlib.blake2b(data, key=self._key, digest_size=32).hexdigest()


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
