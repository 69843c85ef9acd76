"""Reads the records of all inputs of a job in order, and detects their format.

If records of a format can be counted without reading them, inputs may be cut into parts
for other processes. A cut comes after a whole record, and the number of records in a
part is known: record numbers, which decide the random bits, are those of one reader.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BufferedReader
from itertools import groupby, islice
from typing import BinaryIO, NamedTuple, cast

from dptext import formats, streams
from dptext import pipeline as pipelines
from dptext.engine.fields import SAMPLE
from dptext.engine.job import FilePart, Job, Task, Warn
from dptext.engine.tally import Repeats
from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.formats import Format, Input
from dptext.formats._fields import IDENTIFIER, listed
from dptext.metrics import FIRST_TEXTS
from dptext.run.interface import noun, option
from dptext.run.selection import REPLACEMENT, Selection
from dptext.streams.outputs import Quarantine
from dptext.types import Fault, Record, Verbatim

_TEXT = "text"
_HEAD = 64  # bytes that tell files of other kinds
_LOOKED_AT = 10  # records; their fields are listed


def is_nameless(path: str) -> bool:
    """Return whether an input's format is known only from its content."""
    return streams.is_stream(path) and formats.by_suffix(path) is None


def one_format(paths: Iterable[str], *others: str) -> str:
    """Return the single format of paths by their suffixes, ignoring standard input.

    Raises UsageError if the formats differ.
    """
    names = {formats.find(path).name for path in paths if not is_nameless(path)}
    names.update(others)
    if len(names) > 1:
        raise UsageError(
            f"inputs have different formats ({', '.join(sorted(names))}); run once for "
            f"each, or write each to its own file with {option('out-dir')}"
        )
    return "".join(names)


def check_readable(job: Job) -> None:
    """Raise InputError for an unreadable input, if it may be skipped."""
    if job.work.treatment == "fail":
        return
    for name in (each for each in job.inputs if not streams.is_stream(each)):
        try:
            with open(name, "rb"):
                pass
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}") from None


def check_files(jobs: Iterable[Job]) -> None:
    """Raise UsageError for a job without fields if its files have fields."""
    for job in (each for each in jobs if not each.selection.fields):
        for name in (each for each in job.inputs if not streams.is_stream(each)):
            format = formats.find(name, job.format)
            if format.name != _TEXT:
                with streams.open_input(name, job.selection.encoding) as stream:
                    check_fields(format, job.selection, stream, name)


def check_fields(
    format: Format, selection: Selection, stream: io.BufferedReader, location: str
) -> tuple[Selection, io.BufferedReader]:
    """Raise UsageError, listing candidates, if no field is selected.

    Candidates are fields with text in the first records; they are omitted if the first
    record may hold private text instead of names. Returns the selection (for
    strings if the first records are strings) and the stream, unread. Raises InputError
    for content such as a workbook in a file named as text.
    """
    formats.check_content(stream.peek(_HEAD), format, location)
    if selection.fields or not format.HAS_FIELDS:
        return selection, stream
    source: BinaryIO = stream
    if format.IS_TEXT:
        head = stream.read(streams.AHEAD)
        source, stream = io.BytesIO(head), streams.joined(head, stream)
    every = selection.without_fields()
    names: dict[str, bool] = {}
    with contextlib.suppress(InputError):
        items = format.read(Input(source, every, location))
        records = (item for item in items if isinstance(item, Record))
        # The text may be in the last sheet of a workbook.
        for record in islice(records, None if format.HAS_SHEETS else _LOOKED_AT):
            if record.texts:  # strings of JSON, which have no fields
                if any(selection.named):
                    raise UsageError(
                        f"{location}: the records are plain strings without fields; "
                        f"leave {option('id')}, {option('subject')}, {option('drop')} "
                        f"and {option(REPLACEMENT)} out"
                    )
                return replace(selection, strings=True), stream
            for name, text in format.others(record, every):
                names[name] = names.get(name, False) or bool(text)
    if not (format.HAS_NAMES or all(map(IDENTIFIER.fullmatch, names))):
        names.clear()
    shown = listed(name for name, has_text in names.items() if has_text)
    raise UsageError(
        f"{location}: name each private field with {option('field', 'NAME')}{shown}"
    )


