"""Plain text: each line is a record with one text; fields have no meaning here.

Empty lines pass as they are. A line break in a new text is written as a space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from dptext.formats import _lines
from dptext.types import Fault, Record, Selection, Verbatim

SUFFIXES: tuple[str, ...] = (".txt", ".text")


def read(
    stream: BinaryIO, selection: Selection, location: str, start: int = 0
) -> Iterator[Record | Verbatim | Fault]:
    """Read one text per line."""
    limit = selection.max_record_bytes
    return _lines.read(stream, limit, location, start, _parse, blank=b"\r\n")


def _parse(line: str, ordinal: int) -> Record:
    text = line.rstrip("\r\n")
    return Record(ordinal, (text,), line[len(text) :])


class Writer(_lines.LineWriter):
    """Writes each text with the line end it was read with."""

    def __init__(self, stream: BinaryIO, selection: Selection) -> None:
        super().__init__(stream)

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write the record's one text."""
        (text,) = texts
        text = text.replace("\r\n", " ").replace("\n", " ")
        self.put(f"{text}{record.rest}".encode())


def copied(stream: BinaryIO, selection: Selection) -> Iterator[str]:
    """Give nothing: each line is a text, and there is no other field."""
    return iter(())
