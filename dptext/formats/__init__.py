"""File formats: each file here is both ends of the pipe.

Only the selected fields of a record change; everything else is written back byte for
byte (Parquet: value for value). A new format is one new file with a class `Format`, a
subclass of the one below, and a `Writer`.

- `read` gives a `Record` for each record, with its texts in the order of their fields,
  `present` (the selected fields that it has, null or not), and, where the selection
  asks for them, `identity` and `subject`; a `Fault` for one that cannot be read; and
  `Verbatim` for bytes between records. A record over `max_record_bytes`, or without a
  selected field unless `missing` is "pass", is a `Fault`; where no next record can be
  found behind it, an InputError. A selection without fields (of `init` and `check`)
  gives records without texts.
- The writer needs only the `rest` that `read` keeps, and spells texts anew whether they
  changed or not: else the spelling would tell which did. All else comes back byte
  for byte. Between two inputs of one output nothing may run together.
- Fields of `Selection.dropped` are left out, and the values of `Selection.replaced`
  become those that a `Replacement` gives; a format without fields has neither.
- No message holds a text; positions count from 1.
"""

from __future__ import annotations

import codecs
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, ClassVar, NamedTuple

from dptext import registry, streams
from dptext.errors import InputError, InternalError, UsageError
from dptext.run.interface import noun, option
from dptext.run.marks import Needs
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

BOM = b"\xef\xbb\xbf"
#: The reason for which a record cannot be read.
BOM_WITHIN = (
    "a byte order mark stands within the file, as where files are joined; give these "
    "one by one, or remove the mark"
)
_ARRAY = re.compile(rb"\[\s*(?:\{|\]|\Z)")  # text may begin with a bracket, too
# An archive that begins with a part of an Office document.
_OFFICE = re.compile(
    rb"PK\x03\x04.{26}(?:\[Content_Types\]|xl/|_rels/|docProps/)", re.DOTALL
)
# Bytes that begin no text: the kind of file, the format that reads it, the next step.
_OTHER_KINDS = (
    (_OFFICE, "an Excel workbook", "xlsx", "name it .xlsx, or "),
    (re.compile(rb"PK\x03\x04"), "a zip archive", "", "unpack it first"),
    (
        re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        "an old Office document",
        "",
        "save it as .xlsx or CSV",
    ),
    (re.compile(rb"%PDF-\d"), "a PDF", "", "export its text first"),
    (re.compile(rb"PAR1.{0,60}\0", re.DOTALL), "Parquet", "parquet", ""),
)
_DELIMITERS = {
    ",": "csv",
    ";": "csv",
    "\t": "tsv",
    "|": "csv",
}
_LONGEST = 40  # characters of the name of a column
LINES = 3  # that are looked at
DIFFERENT = (
    "the columns of the inputs differ, so one output cannot hold them; write each "
    "input to its own output"
)
Item = Record | Verbatim | Fault
# Of the bytes read so far, and whether the stream has ended: how many of them are whole
# records, and how many records these are.
Regular = Callable[[bytes, bool], tuple[int, int]]
# Gives the replacement of a value, spelled as dptext.formats._fields spells it.
Replacement = Callable[[str], str]


def no_replacement(value: str) -> str:
    """Stand for a function where none is needed; no value ever passes unchanged."""
    raise InternalError("a field is replaced without a function")


