"""Locks that the operating system takes back when a process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None


@contextlib.contextmanager
def locked(file: IO[bytes], *, exclusive: bool) -> Iterator[None]:
    """Hold the lock of an open file for a block; wait for others that hold it."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def lock_run(ledger: Path, entry: int) -> contextlib.ExitStack | None:
    """Take the lock that shows that the run of an entry goes on.

    It is a file beside the ledger, FILE.run-N. Returns a stack that gives it back when
    closed, and None where another process holds it.
    """
    path = ledger.with_name(f"{ledger.name}.run-{entry}")
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    lock = contextlib.ExitStack()
    # In reverse: the file goes while the lock is held, so that nobody else has it.
    lock.callback(file.close)
    lock.enter_context(contextlib.suppress(OSError))
    lock.callback(path.unlink)
    return lock
