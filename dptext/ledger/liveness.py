"""Whether the run that reserved something still goes on.

A run holds a lock on a file of its own beside the ledger, FILE.run-N. The operating
system takes the lock back when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None


class Life:
    """A lock that is held until it is ended, or the process is."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def end(self) -> None:
        """Give the lock back."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file.close()


def hold(ledger: Path, number: int) -> Life | None:
    """Take the lock of a run by its number; None where another process holds it."""
    path = ledger.with_name(f"{ledger.name}.run-{number}")
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return Life(path, file)


def can_end() -> bool:
    """Tell whether the system shows that a run ended; else it is taken to go on."""
    return fcntl is not None
