"""Summarises the fields of a file from its first records, for `dptext init`.

The summary depends on the private text: only for its owner.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from dptext import formats, streams
from dptext.engine.identifying import (
    FEW_VALUES,
    TEXT,
    WORD,
    FieldValues,
    Kind,
    words_of_name,
)
from dptext.engine.job import Job
from dptext.errors import InputError
from dptext.formats import Format, Input
from dptext.run.choices import is_word_file
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

# Small words in the names of people and places.
_PARTICLES = frozenset(
    "de da do dos del della di du la le van von der den bin al y".split()
)
# What fields of free text are called, as the last word of a name.
_NAMES = frozenset(
    "answer answers body comment comments complaint content description detail details "
    "explanation feedback issue memo message note notes opinion query question reason "
    "remark remarks request review story subject summary symptom symptoms text "
    "title".split()
)
_SHARE = 0.3  # of the values must be phrases
_OF_NAMED = 0.2  # of those of a field that is named after free text
_FEW = 3  # different phrases; a field of states, such as "open", has no more
_REMEMBERED = 100
MOST_VALUES = 30  # of a field that `dptext init` offers as words to keep
_LONGEST_NAME = 40
RECORDS = 1000  # that `dptext init` looks at, in each sheet of a workbook
#: The content of a column in a sheet that is no table, such as a title page.
PAGE = "text of a page"


class Phrases:
    """Counts values of a field that are phrases, to recognise short free text.

    Unlike codes, states and names, a phrase has several words, and one after the
    first in lower case. A field named like free text may repeat its values.
    """

    def __init__(self) -> None:
        self._texts = self._phrases = 0
        self._different: set[int] = set()

    def add(self, text: str) -> None:
        """Count a value, "" for a missing text."""
        if not text.strip():
            return
        self._texts += 1
        later = WORD.findall(text[:1000])[1:]
        if any(word[0].islower() and word not in _PARTICLES for word in later):
            self._phrases += 1
            if len(self._different) < _REMEMBERED:
                self._different.add(hash(text))

    def are_text(self, name: str, *, repeated: bool) -> bool:
        """Return whether a field with this name holds free text.

        repeated: whether few of its values are distinct.
        """
        words = words_of_name(name)
        is_named = bool(words) and words[-1] in _NAMES
        if is_named and len(self._different) >= _FEW:
            return self._phrases >= _OF_NAMED * self._texts
        return not repeated and 0 < _SHARE * self._texts <= self._phrases


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """Summary of a field in the first records of a file."""

    name: str
    #: Its content in words, as in "text" or "e-mail addresses".
    looks: str
    #: Number of records with text in it.
    texts: int
    #: Number of different values.
    different: int
    #: Mean number of words of a text.
    words: float
    #: How it identifies people; None if it does not.
    identifies: Kind | None = None
    #: Its values where they are few, with a capital as names of products have.
    values: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Return whether the field contains texts with replaceable words."""
        return self.texts > 0 and self.looks == TEXT

    @property
    def is_page(self) -> bool:
        """Return whether the field holds text in a sheet that is not a table."""
        return self.looks == PAGE


def survey(job: Job) -> list[FieldSummary]:
    """Summarise the fields of a job's file; empty if each line is a text.

    Raises InputError where no record can be read, UsageError for an unknown format.
    """
    name, every = job.inputs[0], Selection(fields=())
    module = formats.find(name, job.format)
    if module.name == TEXT:
        return []
    selection = replace(job.selection, fields=())
    values = defaultdict[str, FieldValues](FieldValues)
    phrases = defaultdict[str, Phrases](Phrases)
    listed = defaultdict[str, set[str]](set)
    with streams.open_input(name, selection.encoding) as stream:
        records = _records(module, stream, selection, name)
        named = (list(module.others(record, every)) for record in records)
        first = _of_each_sheet(named) if module.HAS_SHEETS else islice(named, RECORDS)
        for fields in first:
            for path, text in fields:
                values[path].add(text)
                phrases[path].add(text)
                if len(listed[path]) <= MOST_VALUES:
                    listed[path].add(text.strip())
    with streams.open_input(name, selection.encoding) as stream:
        head = [*module.copied(stream, selection)]
    names = dict.fromkeys([*values, *head])
    if not names:
        raise InputError(f"{name}: no record has a field; give another file")
    columns, pages = [], _pages(names, head) if module.HAS_SHEETS else set()
    for path in names:
        each = values[path]
        kind, looks = _looks(path, each, phrases[path])
        if looks == TEXT and _sheet(path) in pages:
            looks = PAGE
        words = each.words / max(each.texts, 1)
        columns.append(
            FieldSummary(
                name=path,
                looks=looks,
                texts=each.texts,
                different=each.different,
                words=words,
                identifies=kind,
                values=_names_in(listed[path], each, kind),
            )
        )
    return columns


