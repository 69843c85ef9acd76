"""Open a file of vectors, packed or not, and say how much of it was read."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from dptext import streams
from dptext.errors import LexiconError
from dptext.progress import Shares

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_DAMAGED = (
    *(EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile),
    zipfile.BadZipFile,
)
ZIP = b"PK\x03\x04"


def quiet(what: str, share: float) -> None:
    """Report no progress."""


@contextmanager
def opened(path: Path, progress: Shares = quiet) -> Iterator[io.BufferedReader]:
    """Open a file, packed or not; what goes wrong in reading is a LexiconError."""
    try:
        with _Watched(path, progress) as file, _unpacked(file) as stream:
            yield stream
    except _DAMAGED as error:
        msg = f"{path}: the packed file is damaged or truncated"
        raise LexiconError(msg) from error
    except OSError as error:
        msg = f"{path}: {error.strerror or error}"
        raise LexiconError(msg) from error


class _Watched(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Shares) -> None:
        super().__init__(path, "rb")
        self._size = max(1, os.fstat(self.fileno()).st_size)
        self._read = 0
        self._progress = progress

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = cast("int | None", super().readinto(buffer))
        self._read += count or 0
        self._progress("reading", min(1.0, self._read / self._size))
        return count


def _unpacked(file: io.FileIO) -> io.BufferedReader:
    buffered = io.BufferedReader(file, 2**20)
    if buffered.peek(4).startswith(ZIP):
        return _only_member(cast(io.BufferedReader, buffered), str(file.name))
    suffix = streams.recognised(buffered.peek(streams.HEAD)[: streams.HEAD])
    if not suffix:
        return cast(io.BufferedReader, buffered)
    unpacked = streams.decompress(cast(BinaryIO, buffered), suffix)
    return io.BufferedReader(cast(io.RawIOBase, unpacked), 2**20)


def _only_member(file: io.BufferedReader, location: str) -> io.BufferedReader:
    """Open the one file of a .zip; an .npz, made of arrays, stays as it is."""
    archive = zipfile.ZipFile(file)
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if any(name.endswith(".npy") for name in names):
        file.seek(0)
        return file
    if len(names) != 1:
        msg = f"{location}: {len(names)} files in it; unpack it and import one of them"
        raise LexiconError(msg)
    return io.BufferedReader(cast(io.RawIOBase, archive.open(names[0])), 2**20)
