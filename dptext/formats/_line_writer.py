"""Writing records that are lines."""

from __future__ import annotations

from typing import BinaryIO

from dptext.formats import PieceWriter
from dptext.types import Verbatim


class LineWriter(PieceWriter):
    """Writes lines; each but the last gets a line end, even between two inputs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._started = False
        self._open = False
        self._end = b"\n"

    def put(self, line: bytes) -> None:
        """Write a line, after the line end that the one before may lack."""
        self._started = True
        if self._open:
            line = self._end + line
        self._stream.write(line)
        if line.endswith(b"\n"):
            self._open = False
            self._end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
        else:
            self._open = True

    def piece(self, data: bytes) -> None:
        """Write lines; the last one may lack its end."""
        last = data.rfind(b"\n") + 1
        for part in (data[:last], data[last:]):
            if part:
                self.put(part)

    def verbatim(self, item: Verbatim) -> None:
        """Write a blank line; a byte order mark only at the very beginning."""
        raw = item.rest
        assert isinstance(raw, bytes)
        if not item.header:
            if raw:
                self.put(raw)
        elif not self._started:
            self._started = True
            self._stream.write(raw)

    def close(self) -> None:
        """Nothing is held back."""
