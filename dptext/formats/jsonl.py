"""JSON lines: one object per line; fields are dotted paths.

A path goes through objects by name and through every element of lists; a
list of strings at its end gives one text each. If no field is named, a record may be
a string, which is its text. Everything except the selected texts is kept
as written: key order, spaces, numbers, escapes. Selected texts are always rewritten,
whether they changed or not, so that the spelling reveals nothing. A field that
occurs twice in one object is a fault: the unread copy would leak.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.encoder import encode_basestring
from typing import BinaryIO, ClassVar, NamedTuple

import msgspec

from dptext import formats
from dptext.errors import InputError
from dptext.formats import (
    Input,
    Item,
    LineWriter,
    Regular,
    Replacement,
    Unreadable,
    _fields,
    no_replacement,
)
from dptext.formats._scan import HALF, Change, Scan, flat_line
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

# An escape of half a surrogate pair, with the backslashes before it.
_SURROGATE = re.compile(r"((?<!\\)(?:\\\\)*\\u)[dD][89a-fA-F][0-9a-fA-F]{2}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_LOOKED_AT = 1000  # values of a record
# Raw checks the grammar and builds nothing.
_decode = msgspec.json.Decoder(msgspec.Raw).decode


class LineRest(NamedTuple):
    """The JSON of a record, the spans of its texts, and the bytes before it.

    changes are the parts that are left out or replaced.
    """

    line: str
    spans: list[tuple[int, int]]
    before: str = ""
    changes: Sequence[Change] = ()


class Format(formats.Format):
    """One record per non-blank line."""

    SUFFIXES: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    CHANGES_FIELDS: ClassVar = True
    MAY_LACK: ClassVar = True

    def read(self, source: Input) -> Iterator[Item]:
        """Read one record per non-blank line."""
        return formats.read_lines(source, parser(source.selection))

    def writer(
        self,
        stream: BinaryIO,
        selection: Selection,
        replacement: Replacement = no_replacement,
    ) -> formats.Writer:
        """Return a writer for lines."""
        return Writer(stream, replacement)

    def regular(self, selection: Selection, head: bytes = b"") -> Regular | None:
        """Return a finder of non-blank lines."""
        return formats.regular_lines(None)

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Yield the paths of all copied values, as `--field` names them.

        Raises InputError for a record that is not JSON.
        """
        texts = {
            _fields.parse(path) for path in (*selection.fields, *selection.replaced)
        }
        parents = {path[:end] for path in texts for end in range(1, len(path))}
        is_dropped = _fields.within(selection.dropped)
        yielded: set[tuple[str, ...]] = set()
        for path, value in self._leaves(stream, selection):
            if not path:  # a text alone
                continue
            empty = value is None or value == []
            selected = path in texts or (empty and path in parents)
            if path not in yielded and not selected and not is_dropped(path):
                yielded.add(path)
                yield _fields.joined(path)

    def unchanged(
        self, stream: BinaryIO, selection: Selection
    ) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the strings and numbers of all unselected paths."""
        texts = {_fields.parse(path) for path in selection.fields}
        for path, value in self._leaves(stream, selection):
            if not path or path in texts:
                continue
            if isinstance(value, bytes):  # the spelling of a number
                yield _fields.joined(path), (value.decode(),)
            else:
                yield _fields.joined(path), (value if isinstance(value, str) else "",)

    def _leaves(
        self, stream: BinaryIO, selection: Selection
    ) -> Iterator[tuple[tuple[str, ...], object]]:
        """Yield the path and value of each leaf in all records.

        Raises InputError for a record that is not JSON.
        """
        for item in self.read(Input(stream, selection.without_fields(), "file")):
            if isinstance(item, Fault):
                raise InputError(item.described())
            if isinstance(item, Verbatim):
                continue
            assert isinstance(item.rest, LineRest)
            try:
                yield from list(_fields.leaves(item.rest.line))
            except Unreadable as error:
                raise InputError(f"record {item.ordinal + 1}: {error}") from None

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Yield the copied values of a record by path; "" unless a string.

        At most a thousand values are read.
        """
        assert isinstance(record.rest, LineRest)
        leaves = _fields.leaves(record.rest.line)
        texts = (*selection.fields, *selection.replaced)
        is_dropped = _fields.within(selection.dropped)
        with contextlib.suppress(Unreadable):
            for names, value in islice(leaves, _LOOKED_AT):
                path = _fields.joined(names)
                if names and path not in texts and not is_dropped(names):
                    yield path, value if isinstance(value, str) else ""


