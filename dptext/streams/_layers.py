"""Layers between a file and plain UTF-8: compression, and other encodings.

Compression is known from the suffix of a name or from the first bytes. Texts in another
encoding are read as UTF-8 and written back in it: whatever is copied comes back byte
for byte, and bytes that an encoding would not write as they were read are refused.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from dptext.errors import InputError, MissingExtra, UsageError

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


class _Filled(io.RawIOBase):
    """Bytes that come in blocks; `_fill` makes the next ready, False at the end."""

    _ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            if not self._fill():
                return 0
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    @abstractmethod
    def _fill(self) -> bool: ...


class _Frames(_Filled):
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


_BLOCK = 2**16
_BIG_ENDIAN = {"utf-16-le": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_BE}


def known_encoding(name: str) -> str | None:
    """Return the encoding of a name as Python has it; None for UTF-8.

    Raises UsageError for a name of none, and for one that is not of characters.
    """
    try:
        known = codecs.lookup(name).name
        "a".encode(known)
    except (LookupError, ValueError):
        raise UsageError(
            f"{name!r} is not an encoding; files of Windows and Excel are often in "
            "cp1252 or utf-16"
        ) from None
    if known in ("utf-8", "utf-8-sig", "ascii"):
        return None
    return f"{known}-le" if known in ("utf-16", "utf-32") else known


class Decoded(_Filled):
    """A stream in an encoding, read as UTF-8; a byte order mark is one of UTF-8 then.

    Reading raises InputError for bytes that are not of the encoding.
    """

    def __init__(self, stream: BinaryIO, encoding: str, name: str) -> None:
        super().__init__()
        self._stream = stream
        self._encoding = encoding
        self._name = name
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._past = 0

    def _fill(self) -> bool:
        block = self._stream.read1(_BLOCK)  # type: ignore[attr-defined]
        if not self._past and block.startswith(
            _BIG_ENDIAN.get(self._encoding, b"\0\0\0\0\0")
        ):
            other = self._encoding.replace("-le", "-be")
            raise InputError(f"{self._name}: give --encoding {other}, as it begins")
        waiting: bytes = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(block, not block)
            left: bytes = self._decoder.getstate()[0]
            data = waiting + block
            if text.encode(self._encoding) != data[: len(data) - len(left)]:
                raise UnicodeError
        except UnicodeError as error:
            at = self._past - len(waiting) + getattr(error, "start", 0)
            raise InputError(
                f"{self._name}: not valid {self._encoding}, or not written back as it "
                f"is (near byte {at}); give another --encoding, or convert the file "
                "to UTF-8"
            ) from None
        self._past += len(block)
        self._ready = memoryview(text.encode())
        return bool(block or self._ready)


class Encoded:
    """Writes what comes as UTF-8 in an encoding; replaced counts its lacks.

    A character of new words that the encoding lacks is written as "?".
    """

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self.replaced = 0
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write bytes of UTF-8."""
        text = self._decoder.decode(data)
        try:
            written = text.encode(self._encoding)
        except UnicodeEncodeError:
            written = text.encode(self._encoding, "replace")
            kept = text.encode(self._encoding, "ignore").decode(self._encoding)
            self.replaced += len(text) - len(kept)
        self._stream.write(written)
        return len(data)

    def flush(self) -> None:
        """Send on what was written."""
        self._stream.flush()
