"""What is an export, and an export with the report beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import BinaryIO

from dptext import formats, streams
from dptext.guarantees.policy import ExportPolicy

SIDECAR = ".dptext.json"
# Files that lie beside exports and are not meant to be any.
DOCUMENTS = (
    *("README*", "LICENSE*", "CHANGELOG*", "*.md", "*.rst", "*.adoc", ".git*"),
    *(".dptext.yaml", ".pre-commit-config.yaml"),
)
_BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class Export:
    """A file, its digest and size, and the bytes of the report beside it, if any.

    open gives its content as it lies, for a look at its fields.
    """

    name: str
    sha256: str
    size: int
    report: bytes | None
    open: Callable[[], AbstractContextManager[BinaryIO]]


def on_disk(path: Path) -> Export:
    """Read an export and the report beside it.

    Raises OSError, and UsageError for a device in the place of a file.
    """
    streams.check_ends(path, "export")
    with path.open("rb") as file:
        sha256, size = digest(iter(lambda: file.read(_BLOCK), b""))
    try:
        beside = path.with_name(path.name + SIDECAR)
        report = streams.read_small(beside, "report")
    except FileNotFoundError:
        report = None
    return Export(path.name, sha256, size, report, lambda: path.open("rb"))


def digest(blocks: Iterable[bytes]) -> tuple[str, int]:
    """Return sha256 and size of what blocks make together."""
    hashed, size = hashlib.sha256(), 0
    for block in blocks:
        hashed.update(block)
        size += len(block)
    return hashed.hexdigest(), size


def is_export(path: PurePath, policy: ExportPolicy, *, reported: bool) -> bool:
    """Tell whether a file is an export.

    Those are what the policy includes, files with a suffix of a format, compressed or
    not, and files with a report beside them (reported), but for what it excludes.
    """
    if path.name.endswith(SIDECAR) or excluded(path, policy):
        return False
    return reported or _matches(path, policy.include) or has_suffix(path.name)


def excluded(path: PurePath, policy: ExportPolicy) -> bool:
    """Tell whether the policy says that a file is no export."""
    return _matches(path, policy.exclude)


def is_document(path: PurePath) -> bool:
    """Tell whether a file is no export by its name alone, though it be named."""
    return _matches(path, DOCUMENTS) and not has_suffix(path.name)


def has_suffix(name: str) -> bool:
    """Tell whether a name ends as those of a format's files do."""
    return formats.by_suffix(name) is not None


def _matches(path: PurePath, patterns: Iterable[str]) -> bool:
    """Match the path from any folder on; `*` also goes over folders."""
    names = ["/".join(path.parts[begin:]) for begin in range(len(path.parts))]
    return any(fnmatchcase(name, each) for name in names for each in patterns)
