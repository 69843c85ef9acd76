"""File formats: each module reads and writes one format.

Only the selected fields of a record change; everything else is written back byte for
byte (Parquet: value for value). A new format is one new file with a class `Format`, a
subclass of the one below, and a `Writer`.

- `read` gives a `Record` for each record, with its texts in the order of their fields,
  `present` (the selected fields that it has, null or not), and, where the selection
  asks for them, `identity` and `subject`; a `Fault` for an unreadable one; and
  `Verbatim` for bytes between records. A record over `max_record_bytes`, or without a
  selected field unless `missing` is "pass", is a `Fault`; if no next record can be
  found after it, InputError is raised. A selection without fields (of `init` and
  `check`) gives records without texts.
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
    "there is a byte order mark within the file, probably from joining files; give the "
    "files separately, or remove the mark"
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
        """Write a record; texts replace record.texts one for one."""

    @abstractmethod
    def verbatim(self, item: Verbatim) -> None:
        """Write bytes between records unchanged."""

    @abstractmethod
    def close(self) -> None:
        """Flush; the stream stays open."""

    @property
    def note(self) -> str:
        """Return a note for users about altered new texts, "" if none."""
        return ""


class Input(NamedTuple):
    """An open stream, the selected fields, and its name in messages.

    start is the first ordinal, line the number of the first line, for formats
    read in parts; is_alone: whether the output has no other input.
    """

    stream: BinaryIO
    selection: Selection
    location: str
    start: int = 0
    line: int = 1
    is_alone: bool = True


@dataclass(frozen=True, slots=True)
class Format(ABC):
    """A file format, named as for --format."""

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
        """Return a writer for records that `read` gave with the same selection.

        replacement gives the values of replaced fields, where the selection has any.
        """

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterable[str]:
        """Return the names of the unselected fields of a file.

        `dptext check` compares them with a policy. Raises InputError if the file
        cannot be read with the selection. If no header names them all, every record
        is read.
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
        """Yield the values of all unselected fields in all records.

        Each item is a field name and some values as texts, including numbers; a name
        may repeat with further values. Raises InputError for an unreadable record.
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
        """Yield names and texts of fields outside records.

        These are, for example, rows of copied sheets; see `others`.
        """
        return ()

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return a function that finds records in bytes without parsing them.

        None if that is impossible; otherwise the writer is a LineWriter.
        """
        return None

    def head(self, before: Sequence[Verbatim]) -> bytes:
        """Return the lines to put before records from inside a file to read them.

        The bytes between records so far, `before`, are read as one Verbatim and written
        unchanged.
        """
        return b"\n"

    @abstractmethod
    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield the name and text of each copied field of a record.

        Warnings name those that repeat private text, and a run's summary names all;
        a field without text may give "". A format without fields yields nothing.
        """


_SPELLED = {"quoting": "no-quoting", "header": "no-header"}


def check_needs(needs: Mapping[str, Needs], inputs: Sequence[Format]) -> None:
    """Raise UsageError for options that no input format supports."""
    for name, need in needs.items():
        if not any(getattr(each, need.quality) for each in inputs):
            names = " and ".join(sorted({format.name for format in inputs}))
            shown = noun(_SPELLED.get(name, name.replace("_", "-")))
            advice = "leave it out"
            if need.example:
                example = option("format", need.example)
                advice += f", or give the format of the input, as in {example}"
            raise UsageError(
                f"{shown}: the input is {names}, and {need.reason}; {advice}"
            )


def find(path: str | None, name: str | None = None) -> Format:
    """Return the format by name, else by a path's suffix, else by its content.

    Compression suffixes are ignored. Raises UsageError if none decides, and
    InputError for an unreadable file.
    """
    if name is not None:
        return _load(name)
    path = path or ""
    format = by_suffix(path) or _by_content(path)
    if format is not None:
        return format
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name the files in it")
    suffix = _suffix(path)
    if not suffix and path:
        try:
            os.stat(path)
        except OSError as error:
            raise UsageError(streams.unopened(path, error)) from None
    ending = f"the suffix {suffix!r} of {path}" if suffix else "a name without suffix"
    known = ", ".join(registry.names("formats"))
    raise UsageError(
        f"{ending} does not imply a format; choose one with {option('format')} "
        f"({known}), or save a spreadsheet as .xlsx or CSV"
    )


def by_suffix(path: str) -> Format | None:
    """Return the format for a path's suffix, or None."""
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
    """Return the format that the first lines of a file suggest, or None."""
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
    """Return format and delimiter of lines that look like a table, None for text.

    Lines are a table if the first splits into short fields, unlike a sentence, or if
    all have equally many delimiters that no space follows.
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
    """Return the format that an input's first bytes identify, or None."""
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
    """Raise InputError if the first bytes of a text file show another format."""
    if not format.IS_TEXT:
        return
    for pattern, kind, reader, advice in _OTHER_KINDS:
        if pattern.match(head):
            advice += f"give {option('format', reader)}" if reader else ""
            raise InputError(
                f"{location}: its content is {kind}, not {format.name}; {advice}"
            )