class Writer(ABC):
    """Writes records back with new texts, in the order of reading."""

    @abstractmethod
    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record; texts take the positions of record.texts, one for one."""

    @abstractmethod
    def verbatim(self, item: Verbatim) -> None:
        """Write bytes between records unchanged."""

    @abstractmethod
    def close(self) -> None:
        """Flush; the stream stays open."""

    @property
    def note(self) -> str:
        """Return a line for people about changed new texts, if any."""
        return ""


class Input(NamedTuple):
    """An opened stream, the selected fields, and its name in messages.

    start is the first ordinal, line the number of the first line, for formats that are
    read in parts; is_alone: no other input has the same output.
    """

    stream: BinaryIO
    selection: Selection
    location: str
    start: int = 0
    line: int = 1
    is_alone: bool = True


@dataclass(frozen=True, slots=True)
class Format(ABC):
    """A format, under the name that --format takes."""

    name: str
    SUFFIXES: ClassVar[tuple[str, ...]]
    IS_TEXT: ClassVar = True  # of characters, which have an encoding
    HAS_FIELDS: ClassVar = True  # else a record is one text
    CHANGES_FIELDS: ClassVar = False  # leaves fields out and replaces values
    MAY_LACK: ClassVar = False  # a record may lack a field, or have a null in it
    IS_TABLE: ClassVar = False  # of characters, with delimiters and perhaps a header
    IS_STREAMED: ClassVar = True  # readers need not wait for its end
    HAS_SHEETS: ClassVar = False  # of which some hold records
    HAS_NAMES: ClassVar = True  # else the first record may stand as names of fields

    @abstractmethod
    def read(self, source: Input) -> Iterator[Item]:
        """Read a stream.

        A Fault takes an ordinal too, so that skipping it changes no other record.
        Raises InputError when the input as a whole cannot be read.
        """

    @abstractmethod
    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> Writer:
        """Return a writer of the records that `read` gave with the same selection.

        replacement gives the values of replaced fields, where the selection has any.
        """

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterable[str]:
        """Return the names of the unselected fields of a file.

        `dptext check` holds them against a policy. Raises InputError when the file
        cannot be read with the selection. Where no head names them all, every record
        is looked at.
        """
        names: dict[str, None] = {}
        for item in self.read(Input(stream, selection, "file")):
            if isinstance(item, Verbatim) and item.copied is not None:
                return item.copied
            if isinstance(item, Record):
                names.update(
                    dict.fromkeys(name for name, _ in self.others(item, selection))
                )
        return names

    def unchanged(
        self, stream: BinaryIO, selection: Selection
    ) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the values of all unselected fields, in all records.

        As the name of a field and some of its values, numbers too, as texts; the name
        comes again with others. Raises InputError for a record that cannot be read.
        """
        for item in self.read(Input(stream, selection, "file")):
            if isinstance(item, Fault):
                raise InputError(item.described())
            every = self.between(item) if isinstance(item, Verbatim) else ()
            if isinstance(item, Record):
                every = self.others(item, selection)
            for name, text in every:
                yield name, (text,)

    def between(self, item: Verbatim) -> Iterable[tuple[str, str]]:
        """Yield names and texts of the fields between records.

        As `others` does for a record: rows of the sheets that are copied.
        """
        return ()

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return a finder of records in bytes, without reading them; head as below.

        None where that cannot be done; else the writer is a LineWriter.
        """
        return None

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return lines with which records from within a file read as a file.

        The bytes between records so far, `before`, are read as one Verbatim and written
        unchanged.
        """
        return b"\n"

    @abstractmethod
    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield name and text of each copied field of a record.

        A warning names those that repeat private text, the answer of a run all of them;
        a field without text may give "". A format without fields gives none.
        """


_SPELLED = {"quoting": "no-quoting", "header": "no-header"}


def check_needs(needs: Mapping[str, Needs], inputs: Sequence[Format]) -> None:
    """Refuse options that none of the formats of inputs can take. Raises UsageError."""
    for name, need in needs.items():
        if not any(getattr(each, need.quality) for each in inputs):
            names = " and ".join(sorted({format.name for format in inputs}))
            shown = noun(_SPELLED.get(name, name.replace("_", "-")))
            advice = "leave it out"
            if need.example:
                example = option("format", need.example)
                advice += f", or name the format of the input, as in {example}"
            raise UsageError(
                f"{shown}: the input is {names}, and {need.reason}; {advice}"
            )


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
    if not suffix and path:
        try:
            os.stat(path)
        except OSError as error:
            raise UsageError(streams.unopened(path, error)) from None
    ending = f"the suffix {suffix!r} of {path}" if suffix else "a name without suffix"
    known = ", ".join(registry.names("formats"))
    raise UsageError(
        f"no format goes with {ending}; choose one with {option('format')} "
        f"({known}), or save a "
        "spreadsheet as .xlsx or CSV"
    )


def by_suffix(path: str) -> Format | None:
    """Return the format that goes with the suffix of a path, if any does."""
    suffix = _suffix(path)
    if not suffix:  # of no format; none is loaded
        return None
    # Most are named by their suffix: then no other one is loaded.
    for choice in sorted(registry.names("formats"), key=suffix[1:].__ne__):
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
            name, _ = table(head) or ("text", "")
    return None if name is None else _load(name)


def table(head: bytes) -> tuple[str, str] | None:
    """Return format and delimiter of lines which look like rows, None for texts.

    The first line is divided into short fields, as no sentence is by its commas, or all
    have equally many delimiters with no space behind.
    """
    lines = head.decode("utf-8", "replace").strip("\ufeff\r\n").split("\n")
    for delimiter, name in _DELIMITERS.items():
        fields = lines[0].rstrip("\r").split(delimiter)
        short = all(len(f) <= _LONGEST and f == f.strip() for f in fields)
        if len(fields) > 1 and short and fields[-1]:
            return name, delimiter
        counts = {len(re.findall(rf"{re.escape(delimiter)}(?! )", s)) for s in lines}
        if len(lines) == LINES and len(counts) == 1 and 0 not in counts:
            return name, delimiter
    return None


def _suffix(path: str) -> str:
    return PurePath(streams.plain_name(path)).suffix.lower()


def _load(name: str) -> Format:
    try:
        module = registry.find("formats", name)
    except UsageError as error:
        raise UsageError(f"{noun('format')}: {error}") from None
    chosen: Format = module.Format(name)
    return chosen


def sniff(head: bytes) -> str | None:
    """Return the format's name if the first bytes of an input tell it."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if _OFFICE.match(head):
        return "xlsx"
    text = head.removeprefix(BOM).lstrip()
    if _ARRAY.match(text):
        return "json"
    if not text.startswith(b"{"):
        return None
    end = b"\n" in text
    import msgspec

    def is_whole(line: bytes) -> bool:
        try:
            msgspec.json.decode(line, type=msgspec.Raw)
        except msgspec.DecodeError:
            return False
        return line.startswith(b"{")

    # A line of several may be cut off; those of one object are no objects themselves.
    return "json" if end and not any(map(is_whole, text.split(b"\n"))) else "jsonl"


