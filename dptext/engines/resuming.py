"""What an interrupted run had drawn already, so that the next one goes on from there.

With a key a run draws the same again. What is kept of it is so nothing but time: a
hidden file beside the output, for its owner only, holds the private texts of batches
that were done and what was counted in them, encrypted under the run key. The next run
reads its input from the beginning and takes from the file what was drawn for the very
same batches; from the first that differs, or is cut off, it draws itself. Reader,
writer, ledger and report do all of their work again, so that nothing tells afterwards
that there were two runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from dptext import streams
from dptext.engine.worker import Done, Finished, Part, Task
from dptext.errors import OutputError, RefusedError, UsageError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record

Drawn = Iterator[tuple[list[Record], Done | Finished]]
_SIZE, _NONCE = 8, 12


def path_of(output: str) -> Path:
    """Return where the work on an output is kept."""
    target = Path(os.path.realpath(output))
    return target.with_name(f".{target.name[:200]}.resume")


def check(asked: bool, key: RunKey, output: str | None) -> None:
    """Refuse to resume what cannot be resumed. Raises UsageError."""
    if not asked:
        return
    if key.origin == "system":
        raise UsageError(
            "--resume: a run without a key draws anew each time, so that there is "
            "nothing to go on with; give --key-file"
        )
    if output is None:
        raise UsageError("--resume: what went to standard output has left; use -o")


class Journal:
    """The finished batches of one output, in order."""

    def __init__(self, file: BinaryIO, pipeline: Pipeline, key: RunKey) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._file = file
        self._randomness = pipeline.randomness(key)
        purpose = b"dptext/resume/" + pipeline.identity.encode()
        secret = hashlib.blake2b(purpose, key=key.secret, digest_size=32).digest()
        self._cipher = AESGCM(secret)

    def go_on(
        self, tasks: Iterator[Task], draw: Callable[[Iterator[Task]], Drawn]
    ) -> Drawn:
        """Yield what is known of batches, then draw the others and keep them."""
        for task in tasks:
            assert not isinstance(task, Part)  # their records are read elsewhere
            done = self._next(self._name(*task))
            if done is None:
                tasks = chain([task], tasks)
                break
            yield task[0], done
        names: list[bytes] = []

        def named(rest: Iterator[Task]) -> Iterator[Task]:
            for task in rest:
                assert not isinstance(task, Part)
                names.append(self._name(*task))
                yield task

        for batch, drawn in draw(named(tasks)):
            assert isinstance(drawn, Done)
            self._keep(names.pop(0), drawn)
            yield batch, drawn

    def _name(self, batch: Iterable[Record], first_text: int) -> bytes:
        """Name a batch by all that its draws and counts follow from."""
        nonces = b"".join(self._randomness.nonce(record) for record in batch)
        return b"%d/" % first_text + nonces

    def _next(self, name: bytes) -> Done | None:
        """Return the next batch if it is this one; else forget all that follows."""
        from cryptography.exceptions import InvalidTag

        begin = self._file.tell()
        size = int.from_bytes(self._file.read(_SIZE), "big")
        left = os.fstat(self._file.fileno()).st_size - begin - _SIZE - _NONCE
        if 0 < size <= left:
            nonce, data = self._file.read(_NONCE), self._file.read(size)
            with contextlib.suppress(InvalidTag):
                # Whoever has the key wrote it: as safe as the key.
                plain = self._cipher.decrypt(nonce, data, name)
                done: Done = pickle.loads(plain)  # noqa: S301
                return done
        self._file.seek(begin)
        self._file.truncate()
        return None

    def _keep(self, name: bytes, done: Done) -> None:
        nonce = os.urandom(_NONCE)
        data = self._cipher.encrypt(nonce, pickle.dumps(done), name)
        entry = (len(data).to_bytes(_SIZE, "big"), nonce, data)
        try:
            self._file.write(b"".join(entry))
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self._file.name}: {error.strerror}") from None


@contextlib.contextmanager
def journal(output: str, pipeline: Pipeline, key: RunKey) -> Iterator[Journal]:
    """Open what is kept of the work on an output; it stays until `forget`."""
    path = path_of(output)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
    with open(descriptor, "rb+") as file:
        if not streams.lock(file):
            raise UsageError(f"{output}: another run is on it; wait until it ends")
        try:
            yield Journal(file, pipeline, key)
        except RefusedError:
            forget(output)  # what a ledger refuses is never to be released
            raise


def forget(output: str | None) -> None:
    """Remove what was kept of the work on an output that is done."""
    if output is not None:
        with contextlib.suppress(OSError):
            path_of(output).unlink()
