"""What the fields of a file look like, by its first records: for `dptext init`.

Counts are functions of the private text: for the terminal of its owner alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from dptext import formats, streams
from dptext.engine.identifying import Identifying, Kind
from dptext.engine.job import Job
from dptext.errors import InputError
from dptext.types import Fault, Record, Selection, Verbatim

_TEXT = "text"
RECORDS = 1000  # that are looked at
_LONGEST = 20_000  # characters of a value that are looked at
_WORDS = 4  # make a value a text, unless all are of few
_TEXTS = 0.2  # of the values must be texts
_REPEATED = 0.2  # of the values differ at most where they are a few states
_MOST = 0.9  # of the values of a kind
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,' ]*%?")
_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:.]+.*)?")
_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Column:
    """A field: how many records have text in it, of how many different values.

    words is the mean number of words of a text; identifies, how it identifies people;
    looks says in words what it holds.
    """

    name: str
    looks: str
    texts: int
    different: int
    words: float
    identifies: Kind | None = None

    @property
    def is_private(self) -> bool:
        """Tell whether it should be made private, and can be: its values are text."""
        return self.texts > 0 and (self.looks == _TEXT or self.identifies is not None)


@dataclass(slots=True)
class _Values:
    texts: int = 0
    words: int = 0
    long: int = 0
    numbers: int = 0
    dates: int = 0
    different: set[int] = field(default_factory=set)

    def add(self, text: str) -> None:
        value = text.strip()[:_LONGEST]
        if not value:
            return
        self.texts += 1
        words = sum(_WORD.search(part) is not None for part in value.split())
        self.words += words
        self.long += words >= _WORDS
        self.numbers += _NUMBER.fullmatch(value) is not None
        self.dates += _DATE.fullmatch(value) is not None
        self.different.add(hash(value))

    def looks(self) -> str:
        """Say what the values are."""
        count = self.texts
        if not count:
            return "not text"
        for number, name in ((self.dates, "dates"), (self.numbers, "numbers")):
            if number >= _MOST * count:
                return name
        repeat = len(self.different) <= _REPEATED * count
        if self.long >= _TEXTS * count and not repeat:
            return _TEXT
        if repeat:
            return "few values"
        different = count > 2 and len(self.different) == count
        return "different in each record" if different else "short values"


def survey(job: Job) -> list[Column]:
    """Return the fields of the file of a job; none where each line is a text.

    Raises InputError where no record can be read, UsageError for an unknown format.
    """
    name, every = job.inputs[0], Selection(fields=())
    module = formats.find(name, job.format)
    if module.name == "text":
        return []
    selection = replace(job.selection, fields=())
    identifying, values = Identifying(), dict[str, _Values]()
    with streams.open_input(name, selection.encoding) as stream:
        items = module.read(formats.Input(stream, selection, name))
        for record in islice(_records(items), RECORDS):
            fields = list(module.others(record, every))
            identifying.add(fields)
            for path, text in fields:
                values.setdefault(path, _Values()).add(text)
    with streams.open_input(name, selection.encoding) as stream:
        names = dict.fromkeys([*values, *module.copied(stream, selection)])
    kinds = identifying.kinds(names)
    columns = []
    for each in names:
        counts, kind = values.get(each, _Values()), kinds.get(each)
        words = counts.words / counts.texts if counts.texts else 0.0
        looks = counts.looks()
        if kind is not None and looks != _TEXT:
            looks = kind
        different = len(counts.different)
        columns.append(Column(each, looks, counts.texts, different, words, kind))
    return columns


def with_missing(job: Job) -> Job:
    """Return the job as it can read all records: those without a text field may pass.

    Raises InputError where no record can be read.
    """
    name = job.inputs[0]
    module = formats.find(name, job.format)
    for missing in ("fail", "pass"):
        selection = replace(job.selection, missing=missing)
        with (
            contextlib.suppress(InputError),
            streams.open_input(name, selection.encoding) as stream,
        ):
            for _ in _records(module.read(formats.Input(stream, selection, name))):
                pass
            return replace(job, selection=selection)
    return job


def _records(items: Iterator[formats.Item]) -> Iterator[Record]:
    """Give the records. Raises InputError for one that cannot be read."""
    for item in items:
        if isinstance(item, Fault):
            raise InputError(f"{item.location}: {item.reason}")
        if not isinstance(item, Verbatim):
            yield item
