"""Other encodings than UTF-8: inputs are read as UTF-8, outputs written back in them.

Whatever is copied comes back byte for byte: bytes that an encoding would not write as
they were read are refused.
"""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO

from dptext.errors import InputError, UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

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


class Decoded(io.RawIOBase):
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
        self._ready = memoryview(b"")
        self._at_end = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        while not (self._ready or self._at_end):
            self._fill()
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _fill(self) -> None:
        block = self._stream.read1(_BLOCK)  # type: ignore[attr-defined]
        self._at_end = not block
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
