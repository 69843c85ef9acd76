"""File formats: each file here is both ends of the pipe.

Only the selected fields of a record change; everything else is written back byte for
byte (Parquet: value for value). A new format is one new file with a class `Format`, a
subclass of the one below.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import registry, streams
from dptext.errors import UsageError
from dptext.types import Fault, Record, Selection, Verbatim

BOM = b"\xef\xbb\xbf"
_ARRAY = re.compile(rb"\[\s*(?:\{|\]|\Z)")  # text may begin with a bracket, too
_DELIMITERS = {
    ",": "csv",
    ";": "csv --delimiter ';'",
    "\t": "tsv",
    "|": "csv --delimiter '|'",
}
_LONGEST = 40  # characters of the name of a column
LINES = 3  # that are looked at
Item = Record | Verbatim | Fault
# Of the bytes read so far, and whether the stream has ended: how many of them are whole
# records, and how many records these are.
Regular = Callable[[bytes, bool], tuple[int, int]]


class Writer(ABC):
    """Writes records back with new texts, in the order in which they were read."""

    @abstractmethod
    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record; texts take the positions of record.texts, one for one."""

    @abstractmethod
    def verbatim(self, item: Verbatim) -> None:
        """Write what stands between records as it is."""

    @abstractmethod
    def close(self) -> None:
        """Write what is held back; the stream stays open."""


class PieceWriter(Writer):
    """A writer of a format that says how it is cut (`Format.regular`)."""

    @abstractmethod
    def piece(self, data: bytes) -> None:
        """Write what another writer has written for some records, without its head."""


class Input(NamedTuple):
    """An opened stream, the selected fields, and its name in messages.

    start is the first ordinal, line the number of the first line, for formats that are
    read in parts.
    """

    stream: BinaryIO
    selection: Selection
    location: str
    start: int = 0
    line: int = 1


@dataclass(frozen=True, slots=True)
class Format(ABC):
    """A format, under the name that --format takes."""

    name: str
    SUFFIXES: ClassVar[tuple[str, ...]]
    IS_TEXT: ClassVar = True  # of characters, which have an encoding
    HAS_NAMES: ClassVar = True  # else the first record may stand as names of fields

    @abstractmethod
    def read(self, source: Input) -> Iterator[Item]:
        """Read a stream.

        A Fault takes an ordinal too, so that skipping it changes no other record.
        Raises InputError when the input as a whole cannot be read.
        """

    @abstractmethod
    def writer(self, stream: BinaryIO, selection: Selection) -> Writer:
        """Return a writer of what `read` gave with the same selection."""

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterable[str]:
        """Return the names of the fields of a file that are not selected as texts.

        `dptext check` holds them against a policy. Raises InputError when the file
        cannot be read with the selection.
        """
        for item in self.read(Input(stream, selection, "file")):
            if isinstance(item, Verbatim) and item.copied is not None:
                return item.copied
            if isinstance(item, Record):
                return [name for name, _ in self.others(item, selection)]
        return ()

    def rows(self, stream: BinaryIO) -> int | None:
        """Return how many records a file says it holds; None where it does not say."""
        return None

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return what finds records in bytes without reading them; head as below.

        None where that cannot be done; else the writer is a PieceWriter.
        """
        return None

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return lines with which records from within a file read as a file.

        before is what stood between records so far. They are read as one Verbatim, and
        written as they are.
        """
        return b"\n"

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give name and text of each field of a record that is copied.

        A warning names those that repeat private text, the answer of a run all of them;
        the text of what holds none may be "".
        """
        return iter(())


def find(path: str | None, name: str | None = None) -> Format:
    """Choose a format by its name, else by the suffix of a path, else by its content.

    Suffixes of compression are looked through. Raises UsageError when none tells, and
    InputError for a file that cannot be read.
    """
    if name is not None:
        return _load(name)
    path = path or ""
    format = by_suffix(path) or _by_content(path)
    if format is not None:
        return format
    if os.path.isdir(path):
        raise UsageError(f"{path} is a directory; name the files in it")
    suffix = _suffix(path)
    if not suffix and path and not os.path.exists(path):
        raise UsageError(f"{path}: {os.strerror(errno.ENOENT)}")
    what = f"the suffix {suffix!r} of {path}" if suffix else "a name without suffix"
    known = ", ".join(registry.names("formats"))
    raise UsageError(
        f"no format goes with {what}; choose one with --format ({known}), or save a "
        "spreadsheet as .xlsx or CSV"
    )


def by_suffix(path: str) -> Format | None:
    """Return the format that goes with the suffix of a path, if any does."""
    suffix = _suffix(path)
    for choice in registry.names("formats"):
        format = _load(choice)
        if suffix in format.SUFFIXES:
            return format
    return None


def _by_content(path: str) -> Format | None:
    """Return the format that the first lines of a file look like, if any."""
    if not os.path.isfile(path):
        return None
    with streams.open_input(path) as stream:
        head, _ = streams.first_lines(stream, LINES)
    name = sniff(head)
    if name is None:
        try:
            text = codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            return None
        if text.strip() and "\0" not in text:
            name = (table(head) or "text").partition(" ")[0]
    return None if name is None else _load(name)


def table(head: bytes) -> str | None:
    """Return options that read lines which look like rows, None where they are texts.

    The first line is divided into short fields, as no sentence is by its commas, or all
    have equally many delimiters with no space behind.
    """
    lines = head.decode("utf-8", "replace").strip("\ufeff\r\n").split("\n")
    for delimiter, name in _DELIMITERS.items():
        fields = lines[0].rstrip("\r").split(delimiter)
        short = all(len(f) <= _LONGEST and f == f.strip() for f in fields)
        if len(fields) > 1 and short and fields[-1]:
            return name
        counts = {len(re.findall(rf"{re.escape(delimiter)}(?! )", s)) for s in lines}
        if len(lines) == LINES and len(counts) == 1 and 0 not in counts:
            return name
    return None


def _suffix(path: str) -> str:
    return PurePath(streams.plain_name(path)).suffix.lower()


def _load(name: str) -> Format:
    try:
        module = registry.find("formats", name)
    except UsageError as error:
        raise UsageError(f"--format: {error}") from None
    format: Format = module.Format(name)
    return format


def sniff(head: bytes) -> str | None:
    """Return the format's name if the first bytes of an input tell it."""
    if head.startswith(b"PAR1"):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if _ARRAY.match(text):
        return "json"
    if not text.startswith(b"{"):
        return None
    first, end, _ = text.partition(b"\n")
    import msgspec

    try:
        msgspec.json.decode(first, type=msgspec.Raw)
    except msgspec.DecodeError:
        return "json" if end else "jsonl"
    return "jsonl"
