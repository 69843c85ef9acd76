"""Finds columns that identify people in the unchanged fields of a file.

It inspects all values, where `init` and `sanitize` inspect the first records. It
includes the names of fields, which are released too and may be data in JSON. Fields
that a report calls pseudonyms must hold only tokens.

Each value is read once; only counts are kept.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import msgspec

from dptext import formats, pseudonyms, streams
from dptext.checking import exports
from dptext.engine.identifying import (
    FieldValues,
    Identifying,
    Kind,
    advise,
    advise_on_vectors,
)
from dptext.engine.job import Job, Written
from dptext.errors import StoppedError, UsageError
from dptext.formats import Format, _fields
from dptext.report.document import Document
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.streams.outputs import OutputFile
from dptext.vectors import columns

# Fields that are counted one by one; those of data that stand as names may be endless.
_FIELDS = 1000
_FURTHER = "further fields"
_NAMES = "names of fields"
_FEW = 3  # names of fields that look like those of people


@dataclass(frozen=True, slots=True)
class FieldFinding:
    """A field that identifies people: its name in the file and the evidence."""

    name: str
    how: Identifying
    #: How it is shown: names of fields that could be text are not.
    shown: str
    #: Advice besides accepting it.
    advice: str

    def __str__(self) -> str:
        """Return the message: field, kind, share and advice."""
        name = exports.series([self.name])
        return (
            f"{self.shown} is unchanged and {self.how}; {self.advice}, or "
            f"accept it with allow: [identifying: {name}]"
        )


class Contents:
    """Counts the kinds of values in unchanged fields, in little memory."""

    def __init__(
        self,
        subject: str | None = None,
        tokens: Sequence[str] = (),
        advice: str = "",
        dropped: Sequence[str] = (),
    ) -> None:
        """Prepare to count the values of a file.

        - subject: the field whose values name people.
        - tokens: the pseudonymised fields.
        - advice: what to do about a field that identifies people.
        - dropped: fields that the file must not have.
        """
        self._subject, self._tokens = subject, tuple(tokens)
        self._dropped, self._not_dropped = tuple(dropped), set[str]()
        self._advice = advice or advise()
        self._fields: dict[str, FieldValues] = {}
        self._further, self._names = FieldValues(), FieldValues()
        # Numbers of values in further fields with names that tell a kind.
        self._by_name = Counter[Kind]()
        # Numbers of values in fields of pseudonyms, and of those that are no token.
        self._of_tokens, self._no_replacements = Counter[str](), Counter[str]()

    def add(self, name: str, texts: Iterable[str]) -> None:
        """Count values of a field."""
        if exports.is_in(name, self._tokens):
            self._add_tokens(name, texts)
            return
        if exports.is_in(name, self._dropped):
            self._not_dropped.add(name)
        values = self._fields.get(name)
        if values is None:
            self._add_name(name)
            if len(self._fields) >= _FIELDS:
                self._add_further(name, texts)
                return
            values = self._fields[name] = FieldValues()
        for text in texts:
            values.add(text)

    def _add_further(self, name: str, texts: Iterable[str]) -> None:
        named = FieldValues().identifies(name)
        for text in texts:
            self._further.add(text)
            if named is not None and text.strip():
                self._by_name[named.kind] += 1

    def _add_tokens(self, name: str, texts: Iterable[str]) -> None:
        for text in filter(str.strip, texts):
            self._of_tokens[name] += 1
            self._no_replacements[name] += not pseudonyms.is_token(text)

    def _add_name(self, name: str) -> None:
        """Inspect the name of a field, and each part of a path, like a value."""
        self._names.add(name.replace("\\", ""))
        with contextlib.suppress(UsageError):
            parts = _fields.parse(name)
            for part in parts if len(parts) > 1 else ():
                self._names.add(part)

    def identifying(self, allowed: Sequence[str] = ()) -> list[FieldFinding]:
        """Return the fields that identify people, except the allowed ones."""
        findings = []
        for name, values in self._fields.items():
            how = values.identifies(name) if values.texts else None
            if name == self._subject and values.texts and how is None:
                how = Identifying(Kind.PERSON, values.texts, values.texts, by_name=True)
            if how is not None and not exports.is_in(name, tuple(allowed)):
                shown = f"column {exports.series([name])}"
                findings.append(FieldFinding(name, how, shown, self._advice))
        return [*findings, *self._in_names(allowed)]

    def _in_names(self, allowed: Sequence[str]) -> Iterator[FieldFinding]:
        """Yield findings in field names, and in fields beyond the counted ones."""
        in_names = [
            (_FURTHER, Identifying(kind, count, count, by_name=True))
            for kind, count in self._by_name.items()
        ]
        for name, values in ((_FURTHER, self._further), (_NAMES, self._names)):
            how = values.identifies("", by_name=False)
            if how is not None and (how.kind is not Kind.NAME or how.matching >= _FEW):
                in_names.append((name, how))
        for name, how in in_names:
            if name not in allowed:
                shown = f"what stands in {name}"
                yield FieldFinding(name, how, shown, self._advice)

    def contradictions(self) -> Iterator[str]:
        """Yield fields that contradict the report: not dropped, or not pseudonyms."""
        if self._not_dropped:
            named = exports.series(sorted(self._not_dropped))
            yield (
                f"its report was changed: the file contains {named}, which the report "
                "lists as dropped"
            )
        for name, count in self._no_replacements.items():
            if count:
                yield (
                    f"column {exports.series([name])}: {count:,} of "
                    f"{self._of_tokens[name]:,} values are no pseudonyms"
                )


def read(
    module: Format, stream: BinaryIO, selection: Selection, contents: Contents
) -> Contents:
    """Count all unchanged values of a file. Raises InputError if it is truncated."""
    selection = replace(selection.without_changes(), id_field=None, subject_field=None)
    for name, texts in module.unchanged(stream, selection):
        contents.add(name, texts)
    return contents


@dataclass(frozen=True, slots=True)
class StopAtIdentifying:
    """Stops a run whose output has unchanged columns that look identifying."""

    #: Columns that may look so.
    allowed: tuple[str, ...] = ()
    subject: str | None = None

    def __call__(self, job: Job, written: Written, output: OutputFile) -> None:
        """Inspect a complete output. Raises StoppedError."""
        module, selection = (
            formats.find(None, written.format),
            job.selection.output_selection(),
        )
        contents = Contents(self.subject, selection.replaced)
        name = job.output or ""
        with (
            output.content() as plain,
            streams.unpacked(plain, name, selection.encoding) as stream,
        ):
            read(module, stream, selection, contents)
        self._stop(contents, name)

    def look_at_vectors(self, job: Job, written: Written, output: OutputFile) -> None:
        """Inspect the ids beside complete vectors. Raises StoppedError."""
        name, field = job.output or "", job.selection.id_field
        if field is None or columns.suffix(name) == ".npy":  # vectors alone
            return
        contents = Contents(advice=advise_on_vectors())
        with output.content() as plain:
            for ids in columns.ids(plain, name):
                contents.add(field, map(_plain, ids))
        self._stop(contents, name)

    def _stop(self, contents: Contents, name: str) -> None:
        findings = contents.identifying(self.allowed)
        if findings:
            where = f"{name}: " if name else ""
            more = len(findings) - 1
            rest = f"; and {more:,} more such columns" if more else ""
            raise StoppedError(
                f"{where}not written because of {option('fail-on', 'identifying')}: "
                f"{findings[0]}{rest}"
            )


def read_export(report: Document, export: exports.Export) -> Contents:
    """Count all unchanged values of an export, using the layout in its report.

    Raises InputError, UsageError and MissingExtra where it cannot be read.
    """
    run, layout = report.run, report.run.layout
    subject = None if run.recorded is None else run.recorded.limits.field
    advice = advise_on_vectors() if report.words is None else advise()
    tokens = layout.selection(export.size).replaced
    # Without a header, numbers of columns are those of the input.
    dropped = [name for name in layout.dropped if layout.header or not name.isdecimal()]
    contents = Contents(subject, tokens, advice, dropped)
    if layout.format == "text":
        return contents
    if report.words is not None:
        with exports.open_export(layout, export) as (module, stream, selection):
            return read(module, stream, selection, contents)
    written = () if report.output is None else report.output.columns or ()
    if "id" in written:
        with export.open() as plain:
            for ids in columns.ids(plain, export.name):
                contents.add(layout.id_field or "id", map(_plain, ids))
    return contents


def _plain(identity: str) -> str:
    """Return an id as text; a JSON string keeps its JSON spelling."""
    if identity.startswith('"'):
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(identity, type=str)
    return identity
