"""Formats whose records are lines: reading with a limit, cutting, writing.

A line ends at a line feed; carriage returns just before it belong to the line end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from dptext.errors import InputError
from dptext.formats import BOM, Input, Item, PieceWriter, Regular
from dptext.types import Fault, Record, Verbatim

_CHUNK = 2**16  # bytes read at once while a record that is too long is skipped
SKIPPED = 2**30  # bytes of one record that are passed over: a device never ends

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
            "NUL byte, as in binary files and UTF-16",
            "give --encoding utf-16 if it is a text file, or convert it to UTF-8",
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"not valid UTF-8 (byte {error.start})",
            "give --encoding (cp1252 for most files of Windows and Excel, utf-16 for "
            "some), or convert the file to UTF-8",
        ) from None


def skip_line(stream: BinaryIO, location: str) -> None:
    """Read the rest of a line that is too long.

    Raises InputError for one that does not end within a gibibyte.
    """
    size = 0
    while (part := stream.readline(_CHUNK)) and not part.endswith(b"\n"):
        size += len(part)
        if size > SKIPPED:
            raise endless(location)


def endless(location: str) -> InputError:
    """Return the error for a record that is too long to be passed over."""
    return InputError(
        f"{location}: a record longer than {SKIPPED >> 30} GiB, too long to skip; is "
        "this a text file?"
    )


def read(source: Input, parse: Parse, blank: bytes | None = None) -> Iterator[Item]:
    """Read one record per line; blank lines and a byte order mark pass verbatim.

    blank holds the bytes that a blank line may consist of; by default all white space.
    """
    stream, selection, location, ordinal, line = source
    limit = selection.max_record_bytes
    while raw := stream.readline(limit + 2):
        where = f"{location}:{line}"
        if len(raw) > limit and len(raw.rstrip(b"\r\n")) > limit:
            yield Fault(where, too_long(limit), b"")
            if not raw.endswith(b"\n"):  # after the fault: a reader may stop there
                skip_line(stream, location)
            ordinal += 1
            line += 1
            continue
        if line == 1 and raw.startswith(BOM):
            yield Verbatim(BOM, header=True)
            raw = raw[len(BOM) :]
        line += 1
        if not raw.strip(blank):
            yield Verbatim(raw)
            continue
        try:
            yield parse(decode(raw), ordinal)
        except Unreadable as error:
            yield Fault(where, str(error), raw, error.advice)
        ordinal += 1


def regular_lines(blank: bytes | None) -> Regular:
    """Take lines for records, but for those of blank bytes (None: white space)."""

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = len(data) if at_end else data.rfind(b"\n") + 1
        count = sum(1 for line in data[:end].split(b"\n") if line.strip(blank))
        return end, count

    return regular


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
