"""Compressed data: known from the suffix of a name or from the first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import MissingExtra

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# What stands between plain and compressed bytes.
Layer = io.BufferedIOBase | io.RawIOBase
Zstandard = Any  # the module, which has no types
Frame = Any  # what decompresses one frame: decompress, eof, unused_data


def decompress(plain: BinaryIO, suffix: str) -> Layer:
    """Return the decompressed data of a stream."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=plain, mode="rb")
    if suffix == ".bz2":
        return _Frames(plain, bz2.BZ2Decompressor)
    if suffix == ".xz":
        return _Frames(plain, lzma.LZMADecompressor, padding=b"\0")
    library = _zstandard()
    return _Frames(
        plain,
        lambda: library.ZstdDecompressor().decompressobj(),
        damaged=library.ZstdError,
    )


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


class _Frames(io.RawIOBase):
    """Decompressed frames, one after the other to the end of the file.

    The readers of the libraries do not notice a cut-off end (zstd), and leave out the
    rest of a file from the first damaged frame on (bz2, xz).
    """

    def __init__(
        self,
        source: BinaryIO,
        new: Callable[[], Frame],
        padding: bytes = b"",
        damaged: type[Exception] = EOFError,
    ) -> None:
        super().__init__()
        self._damaged = damaged
        self._source = source
        self._new = new
        self._padding = padding
        self._frame: Frame = None
        self._any = False
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
        """Decompress a little: half a kilobyte may swell to 16 MiB."""
        block = self._ahead or self._source.read(2**9)
        self._ahead = b""
        if not block:
            if self._frame is not None or not self._any:
                raise EOFError
            return False
        if self._frame is None:
            if self._any and self._padding:
                block = block.lstrip(self._padding)
                if not block:
                    return True
            self._frame, self._any = self._new(), True
        try:
            self._ready = memoryview(self._frame.decompress(block))
        except self._damaged:
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


# Each with the bytes that its data begin with; the fourth of bz2 is its level.
_MAGIC = {
    ".gz": (b"\x1f\x8b\x08",),
    ".bz2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    ".xz": (b"\xfd7zXZ\x00",),
    ".zst": (b"\x28\xb5\x2f\xfd",),
}
COMPRESSIONS = tuple(_MAGIC)
HEAD = max(len(magic) for each in _MAGIC.values() for magic in each)


def compression(name: str) -> str:
    """Return the suffix of a name that tells its compression, or an empty string."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


def plain_name(name: str) -> str:
    """Return a name without the suffix of its compression."""
    return name[: len(name) - len(compression(name))]


def recognised(head: bytes) -> str:
    """Return the suffix of the compression that data begin with, or an empty string."""
    for suffix, each in _MAGIC.items():
        if head.startswith(each):
            return suffix
    return ""


def undecided(head: bytes) -> bool:
    """Tell whether more bytes are needed to recognise a compression."""
    return any(
        len(head) < len(magic) and magic.startswith(head)
        for each in _MAGIC.values()
        for magic in each
    )
