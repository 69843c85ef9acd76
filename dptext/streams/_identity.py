"""Whether two names mean one file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence

from dptext.errors import UsageError
from dptext.streams._inputs import is_standard


def identity(name: str | None, *, written: bool) -> object:
    """Return what is equal for all names of one file; None for a device or a pipe.

    "-" and None stand for standard output if written, else for standard input: a
    shell may have opened a file for either.
    """
    try:
        if is_standard(name):
            stream = sys.stdout if written else sys.stdin
            status = os.fstat(stream.fileno())
        else:
            status = os.stat(str(name))
    except (OSError, ValueError, AttributeError):
        return None if is_standard(name) else os.path.realpath(str(name))
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino


def check_distinct(reads: Sequence[str | None], *writes: str | None) -> None:
    """Refuse to write over what is read, or twice to one file, under whatever name.

    "-" and None stand for the standard streams. Raises UsageError.
    """
    taken = {identity(name, written=False) for name in reads} - {None}
    for name in writes:
        target = identity(name, written=True)
        if target is not None and target in taken:
            shown = "standard output" if is_standard(name) else name
            raise UsageError(
                f"{shown} is read or written by this run already; name another file"
            )
        taken.add(target)