CHUNK = 2**16  # bytes read at once while a record that is too long is skipped
SKIPPED = 2**30  # bytes of one record that are passed over: a device never ends
_EMPTY_LINES = re.compile(rb"[\r\n]*\n")

# Turns a line into a record with an ordinal; raises Unreadable.
Parse = Callable[[str, int], Record]


class Unreadable(Exception):
    """A record must become a Fault; the reason excludes its text.

    advice: the remedy, if there is a better one than skipping the record;
    is_absent:
    whether the record lacks a named field but has others.
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
    """State that a record exceeds the limit in bytes."""
    size = f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit} bytes"
    return f"longer than {size} ({option('max-record-bytes')}); its bytes are not kept"


def decode(raw: bytes) -> str:
    """Decode UTF-8 strictly, and reject bytes that are probably not text."""
    if b"\0" in raw:
        raise Unreadable(
            "it contains a NUL byte, like binary files and UTF-16",
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
    """Return the error for a record too long to skip."""
    return InputError(
        f"{location}: a record longer than {SKIPPED >> 30} GiB, too long to skip; is "
        "this a text file?"
    )


def read_lines(
    source: Input, parse: Parse, blank: bytes | None = None
) -> Iterator[Item]:
    """Yield one record per line; blank lines and a byte order mark pass unchanged.

    blank: the bytes that blank lines may consist of; by default all white space.
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
    """Read the empty lines at the start of a stream's buffer at once.

    Reading millions of them one by one would take minutes.
    """
    match = _EMPTY_LINES.match(getattr(stream, "peek", bytes)())
    return stream.read(match.end()) if match else b""


def regular_lines(blank: bytes | None) -> Regular:
    """Return a finder that treats lines as records, except blank lines."""

    def regular(data: bytes, at_end: bool) -> tuple[int, int]:
        end = len(data) if at_end else data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")
        return end, sum(1 for line in lines if line and line.strip(blank))

    return regular


class LineWriter(Writer):
    """Writes lines; every line but the last gets a line end, also between inputs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._started = False
        self._open = False
        self._end = b"\n"

    def put(self, line: bytes) -> None:
        """Write a line, adding the line end that the previous line may lack."""
        self._started = True
        if self._open:
            line = self._end + line
        self._stream.write(line)
        self._open = not line.endswith(b"\n")
        if not self._open:
            self._end = b"\r\n" if line.endswith(b"\r\n") else b"\n"

    def piece(self, data: bytes) -> None:
        """Write several lines; the last may lack its line end."""
        last = data.rfind(b"\n") + 1
        for part in (data[:last], data[last:]):
            if part:
                self.put(part)

    def verbatim(self, item: Verbatim) -> None:
        """Write a blank line; a byte order mark only at the start of the output."""
        raw = item.rest
        assert isinstance(raw, bytes)
        if not item.header:
            if raw:
                self.put(raw)
        elif not self._started:
            self._started = True
            self._stream.write(raw)

    def close(self) -> None:
        """Do nothing: no data is held back."""
