"""Digests of what settings name but do not hold: files, folders, models.

A component made ready says by the name of a setting the digest of what it named at that
time. The digest then stands for the setting in the nonce of every record
(dptext.identity): other content draws anew, and the same content at another path draws
the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from dptext.errors import UsageError


class Prepared:
    """A component with its settings, its public work done."""

    __slots__ = ()

    @property
    def content(self) -> Mapping[str, str]:
        """Return, by setting, the digest of what it names outside the profile."""
        return {}


def of_bytes(data: bytes) -> str:
    """Return the sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def of_data(value: object) -> str:
    """Return the sha256 of plain data, whatever the order of its keys."""
    return of_bytes(msgspec.json.encode(value, order="deterministic"))


def of_path(path: str | Path) -> str:
    """Return the sha256 of a file, or of the names and the bytes of a folder's files.

    Hidden files and compiled Python are left out: nothing reads them as content.
    Raises UsageError for what cannot be read.
    """
    top = Path(path)
    try:
        if top.is_file():
            return _of_file(top)
        digest = hashlib.sha256()
        for file in sorted(top.rglob("*")):
            path_inside = file.relative_to(top)
            if file.is_file() and not _is_left_out(path_inside):
                digest.update(f"{_of_file(file)} {path_inside.as_posix()}\n".encode())
        return digest.hexdigest()
    except OSError as error:
        raise UsageError(f"{error.filename or path}: {error.strerror}") from None


def _is_left_out(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
