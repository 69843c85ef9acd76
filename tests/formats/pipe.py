"""Send bytes through a format's two ends."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable

from dptext import formats
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

find = functools.cache(formats.find)

Items = list[Record | Verbatim | Fault]

TEXT = Selection()


def items(name: str, data: bytes, selection: Selection = TEXT) -> Items:
    """Read everything in data, under the name "in"."""
    return list(find(None, name).read(formats.Input(io.BytesIO(data), selection, "in")))


def records(name: str, data: bytes, selection: Selection = TEXT) -> list[Record]:
    """Read the records in data."""
    return [item for item in items(name, data, selection) if isinstance(item, Record)]


def texts(name: str, data: bytes, selection: Selection = TEXT) -> list[tuple[str, ...]]:
    """Read the texts of all records in data."""
    return [record.texts for record in records(name, data, selection)]


def faults(name: str, data: bytes, selection: Selection = TEXT) -> list[Fault]:
    """Read the faults in data."""
    return [item for item in items(name, data, selection) if isinstance(item, Fault)]


def through(
    name: str,
    inputs: bytes | list[bytes],
    change: Callable[[str], str] = lambda text: text,
    selection: Selection = TEXT,
) -> bytes:
    """Read one or more inputs and write them to one output; faults are left out."""
    module, out = find(None, name), io.BytesIO()
    writer = module.writer(out, selection)
    every = [inputs] if isinstance(inputs, bytes) else inputs
    for data in every:
        stream, is_alone = io.BytesIO(data), len(every) == 1
        source = formats.Input(stream, selection, "in", is_alone=is_alone)
        for item in module.read(source):
            if isinstance(item, Record):
                writer.write(item, [change(text) for text in item.texts])
            elif isinstance(item, Verbatim):
                writer.verbatim(item)
    writer.close()
    return out.getvalue()


def copied_names(name: str, data: bytes, selection: Selection = TEXT) -> list[str]:
    """Return the names of the fields that are copied."""
    return list(find(None, name).copied(io.BytesIO(data), selection))


class Endless(io.RawIOBase):
    """A stream of a repeated byte that never stands in memory, then a tail."""

    def __init__(self, head: bytes, fill: bytes, count: int, tail: bytes) -> None:
        self._ready = head
        self._fill, self._left, self._tail = fill, count, tail

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Give the next bytes."""
        if not self._ready and self._left:
            count = min(self._left, len(buffer))
            self._left -= count
            self._ready = self._fill * count
        elif not self._ready:
            self._ready, self._tail = self._tail, b""
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