def decide_format(job: Job, *read: str) -> Job:
    """Return a job with the format of its inputs, from their names or content.

    read: the format detected at the start of standard input. Raises UsageError for
    inputs of several formats, and for an output named like a file of another format.
    """
    if job.format is not None:
        return job
    name, named = one_format(job.inputs, *read), job.named
    if named is not None and named.name != name:
        suffixes = " or ".join(formats.find(None, name).SUFFIXES)
        raise UsageError(
            f"{job.output}: outputs have the format of their input, here {name}; use a "
            f"name ending in {suffixes}, or give {option('format')} to keep this name"
        )
    first, usual = job.inputs[0], "jsonl" if job.selection.fields else _TEXT
    is_usual = is_nameless(first) and name == usual
    is_guessed = not is_usual and formats.by_suffix(first) is None
    selection = replace(job.selection, format=name)
    return replace(job, selection=selection, is_guessed=is_guessed)


def _decide_by_content(
    job: Job, stream: io.BufferedReader
) -> tuple[Job, io.BufferedReader]:
    """Detect the format of a job; return it with its first input opened, unread.

    For standard input, its first bytes decide, then the suffix of the output, then its
    lines. Raises UsageError for lines that look like a table if no field is selected.
    """
    if job.format is not None or not is_nameless(job.inputs[0]):
        return decide_format(job), stream
    # Records that leave at once do not wait for more lines.
    count = 1 if job.outputs.line_buffered else formats.LINES
    head, stream = streams.first_lines(stream, count)
    return decide_format(job, formats.sniff(head) or _without_magic(job, head)), stream


def _without_magic(job: Job, head: bytes) -> str:
    if job.named is not None and job.named.name != _TEXT:
        return job.named.name
    files = [name for name in job.inputs if not is_nameless(name)]
    if files:
        return formats.find(files[0]).name
    table, first = formats.table(head), location(job.inputs[0])
    if table is not None and not job.selection.fields:
        name, delimiter = table
        shown = option("format", name)
        if delimiter in ";|":
            shown += f" {option('delimiter', delimiter)}"
        raise UsageError(
            f"{first} looks like a table: give {shown} "
            f"{option('field', 'NAME')}, or {option('format', 'text')} if each line is "
            "a text"
        )
    if table is not None:
        return table[0]
    if head and job.selection.fields:
        raise UsageError(
            f"{first} looks like plain text, which has no fields: give its "
            f"{option('format')}, or leave {option('field')} out"
        )
    return _TEXT


SIZE = 2**18  # bytes of a piece
# Times SIZE: a longer rest without a cut goes to the reader of records.
_LONGEST_REST = 4


