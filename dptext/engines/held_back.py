"""Output that waits until no selected field can be a mistake."""

from __future__ import annotations

from typing import BinaryIO

from dptext.engines.fields import Fields
from dptext.errors import InputError

_HELD = 2**26  # bytes that wait for each field to be in a record


class HeldBack:
    """A stream that keeps what is written until each field was in some record."""

    def __init__(self, stream: BinaryIO, fields: Fields) -> None:
        self._stream = stream
        self._fields = fields
        self._waiting: list[bytes] | None = []
        self._size = 0

    @property
    def closed(self) -> bool:
        """Tell whether the stream below is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write, or keep. Raises InputError when too much is kept."""
        if self._waiting is None:
            return self._stream.write(data)
        self._waiting.append(bytes(data))
        self._size += len(data)
        absent = self._fields.absent()
        if self._fields.records and not absent:
            self.release()
        elif self._size > _HELD and absent:
            raise InputError(
                f"field {absent[0]!r} is in none of the first "
                f"{self._fields.records} records; with -o FILE all are read before "
                "there is an output"
            )
        return len(data)

    def release(self) -> None:
        """Write all that was kept."""
        waiting, self._waiting = self._waiting or [], None
        for data in waiting:
            self._stream.write(data)

    def flush(self) -> None:
        """Send on what was written."""
        if self._waiting is None:
            self._stream.flush()
