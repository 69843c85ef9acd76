"""Exports as git has them staged: what a commit would hold, whatever lies on disk.

Reads the index alone, so that a report that is on disk but not staged is missing, and
one whose removal is staged is gone.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dptext.errors import InputError, UsageError
from dptext.guarantees.policy import ExportPolicy
from dptext.report import exports
from dptext.report.exports import SIDECAR, Export

# Links and submodules hold no content.
_FILE = "100"
_BLOCK = 2**20
# What git keeps of a file that Git LFS stores elsewhere names the file's digest.
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)
_LONGEST_POINTER = 1024


@dataclass(frozen=True, slots=True)
class _Blob:
    """Digest and size of a file's content; pointer tells that git has not got it."""

    sha256: str
    size: int
    pointer: bool


class Index:
    """The staged files of the working folder and below; a context manager."""

    def __init__(self) -> None:
        self._files = _listed()
        self._reader = subprocess.Popen(
            ["git", "cat-file", "--batch"],  # noqa: S607 - the git of whoever commits
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._sink, self._source = self._reader.stdin, self._reader.stdout

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self._sink.close()
        self._source.close()
        self._reader.wait()

    def content(self, path: str) -> bytes | None:
        """Return what is staged of a file; None where it is not staged."""
        if path not in self._files:
            return None
        return b"".join(self._blocks(path))

    def above(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Give the paths of names in this folder and those above it, the nearest first.

        With what is staged of each; None where it is not.
        """
        depth = _git("rev-parse", "--show-prefix").count(b"/")
        paths = ["../" * up + name for up in range(depth + 1) for name in names]
        self._files |= _listed("--", *paths)
        for path in paths:
            yield path, self.content(path)

    def exports(self, parts: Sequence[str], policy: ExportPolicy) -> Iterator[str]:
        """Give the paths of staged exports, in folders and files if any are named."""
        inside = [PurePosixPath(os.path.normpath(part)) for part in parts]
        for name in sorted(self._files):
            path = PurePosixPath(name)
            if inside and not any(path.is_relative_to(each) for each in inside):
                continue
            reported = name + SIDECAR in self._files
            if exports.is_export(path, policy, reported=reported):
                yield name

    def export(self, path: str) -> Export:
        """Return an export and the report that is staged beside it."""
        blob = self._blob(path)
        return Export(
            name=PurePosixPath(path).name,
            sha256=blob.sha256,
            size=blob.size,
            report=self.content(path + SIDECAR),
            open=lambda: self._open(path, blob),
        )

    def _blob(self, path: str) -> _Blob:
        head = b""

        def kept() -> Iterator[bytes]:
            nonlocal head
            for block in self._blocks(path):
                head = head or block[:_LONGEST_POINTER]
                yield block

        sha256, size = exports.digest(kept())
        pointer = _POINTER.match(head) if size < _LONGEST_POINTER else None
        if pointer is None:
            return _Blob(sha256, size, False)
        return _Blob(pointer[1].decode(), int(pointer[2]), True)

    @contextlib.contextmanager
    def _open(self, path: str, blob: _Blob) -> Iterator[BinaryIO]:
        """Open the staged content, which for Git LFS lies on disk alone."""
        data = b"".join(self._blocks(path))
        if blob.pointer:
            try:
                data = Path(path).read_bytes()
            except OSError:
                data = b""
            if exports.digest([data])[0] != blob.sha256:
                raise InputError(f"{path}: Git LFS has not brought its content here")
        yield io.BytesIO(data)

    def _blocks(self, path: str) -> Iterator[bytes]:
        """Give the content of a staged file in blocks, all of which must be taken."""
        self._sink.write(self._files[path].encode() + b"\n")
        self._sink.flush()
        head = self._source.readline().split()
        if len(head) != 3:
            raise UsageError(f"{path}: git cannot read what is staged; run git fsck")
        left = int(head[2])
        while left:
            block = self._source.read(min(left, _BLOCK))
            if not block:
                raise UsageError(f"{path}: git ended early; run git fsck")
            left -= len(block)
            yield block
        self._source.read(1)


def _listed(*arguments: str) -> dict[str, str]:
    """Return the names that git has for the content of staged files, by their paths."""
    files = {}
    for entry in filter(
        None, _git("ls-files", "--stage", "-z", *arguments).split(b"\0")
    ):
        state, _, path = entry.partition(b"\t")
        mode, name, _ = state.decode().split(" ")
        if mode.startswith(_FILE):
            files[os.fsdecode(path)] = name
    return files


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607 - the git of whoever commits
            capture_output=True,
            check=False,
        )
    except OSError:
        raise UsageError("--staged: git is not installed") from None
    if done.returncode:
        raise UsageError("--staged: this folder is in no git repository")
    return done.stdout
