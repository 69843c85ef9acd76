"""Plain text: each line is a record with one text; there are no fields.

Empty lines stay unchanged. A line break in a new text is written as a space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, ClassVar

from dptext import formats
from dptext.formats import Input, Item, LineWriter, Regular, Replacement, no_replacement
from dptext.run.selection import Selection
from dptext.types import Record


class Format(formats.Format):
    """One text per line."""

    SUFFIXES: ClassVar = (".txt", ".text")
    HAS_FIELDS: ClassVar = False

    def read(self, source: Input) -> Iterator[Item]:
        """Read one text per line."""
        return formats.read_lines(source, _parse, b"\r\n")

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for texts."""
        return Writer(stream)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield nothing: a line has no other fields."""
        return iter(())

    def copied(self, stream: BinaryIO, selection: Selection) -> tuple[str, ...]:
        """Return no names, without reading the file."""
        return ()

    def regular(self, selection: Selection, head: bytes = b"") -> Regular:
        """Return a finder of lines."""
        return formats.regular_lines(b"\r\n")


def _parse(line: str, ordinal: int) -> Record:
    text = line.rstrip("\r\n")
    return Record(ordinal, (text,), line[len(text) :])


class Writer(LineWriter):
    """Writes each text with its original line end."""

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record's single text."""
        (text,) = texts
        text = text.replace("\r\n", " ").replace("\n", " ")
        self.put(f"{text}{record.rest}".encode())
