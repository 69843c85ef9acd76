"""The look of the fields of a file in its first records, for `dptext init`.

A function of the private text: names and kinds of fields, for its owner alone.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from dptext import formats, streams
from dptext.engine.free_text import Phrases
from dptext.engine.identifying import FEW_VALUES, TEXT, FieldValues, Kind
from dptext.engine.job import Job
from dptext.errors import InputError
from dptext.formats import Format, Input
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim

RECORDS = 1000  # that `dptext init` looks at


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """The look of a field in the first records of a file."""

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

    @property
    def is_text(self) -> bool:
        """Tell whether it holds texts with words that can be replaced."""
        return self.texts > 0 and self.looks == TEXT


def survey(job: Job) -> list[FieldSummary]:
    """Return the fields of the file of a job; empty if each line is a text.

    Raises InputError where no record can be read, UsageError for an unknown format.
    """
    name, every = job.inputs[0], Selection(fields=())
    module = formats.find(name, job.format)
    if module.name == TEXT:
        return []
    selection = replace(job.selection, fields=())
    values = defaultdict[str, FieldValues](FieldValues)
    phrases = defaultdict[str, Phrases](Phrases)
    with streams.open_input(name, selection.encoding) as stream:
        for record in islice(_records(module, stream, selection, name), RECORDS):
            for path, text in module.others(record, every):
                values[path].add(text)
                phrases[path].add(text)
    with streams.open_input(name, selection.encoding) as stream:
        names = dict.fromkeys([*values, *module.copied(stream, selection)])
    if not names:
        raise InputError(f"{name}: no record with a field")
    columns = []
    for path in names:
        each, kind = values[path], values[path].kind(path)
        looks = each.looks()
        if kind is not None and looks != TEXT:
            looks = kind
        elif phrases[path].are_text(path, repeated=looks == FEW_VALUES):
            looks = TEXT
        words = each.words / max(each.texts, 1)
        columns.append(
            FieldSummary(
                name=path,
                looks=looks,
                texts=each.texts,
                different=each.different,
                words=words,
                identifies=kind,
            )
        )
    return columns


def with_missing(job: Job) -> Job:
    """Return the job, changed to pass records without a text field if there are any.

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
    """Give the records of a file. Raises InputError for one that cannot be read."""
    for item in module.read(Input(stream, selection, name)):
        if isinstance(item, Fault):
            raise InputError(item.described())
        if not isinstance(item, Verbatim):
            yield item
