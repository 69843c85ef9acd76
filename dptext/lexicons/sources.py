"""Open a file of vectors, packed or not, and tell its format by its first bytes."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from dptext import streams
from dptext.errors import LexiconError, MissingExtra, UsageError
from dptext.lexicons import npy
from dptext.lexicons.raw import RawVectors

FORMATS = ("glove", "word2vec", "fasttext", "npz")
FOLDER = "npy"

# What is being done, and how much of it is: 0 to 1.
Progress = Callable[[str, float], None]

_PACKED = (".gz", ".zst")


def quiet(what: str, share: float) -> None:
    """Report no progress."""


def read(
    path: Path, format: str | None, limit: int | None, progress: Progress = quiet
) -> tuple[RawVectors, str]:
    """Read the first `limit` words of a file or folder; return also its format."""
    location = str(path)
    streams.check_ends(path, "vectors")
    if path.is_dir():
        return npy.read(path, location, limit=limit), FOLDER
    if format is not None and format not in FORMATS:
        msg = f"no lexicon format named {format!r}; known: {', '.join(FORMATS)}"
        raise UsageError(msg)
    with opened(path, progress) as stream:
        found = format or detect(path, stream)
        module = importlib.import_module(f"dptext.lexicons.{found}")
        raw: RawVectors = module.read(stream, location, limit=limit)
    return raw, found


def sha256(path: Path) -> str:
    """Compute the sha256 of a file as it lies on disk, or of a folder's two files."""
    streams.check_ends(path, "vectors")
    if path.is_dir():
        parts = [f"{part.name} {sha256(part)}" for part in npy.files(path) or ()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    whole = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as stream:
            while block := stream.read(2**20):
                whole.update(block)
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise LexiconError(msg) from None
    return whole.hexdigest()


@contextmanager
def opened(path: Path, progress: Progress = quiet) -> Iterator[io.BufferedReader]:
    """Open a plain, gzip or zstd file; what goes wrong in reading is a LexiconError."""
    try:
        with _Watched(path, progress) as file, _unpacked(path, file) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path}: the packed file is damaged or truncated"
        raise LexiconError(msg) from error
    except OSError as error:
        msg = f"{path}: {error.strerror or error}"
        raise LexiconError(msg) from error


def detect(path: Path, stream: io.BufferedReader) -> str:
    """Tell the format by suffix and first bytes, which stay unread."""
    from dptext.lexicons.word2vec import header_of

    head = stream.peek(2**16)[: 2**16]
    name = path.name.lower()
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    suffix = Path(name).suffix
    if head.startswith(b"PK\x03\x04") or suffix == ".npz":
        return "npz"
    if not head:
        msg = f"{path}: the file is empty"
        raise LexiconError(msg)
    first = head.partition(b"\n")[0][:64] + b"\n"
    if header_of(first) is None:
        return "glove"
    return "fasttext" if suffix == ".vec" else "word2vec"


class _Watched(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path, "rb")
        self._size = max(1, os.fstat(self.fileno()).st_size)
        self._read = 0
        self._progress = progress

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._read += count or 0
        self._progress("reading", min(1.0, self._read / self._size))
        return count


def _unpacked(path: Path, file: io.FileIO) -> io.BufferedReader:
    buffered = io.BufferedReader(cast(Any, file), 2**20)
    magic = buffered.peek(4)[:4]
    if magic[:2] == b"\x1f\x8b":
        unpacked = gzip.GzipFile(fileobj=cast(BinaryIO, buffered))
        return io.BufferedReader(cast(Any, unpacked), 2**20)
    if magic == b"\x28\xb5\x2f\xfd":
        return io.BufferedReader(_Zstd(path, buffered), 2**20)
    return buffered


class _Zstd(io.RawIOBase):
    """Unpack zstd, and notice a truncated file, which zstandard's reader does not."""

    def __init__(self, path: Path, packed: io.BufferedReader) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtra.of("zstd files", "zstd") from None
        self._path = path
        self._packed = packed
        self._new: Callable[[], Any] = zstandard.ZstdDecompressor().decompressobj
        self._error: type[Exception] = zstandard.ZstdError
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._more():
                return 0
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _more(self) -> bool:
        """Unpack the next block; say whether there was one."""
        rest = b"" if self._frame is None else self._frame.unused_data
        if self._frame is None or self._frame.eof:
            block = rest or self._packed.read(2**16)
            if not block:
                return False
            self._frame = self._new()
        else:
            block = self._packed.read(2**16)
            if not block:
                self._refuse()
        try:
            self._ready = self._frame.decompress(block)
        except self._error:
            self._refuse()
        return True

    def _refuse(self) -> NoReturn:
        msg = f"{self._path}: the packed file is damaged or truncated"
        raise LexiconError(msg)
