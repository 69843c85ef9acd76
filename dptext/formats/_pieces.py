"""Cutting a stream into pieces that other processes can read alone.

A cut stands after a whole record, and how many records a piece holds is known without
reading them: so that record numbers, which randomness goes by, are those of one reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

SIZE = 2**18  # bytes of a piece
_LONGEST = 4  # times as many: what is left is then for the reader of records

# Of the bytes read so far, and whether the stream has ended: how many of them are whole
# records, and how many records these are.
Regular = Callable[[bytes, bool], tuple[int, int]]


class Piece(NamedTuple):
    """Some records of a stream: their bytes, how many, and how many line ends."""

    data: bytes
    records: int
    lines: int


class Pieces:
    """Cuts a stream, from where it stands, until its end or an irregular record.

    left is then what was read and not given: the beginning of the rest.
    """

    def __init__(self, stream: BinaryIO, regular: Regular) -> None:
        self._stream = stream
        self._regular = regular
        self.left = b""

    def __iter__(self) -> Iterator[Piece]:
        """Give the pieces, all but the last of about the same size."""
        more = b"-"
        while more:
            more = self._stream.read(SIZE)
            data = self.left + more
            end, records = self._regular(data, not more)
            self.left = data[end:]
            if end:
                yield Piece(data[:end], records, data.count(b"\n", 0, end))
            if len(self.left) > _LONGEST * SIZE:
                return


def lines(blank: bytes | None) -> Regular:
    """Take lines for records, but for those of blank bytes (None: white space)."""

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = len(data) if at_end else data.rfind(b"\n") + 1
        count = sum(1 for line in data[:end].split(b"\n") if line.strip(blank))
        return end, count

    return regular


def rows(delimiter: bytes, limit: int) -> Regular:
    """Take rows for records that are quoted by the book and no longer than limit."""
    mark = re.escape(delimiter)
    quoted = rb'"(?:[^"]++|"")*+"'
    field = rb'(?:%b|(?!")[^%b\r\n]*+)' % (quoted, mark)
    row = re.compile(rb"%b(?:%b%b)*+\r?\n" % (field, mark, field))

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = records = 0
        for match in row.finditer(data):
            begin, after = match.span()
            if begin != end or after - begin > limit:
                break
            end = after
            records += after - begin > 2 or data[begin : begin + 1] not in b"\r\n"
        return end, records

    return regular