def _looks(path: str, values: FieldValues, phrases: Phrases) -> tuple[Kind | None, str]:
    """Return how a field identifies people, or None, and describe its content."""
    how, looks = values.identifies(path), values.looks()
    kind = None if how is None else how.kind
    # A text may hold an address, as it may hold a name.
    if how is None or how.inside:
        if phrases.are_text(path, repeated=looks == FEW_VALUES):
            return kind, TEXT
    return kind, looks if kind is None or looks == TEXT else kind


def _names_in(
    listed: set[str], values: FieldValues, kind: Kind | None
) -> tuple[str, ...]:
    """Return the values of a field that may be names of products, plans etc."""
    is_few = 1 < len(listed) <= min(MOST_VALUES, values.texts / 2)
    if kind is not None or values.are_states or not is_few:
        return ()
    return tuple(sorted(filter(_is_name, listed)))


def _is_name(value: str) -> bool:
    """Return whether a value is short and has a letter that is not lower-case."""
    has_capital = any(each.isalpha() and not each.islower() for each in value)
    plain = "," not in value and not is_word_file(value, Path(value))
    return has_capital and 1 < len(value) <= _LONGEST_NAME and plain


def _sheet(path: str) -> str:
    """Return the sheet in a column's name, "" in a workbook with one sheet."""
    return path.partition("!")[0] if "!" in path else ""


def _of_each_sheet(
    records: Iterable[list[tuple[str, str]]],
) -> Iterator[list[tuple[str, str]]]:
    """Yield the first records of each sheet."""
    seen = Counter[str]()
    for fields in records:
        sheet = _sheet(fields[0][0]) if fields else ""
        seen[sheet] += 1
        if seen[sheet] <= RECORDS:
            yield fields


def _pages(names: Iterable[str], head: Sequence[str]) -> set[str]:
    """Return the sheets that are not tables, if another sheet is one.

    head: the names in first rows. A sheet with a single name, such as a title
    above text, or with cells beyond the names, is not a table.
    """
    counts = Counter(_sheet(name) for name in head if not name.endswith("!"))
    ragged = {_sheet(name) for name in names if name not in head}
    pages = {each for each in counts if counts[each] < 2 or each in ragged}
    return pages if len(pages) < len(counts) else set()


def with_missing(job: Job) -> Job:
    """Return a job that passes records without text if the file has any.

    Raises InputError if no record can be read.
    """
    name = job.inputs[0]
    module = formats.find(name, job.format)
    for missing in ("fail", "pass"):
        selection = replace(job.selection, missing=missing)
        with (
            contextlib.suppress(InputError),
            streams.open_input(name, selection.encoding) as stream,
        ):
            for _ in _records(module, stream, selection, name):
                pass
            return replace(job, selection=selection)
    return job


def _records(
    module: Format, stream: BinaryIO, selection: Selection, name: str
) -> Iterator[Record]:
    """Yield the records of a file. Raises InputError for an unreadable one."""
    for item in module.read(Input(stream, selection, name)):
        if isinstance(item, Fault):
            raise InputError(item.described())
        if not isinstance(item, Verbatim):
            yield item
