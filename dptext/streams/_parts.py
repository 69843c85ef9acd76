"""Hidden files in which outputs grow until they are complete.

A part is locked by the process that writes it. A process that was killed leaves its
part behind without a lock; the next run to the same output clears it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def create(target: Path, mode: int) -> tuple[Path, BinaryIO]:
    """Clear what killed runs left beside a target; open a new locked part for it."""
    _clear(target)
    while True:
        part = _beside(target)
        file = open(os.open(part, _FLAGS, mode), "wb", buffering=0)
        _lock(file)
        if _is_there(part, file):
            return part, file
        file.close()  # another run took it for a dead one before it had its lock


def backup(target: Path) -> tuple[Path, BinaryIO] | None:
    """Give a file a second, hidden, locked name; None when there is no such file."""
    kept = _beside(target)
    try:
        file = target.open("rb")
    except FileNotFoundError:
        return None
    _lock(file)
    try:
        os.link(target, kept)
    except OSError:  # a file system without links
        os.rename(target, kept)
    return kept, file


def _beside(target: Path) -> Path:
    return target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}.part")


def _prefix(target: Path) -> str:
    return f".{target.name[:50]}."


def lock(file: BinaryIO) -> bool:
    """Hold a file until it is closed; False where another process does."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def _lock(file: BinaryIO) -> None:
    """Hold a file until it is closed; where there are no locks nothing is cleared."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)


def _is_there(part: Path, file: BinaryIO) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.stat(part), os.fstat(file.fileno()))
    return False


def _clear(target: Path) -> None:
    """Remove the parts of a target that no process holds."""
    if fcntl is None:
        return
    mine = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{8}\.part")
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            if mine.fullmatch(name):
                _remove_dead(target.with_name(name))


def _remove_dead(part: Path) -> None:
    with contextlib.suppress(OSError):
        with open(os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
