"""Formats whose records are lines: reading with a limit, and writing.

A line ends at a line feed; carriage returns just before it belong to the line end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from dptext.formats import BOM, Item
from dptext.types import Fault, Record, Verbatim

CHUNK = 2**16  # bytes read at once while a record that is too long is skipped

# Turns a line into a record with an ordinal; raises Unreadable.
Parse = Callable[[str, int], Record]


class Unreadable(Exception):
    """A record has to become a Fault; the reason is without its text.

    advice says what to do where that is not to leave the record out.
    """

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.advice = advice


def too_long(limit: int) -> str:
    """Say that a record is longer than the limit in bytes."""
    size = f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return f"longer than {size} (--max-record-bytes); its bytes are not kept"


def decode(raw: bytes) -> str:
    """Decode UTF-8 strictly, and refuse what is most likely not text."""
    if b"\0" in raw:
        raise Unreadable(
            "NUL byte (UTF-16 or a binary file?); convert the file to UTF-8"
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"not valid UTF-8 (byte {error.start}); convert the file to UTF-8"
        ) from None


def lines(stream: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """Give each line with its end; None stands for one longer than limit bytes."""
    while line := stream.readline(limit + 2):
        if len(line) > limit and len(line.rstrip(b"\r\n")) > limit:
            while line and not line.endswith(b"\n"):
                line = stream.readline(CHUNK)
            yield None
        else:
            yield line


def read(
    stream: BinaryIO,
    limit: int,
    location: str,
    start: int,
    parse: Parse,
    blank: bytes | None = None,
    line: int = 1,
) -> Iterator[Item]:
    """Read one record per line; blank lines and a byte order mark pass verbatim.

    blank holds the bytes that a blank line may consist of; by default all white space.
    line is the number of the first one.
    """
    ordinal = start
    for number, raw in enumerate(lines(stream, limit), line):
        if number == 1 and raw is not None and raw.startswith(BOM):
            yield Verbatim(BOM, header=True)
            raw = raw[len(BOM) :]
        if raw is None:
            yield Fault(f"{location}:{number}", too_long(limit), b"")
        elif not raw.strip(blank):
            yield Verbatim(raw)
            continue
        else:
            try:
                yield parse(decode(raw), ordinal)
            except Unreadable as error:
                yield Fault(f"{location}:{number}", str(error), raw, error.advice)
        ordinal += 1
