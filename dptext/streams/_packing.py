"""Compressed data: known by a name's suffix or by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import MissingExtra

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# What stands between plain and compressed bytes.
Layer = io.BufferedIOBase | io.RawIOBase
Zstandard = Any  # the module, which has no types


def decompress(plain: BinaryIO, suffix: str) -> Layer:
    """Return the decompressed data of a stream."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=plain, mode="rb")
    if suffix == ".bz2":
        return bz2.BZ2File(plain)
    if suffix == ".xz":
        return lzma.LZMAFile(plain)
    return _Zstd(plain)


def compress(plain: BinaryIO, suffix: str) -> Layer | None:
    """Return what compresses into a stream; None where the suffix names nothing.

    No name, time or size enters the compressed data: they are a function of what is
    written and of nothing else.
    """
    if suffix == ".gz":
        return gzip.GzipFile("", "wb", 6, plain, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(plain, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(plain, "wb")
    if suffix == ".zst":
        compressor = _zstandard().ZstdCompressor()
        return cast(Layer, compressor.stream_writer(plain, closefd=False))
    return None


class _Zstd(io.RawIOBase):
    """Decompressed zstd frames; the library's reader does not notice a cut-off end."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self._library = _zstandard()
        self._source = source
        self._frame: Zstandard = None
        self._ahead = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready:
            if not self._fill():
                return 0
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _fill(self) -> bool:
        """Decompress a little: a kilobyte may swell to 32 MiB."""
        block = self._ahead or self._source.read(2**10)
        self._ahead = b""
        if not block:
            if self._frame is not None:
                raise EOFError
            return False
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(block))
        except self._library.ZstdError:
            raise EOFError from None
        if self._frame.eof:
            self._ahead = self._frame.unused_data
            self._frame = None
        return True


def _zstandard() -> Zstandard:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra.of("zstd", "zstd") from None
    return zstandard