def parser(selection: Selection) -> Callable[..., Record]:
    """Return a function that parses JSON into a record.

    Its arguments are the JSON, an ordinal and the bytes before it. It raises
    Unreadable.
    """
    root, pass_missing = _fields.tree(selection), selection.missing == "pass"
    has_fields = any(selection.named)
    flat, present = flat_line(root), tuple(each.path for each in root.below.values())

    def parse(line: str, ordinal: int, before: str = "") -> Record:
        try:
            _validate(line)
            if flat is not None and (match := flat.fullmatch(line)):
                begin, end = match.span(1)
                rest = LineRest(line, [(begin - 1, end + 1)], before)
                size = len(line)
                return Record(ordinal, (match[1],), rest, present=present, size=size)
            if not has_fields and line.lstrip().startswith('"'):
                return _string(line, ordinal, before)
            if selection.strings:
                raise Unreadable(
                    "the record is not a string, unlike the first ones",
                    f"name the private fields of objects with {option('field')}",
                )
            scan = Scan(line, root, pass_missing)
        except msgspec.DecodeError as error:
            raise _invalid(line, error) from None
        except RecursionError:
            raise Unreadable("nested too deeply") from None
        return Record(
            ordinal=ordinal,
            texts=tuple(scan.texts),
            rest=LineRest(line, scan.spans, before, scan.changes),
            identity=scan.identity,
            present=scan.present,
            subject=scan.subject,
            size=len(line),
        )

    return parse


def _invalid(line: str, error: msgspec.DecodeError) -> Unreadable:
    """Explain why a line is not valid JSON."""
    if "\r" in line.strip():
        return Unreadable(
            "not valid JSON: it contains a carriage return",
            "convert the line ends to line feeds",
        )
    if "\ufeff" in _STRING.sub("", line):
        return Unreadable(formats.BOM_WITHIN)
    # The library's messages hold offsets, never text.
    return Unreadable(f"not valid JSON: {error}")


def _validate(line: str) -> None:
    """Raise msgspec.DecodeError unless a line is valid JSON."""
    try:
        _decode(line)
    except msgspec.DecodeError:
        # Half of a surrogate pair is copied where it is in no private field.
        whole = _SURROGATE.sub(r"\1fffd", line)
        if whole == line:
            raise
        _decode(whole)


def _string(line: str, ordinal: int, before: str) -> Record:
    """Return a record for a bare string, if no field is named."""
    begin, end = len(line) - len(line.lstrip()), len(line.rstrip())
    text, _ = scanstring(line, begin + 1)
    if HALF.search(text):
        raise Unreadable("the text contains half of a surrogate pair")
    rest = LineRest(line, [(begin, end)], before)
    return Record(ordinal, (text,), rest, size=len(line))


class Writer(LineWriter):
    """Writes the line of each record with its new texts."""

    def __init__(self, stream: BinaryIO, replacement: Replacement) -> None:
        super().__init__(stream)
        self._replacement = replacement

    def write(self, record: Record, texts: Sequence[str]) -> None:
        """Write a record."""
        assert isinstance(record.rest, LineRest)
        self.put(filled(record.rest, texts, self._replacement).encode())


def filled(rest: LineRest, texts: Sequence[str], replacement: Replacement) -> str:
    """Return a record's JSON with new texts, and without dropped fields."""
    line, spans, _, changes = rest
    if len(texts) == 1 and not changes:  # of most records
        ((begin, end),) = spans
        return line[:begin] + encode_basestring(texts[0]) + line[end:]
    parts, at = list[str](), 0
    new = [
        (begin, end, encode_basestring(text))
        for (begin, end), text in zip(spans, texts, strict=True)
    ]
    if changes:
        for begin, end, value in changes:
            new.append((begin, end, "" if value is None else f'"{replacement(value)}"'))
        new.sort()
    for begin, end, text in new:
        parts += (line[at:begin], text)
        at = end
    parts.append(line[at:])
    return "".join(parts)