class Source:
    """Reads records; faulty records end the job or go to quarantine.

    faults: number of skipped records; copied: names of the copied fields, if a header
    or schema lists them; sheets: the workbook's sheets, and whether each is read.
    """

    def __init__(
        self,
        job: Job,
        aside: Quarantine | None,
        texts: int = 0,
        warn: Warn = lambda line: None,
    ) -> None:
        """Begin; texts: number of texts earlier in the run."""
        self._job = job
        # One reader counts records of equal id and texts, for their noise to differ.
        self._repeats = None if job.selection.id_field is None else Repeats()
        self._aside = aside
        self._warn = warn
        # Number of the next record; each output numbers its own, faulty ones too.
        self._next, self._records, self._texts = 0, 0, texts
        self._first: BufferedReader | None = None
        self._format: Format
        self._before = streams.status(job.output) if job.output in job.inputs else None
        self._first_fault: Fault | None = None
        self._is_cut = False
        self.faults = 0
        #: Number of records left out since they are in none of the languages.
        self.others = 0
        self.copied: tuple[str, ...] | None = None
        self.sheets: dict[str, bool] | None = None

    def open(self, stack: contextlib.ExitStack) -> Format:
        """Open the first input and return the format of all inputs.

        Raises UsageError if records have fields but none is selected.
        """
        first, selection = self._job.inputs[0], self._job.selection
        stream = stack.enter_context(streams.open_input(first, selection.encoding))
        self._job, stream = _decide_by_content(self._job, stream)
        name = self._job.format
        self._format = formats.find(None, name)
        # Files were checked before; an empty input suits any option.
        if streams.is_stream(first) and stream.peek(1):
            formats.check_needs(self._job.needs, [self._format])
        if self._format.HAS_FIELDS and not self._format.CHANGES_FIELDS:
            if selection.changed:
                raise UsageError(
                    f"{location(first)}: format {name} supports neither dropping "
                    f"fields ({option('drop')}) nor {REPLACEMENT}s "
                    f"({option(REPLACEMENT)})"
                )
        if self._job.is_guessed:
            self._warn(
                f"{location(first)}: detected as {name} from its content; give "
                f"{option('format')} if that is wrong"
            )
        selection, stream = check_fields(
            self._format, selection, stream, location(first)
        )
        self._job = replace(self._job, selection=selection)
        self._first = stream
        return self._format

    def records(self) -> Iterator[Record]:
        """Yield records, skipping the bytes between them.

        Raises InputError at the first faulty record when on_error is "fail".
        """
        for item in self.items(parts=False):
            if isinstance(item, Record) and not isinstance(item.rest, Verbatim):
                yield item

    def items(self, *, parts: bool) -> Iterator[Record | FilePart]:
        """Yield records; with parts, parts of the file after the first records.

        Bytes between records come as records without texts. After the first part, which
        another process reads later, errors are passed on in order: a Fault or an
        InputError as the rest of a record without texts.
        """
        first, *others = self._job.inputs
        assert self._first is not None
        try:
            yield from self._read(self._first, first, parts)
            for name in others:
                with streams.open_input(name, self._job.selection.encoding) as stream:
                    yield from self._read(stream, name, parts)
        except InputError as error:
            if not self._is_cut:
                raise
            yield Record(-1, (), error)

    def tasks(self, *, parts: bool) -> Iterator[Task]:
        """Yield batches of records; with parts, parts after the first records."""
        first_text = self._texts
        leaves_out = self._job.selection.other_language != "mask"
        items = self.items(parts=parts)
        for is_part, group in groupby(items, lambda item: isinstance(item, FilePart)):
            if is_part:
                yield from (
                    Task([], 0, cast(FilePart, part), leaves_out) for part in group
                )
                continue
            records = cast(Iterator[Record], group)
            for batch in pipelines.batches(records, self._job.batch_size):
                yield Task(batch, first_text, leaves_out=leaves_out)
                first_text += sum(len(record.texts) for record in batch)

    def count_texts(self) -> int:
        """Count texts up to FIRST_TEXTS. Raises as `records`."""
        for _ in self.records():
            if self._texts >= FIRST_TEXTS:
                return FIRST_TEXTS
        return self._texts

    def _read(
        self, stream: BufferedReader, name: str, parts: bool
    ) -> Iterator[Record | FilePart]:
        where, selection, module = location(name), self._job.selection, self._format
        is_undivided = self._repeats or selection.language_field
        if not parts or is_undivided or module.regular(selection) is None:
            source = Input(
                stream=stream,
                selection=selection,
                location=where,
                start=self._next,
                is_alone=len(self._job.inputs) == 1,
            )
            yield from filter(None, map(self._number, module.read(source)))
            return
        counted, before = _Counted(stream), list[Verbatim]()
        source = Input(cast(BinaryIO, counted), selection, where, self._next)
        for item in module.read(source):
            if isinstance(item, Verbatim):
                before.append(item)
            if record := self._number(item):
                yield record
            # Checks on the first records have seen enough of them.
            begun = self._records >= SAMPLE and self._texts >= FIRST_TEXTS
            if begun and not isinstance(item, Verbatim):
                head = module.head(before)
                line, start = counted.lines, self._next
                of_rest = replace(selection, skip_lines=0)
                part = FilePart(
                    format=module.name,
                    selection=of_rest,
                    location=where,
                    head=head,
                    line=line,
                    start=start,
                )
                yield from self._parts(stream, part)
                return

    def _parts(self, stream: BinaryIO, part: FilePart) -> Iterator[Record | FilePart]:
        """Yield the rest of an input in parts; records once one is irregular."""
        regular = self._format.regular(part.selection, part.head)
        assert regular is not None
        self._is_cut, left, more = True, b"", b"-"
        while more and len(left) <= _LONGEST_REST * SIZE:
            more = stream.read(SIZE)
            data = left + more
            end, records = regular(data, not more)
            left = data[end:]
            if end:
                yield part._replace(data=data[:end])
                self._next += records
                line = part.line + data.count(b"\n", 0, end)
                part = part._replace(line=line, start=self._next)
        if not left:
            return
        items = self._format.read(part.source(streams.joined(part.head + left, stream)))
        next(items)  # the head
        yield from filter(None, map(self._number, items))

    def _number(self, item: formats.Item) -> Record | None:
        """Give the record of an item its number; a fault takes a number too.

        None for a fault that has been handled.
        """
        if isinstance(item, Verbatim):
            if item.note:
                self._warn(item.note)
            self.copied = item.copied if self.copied is None else self.copied
            self.sheets = item.sheets if self.sheets is None else self.sheets
            size = len(item.rest) if isinstance(item.rest, bytes) else 0
            return Record(-1, (), item, size=size)
        self._next += 1
        if isinstance(item, Fault):
            if self._is_cut:
                return Record(-1, (), item)
            self.fault(item)
            return None
        self._records += 1
        self._texts += len(item.texts)
        if self._job.selection.language_field is not None:
            item = self._with_language(item)
        if self._repeats is not None and (repeat := self._repeats.count(item)):
            item = replace(item, repeat=repeat)
        return item

    def _with_language(self, record: Record) -> Record:
        """Return a record with the language in its language field, "" if empty.

        Raises UsageError if the first record lacks the field.
        """
        name = self._job.selection.language_field
        values = dict(self._format.others(record, self._job.selection))
        if name not in values and self._records == 1:
            raise UsageError(
                f"{noun('language-field')} {name}: the first record has no such copied "
                "field; give the name of one"
            )
        return replace(record, language=values.get(str(name), "").strip().lower())

    def fault(self, fault: Fault) -> None:
        """Skip a faulty record. Raises InputError when on_error is "fail".

        A field that the first record lacks is an UnknownFieldError.
        """
        if self._job.work.treatment == "fail":
            if fault.is_absent and not self._records:
                raise UnknownFieldError(fault.described())
            raise InputError(
                fault.described(
                    f" (continue with {option('on-error', 'skip')}, or "
                    f"{option('quarantine', 'FILE')})"
                )
            )
        self._first_fault = self._first_fault or fault
        self.faults += 1
        if self._aside is not None:
            self._aside.add(fault.raw + (b"" if fault.raw.endswith(b"\n") else b"\n"))

    def leave_out(self, number: int, raw: bytes) -> None:
        """Skip records in other languages; save their bytes if requested."""
        self.others += number
        if self._job.selection.other_language == "quarantine" and number:
            assert self._aside is not None
            self._aside.add(raw + b"\n" * (not raw.endswith(b"\n")))

    def check_unchanged(self) -> None:
        """Raise InputError if an input that will be replaced has changed."""
        if self._before not in (None, streams.status(self._job.output)):
            raise InputError(
                f"{self._job.output}: changed while it was being read; run again"
            )

    def check_read(self, records: int) -> None:
        """Raise InputError if no record was readable; warn if there were none."""
        if not records and self._first_fault is not None:
            raise InputError(
                "no record could be read, so no output was written; the first of "
                f"{self.faults} is {self._first_fault.described()}"
            )
        if self._repeats is not None and (repeats := self._repeats.repeated):
            self._warn(
                f"{noun('id')} {self._job.selection.id_field}: {repeats:,} of the "
                "records repeat id and text of an earlier one, so the id is not "
                "unique; each was drawn anew"
            )
        if not records:
            names = ", ".join(map(location, self._job.inputs))
            self._warn(f"{names}: it has no records, so the output has none")