def check_content(head: bytes, format: Format, location: str) -> None:
    """Raise InputError if the first bytes of a text file betray another format."""
    if not format.IS_TEXT:
        return
    for pattern, kind, reader, advice in _OTHER_KINDS:
        if pattern.match(head):
            advice += f"give {option('format', reader)}" if reader else ""
            raise InputError(
                f"{location}: its content is that of {kind}, not {format.name}; "
                f"{advice}"
            )


CHUNK = 2**16  # bytes read at once while a record that is too long is skipped
SKIPPED = 2**30  # bytes of one record that are passed over: a device never ends
_EMPTY_LINES = re.compile(rb"[\r\n]*\n")

# Turns a line into a record with an ordinal; raises Unreadable.
Parse = Callable[[str, int], Record]


class Unreadable(Exception):
    """A record has to become a Fault; the reason is without its text.

    advice: the remedy, where there is a better one than to leave the record out;
    is_absent:
    the record lacks a field which was named and has others.
    """

    def __init__(
        self, reason: str, advice: str = "", *, is_absent: bool = False
    ) -> None:
        super().__init__(reason)
        self.advice = advice
        self.is_absent = is_absent

    def fault(self, location: str, raw: bytes) -> Fault:
        """Return the record as a fault."""
        return Fault(
            location=location,
            reason=str(self),
            raw=raw,
            advice=self.advice,
            is_absent=self.is_absent,
        )


def too_long(limit: int) -> str:
    """State that a record is longer than the limit in bytes."""
    size = f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return f"longer than {size} ({option('max-record-bytes')}); its bytes are not kept"


def decode(raw: bytes) -> str:
    """Decode UTF-8 strictly, and refuse bytes that are most likely not text."""
    if b"\0" in raw:
        raise Unreadable(
            "NUL byte, as in binary files and UTF-16",
            (
                f"give {option('encoding', 'utf-16')} if it is a text file, or "
                "convert it "
                "to UTF-8"
            ),
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"not valid UTF-8 (byte {error.start})",
            f"give {option('encoding')} (cp1252 for most files of Windows and Excel, "
            "utf-16 for "
            "some), or convert the file to UTF-8",
        ) from None


def skip_line(stream: BinaryIO, location: str) -> None:
    """Read the rest of an overlong line.

    Raises InputError for one that does not end within a gibibyte.
    """
    size = 0
    while (part := stream.readline(CHUNK)) and not part.endswith(b"\n"):
        size += len(part)
        if size > SKIPPED:
            raise endless(location)


def endless(location: str) -> InputError:
    """Return the error for a record too long to be passed over."""
    return InputError(
        f"{location}: a record longer than {SKIPPED >> 30} GiB, too long to skip; is "
        "this a text file?"
    )


def read_lines(
    source: Input, parse: Parse, blank: bytes | None = None
) -> Iterator[Item]:
    """Read one record per line; blank lines and a byte order mark pass verbatim.

    blank holds the bytes that a blank line may consist of; by default all white space.
    """
    stream, selection, location, ordinal, line = source[:5]
    limit = selection.max_record_bytes
    while raw := stream.readline(limit + 2):
        if len(raw) > limit and len(raw.rstrip(b"\r\n")) > limit:
            yield Fault(f"{location}:{line}", too_long(limit), b"")
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
            yield Verbatim(raw)  # first: the next line may not be there yet
            if empty := read_empty_lines(stream):
                line += empty.count(b"\n")
                yield Verbatim(empty)
            continue
        try:
            yield parse(decode(raw), ordinal)
        except Unreadable as error:
            yield error.fault(f"{location}:{line - 1}", raw)
        ordinal += 1


def read_empty_lines(stream: BinaryIO) -> bytes:
    """Read the empty lines that come next in the buffer of a stream, if it has one.

    One after the other, millions of them would take minutes.
    """
    match = _EMPTY_LINES.match(getattr(stream, "peek", bytes)())
    return stream.read(match.end()) if match else b""


def regular_lines(blank: bytes | None) -> Regular:
    """Take lines for records, except those of blank bytes (None: white space)."""

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = len(data) if at_end else data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")
        return end, sum(1 for line in lines if line and line.strip(blank))

    return regular


class LineWriter(Writer):
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
        self._open = not line.endswith(b"\n")
        if not self._open:
            self._end = b"\r\n" if line.endswith(b"\r\n") else b"\n"

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