def first_records(job: Job, number: int) -> list[Record]:
    """Return the first records of a job."""
    source = Source(replace(job, output=None), None)
    with contextlib.ExitStack() as stack:
        source.open(stack)
        return list(islice(source.records(), number))


class Beginning(NamedTuple):
    """A job's first records, with the bytes before and between them."""

    format: Format
    items: list[Record]

    @property
    def records(self) -> list[Record]:
        """Return the records."""
        return [each for each in self.items if not isinstance(each.rest, Verbatim)]

    def replacements(
        self, selection: Selection, replacement: formats.Replacement
    ) -> list[dict[str, str]]:
        """Return the replaced values of each record, by fields; [] for none.

        Replacements are written and read back as in the output, in memory.
        """
        if not selection.replaced:
            return []
        out = io.BytesIO()
        writer = self.format.writer(out, selection, replacement)
        for record in self.items:
            if isinstance(record.rest, Verbatim):
                writer.verbatim(record.rest)
            else:
                writer.write(record, record.texts)
        writer.close()
        there = selection.output_selection()
        shown: list[dict[str, str]] = [{} for _ in self.records]
        for name, path in zip(selection.replaced, there.replaced, strict=True):
            read = replace(
                there,
                fields=(path,),
                replaced=(),
                id_field=None,
                subject_field=None,
                missing="pass",
            )
            items = self.format.read(Input(io.BytesIO(out.getvalue()), read, "preview"))
            records = (each for each in items if isinstance(each, Record))
            for values, record in zip(shown, records, strict=False):
                values[name] = ", ".join(filter(None, record.texts))
        return shown


def beginning(job: Job, number: int) -> Beginning:
    """Read the first records of a job."""
    source, items = Source(replace(job, output=None), None), list[Record]()
    with contextlib.ExitStack() as stack:
        module = source.open(stack)
        for item in source.items(parts=False):
            assert isinstance(item, Record)
            items.append(item)
            number -= not isinstance(item.rest, Verbatim)
            if not number:  # standard input may not have more yet
                break
    return Beginning(module, items)


def find_subject(record: Record, name: str) -> str:
    """Return the subject of a record. Raises UsageError if records have no fields."""
    if record.subject is None:
        raise UsageError(
            f"{noun('subject')} {name}: the input has no fields that could identify a "
            "person; give a file with fields, such as JSON, CSV or Excel"
        )
    return record.subject


def location(name: str) -> str:
    """Return the name of an input in messages."""
    return "standard input" if streams.is_standard(name) else name


class _Counted:
    """A stream that counts the lines read."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream = stream
        self.lines = 0

    def readline(self, size: int) -> bytes:
        """Read a line, or at most `size` bytes of it."""
        line = self._stream.readline(size)
        self.lines += line.endswith(b"\n")
        return line

    def peek(self) -> bytes:
        """Return the buffered bytes, at least one unless at the end."""
        return self._stream.peek()

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes."""
        data = self._stream.read(size)
        self.lines += data.count(b"\n")
        return data
