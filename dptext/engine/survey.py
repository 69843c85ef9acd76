"""What the first records show: fields, what they hold, and whether words are known.

A selected field that is in no record was mistyped: its texts would leave unchanged.
Output that cannot be taken back waits until that is ruled out (`HeldBack`). Copied
fields are named in warnings: where their words stand in the private text of the same
record far more often than in that of the record before, and where they look as if they
identify people, by their names and first values. A lexicon that does not know the words
of the texts is one of another language: all unknown words are one input of a mechanism,
so that the output is private and means nothing.

All of it is a function of the private text, for the terminal of its owner alone.
Warnings name fields and kinds, never a value.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

import numpy as np

from dptext import formats, streams
from dptext.engine.free_text import Phrases
from dptext.engine.identifying import FEW_VALUES, TEXT, FieldValues, Kind, identifying
from dptext.engine.job import Job, Warn
from dptext.errors import InputError, UsageError
from dptext.formats import Format, Input, _fields
from dptext.lexicons.public_rows import PublicRows
from dptext.tokens import kinds
from dptext.tokens.tokenizer import Tokenizer
from dptext.tokens.whole_texts import WholeTexts
from dptext.types import Fault, Record, Selection, Verbatim

SAMPLE = 200  # records that a run looks at
_CHARACTERS = 20_000  # of a text that are looked at
_FIELDS = 500  # fields of which values are looked at
_SHARED = 0.25  # of its words that a field must share to be named
_LEAST = 5  # words that it must share in all
_COMPARED = re.compile(r"\w{4,}")
_HELD = 2**26  # bytes that wait for each field to be in a record


class Fields:
    """Counts records, and those with each selected field."""

    def __init__(self, selection: Selection, format: Format, warn: Warn) -> None:
        self.records = 0
        self._selection, self._format, self._warn = selection, format, warn
        self._present: Counter[tuple[str, ...] | None] = Counter()
        self._copied: dict[str, None] = {}
        self._values: dict[str, FieldValues] = {}
        # Words of each copied field: all, those that the private texts of the record
        # hold too, and those that the private texts of the record before hold.
        self._words = defaultdict[str, np.ndarray](lambda: np.zeros(3, np.int64))
        self._before: set[str] = set()

    def add(self, record: Record) -> None:
        """Count a record that was read."""
        self.records += 1
        self._present[record.present] += 1
        if self.records > SAMPLE:
            return
        private = _compared(*record.texts)
        for name, text in self._format.others(record, self._selection):
            self._copied[name] = None
            if name in self._values or len(self._values) < _FIELDS:
                self._values.setdefault(name, FieldValues()).add(text)
                words = _compared(text)
                counts = len(words), len(words & private), len(words & self._before)
                self._words[name] += counts
        self._before = private
        if self.records == SAMPLE:
            self._warn_of_copies()

    def merge(self, present: Counter[tuple[str, ...] | None]) -> None:
        """Count records after the sample that others have read, by their fields."""
        self.records += present.total()
        self._present.update(present)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of records with each field; empty without fields."""
        counts = self._counts
        return {name: counts[name] for name in self._selection.fields if name in counts}

    @property
    def _counts(self) -> dict[str, int]:
        """Return the number of records with each selected or changed field."""
        if self._present.keys() <= {None}:
            return {}
        names = (*self._selection.fields, *self._selection.changed)
        counts = dict.fromkeys(names, 0)
        for present, count in self._present.items():
            for name in present or ():
                counts[name] += count
        return counts

    @property
    def absent(self) -> str | None:
        """Return the first field that no record so far has, None without one."""
        return next((name for name, count in self._counts.items() if not count), None)

    @property
    def copied(self) -> list[str]:
        """Return the names of the copied fields in the sample of records, in order."""
        return list(self._copied)

    def identifying(self, copied: Sequence[str]) -> dict[str, Kind]:
        """Return the copied fields that look identifying, by the sample of records."""
        subject = self._selection.subject_field
        named = {subject: Kind.NUMBER} if subject in copied and subject else {}
        return named | identifying(copied, self._values)

    def check(self) -> None:
        """Raise InputError if no record has a selected field."""
        if self.records < SAMPLE:
            self._warn_of_copies()
        if self.absent in self._selection.changed:
            option = _fields.find_option(self.absent, self._selection)
            raise _fields.unknown(self.absent, option, self._copied)
        if self.absent is not None:
            raise InputError(
                f"field {self.absent!r} is in none of the {self.records} records, so "
                "there is no output; give the name of a field that some of them have"
            )

    def _warn_of_copies(self) -> None:
        names = [
            name
            for name, (words, shared, by_chance) in self._words.items()
            if shared >= max(_LEAST, _SHARED * words, 2 * by_chance)
        ]
        if names:
            shown = ", ".join(map(repr, names))
            problem, them = f"columns {shown} were left unchanged and repeat", "them"
            if len(names) == 1:
                problem, them = f"column {shown} was left unchanged and repeats", "it"
            self._warn(
                f"{problem} words of the private text; make {them} private too "
                f"(--field), or leave {them} out (--drop)"
            )


def _compared(*texts: str) -> set[str]:
    """Return the words of texts that tell whether one repeats another."""
    return {
        word for text in texts for word in _COMPARED.findall(text[:_CHARACTERS].lower())
    }


class HeldBack:
    """A stream that holds its data until each selected field was in some record."""

    def __init__(self, stream: BinaryIO, fields: Fields) -> None:
        self._stream, self._fields = stream, fields
        self._waiting: io.BytesIO | None = io.BytesIO()

    @property
    def closed(self) -> bool:
        """Tell whether the stream below is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write, or hold. Raises InputError if too much is held."""
        if self._waiting is None:
            return self._stream.write(data)
        self._waiting.write(data)
        absent = self._fields.absent  # of the fields that are selected
        if self._fields.records and absent is None:
            self.release()
        elif self._waiting.tell() > _HELD and absent is not None:
            raise InputError(
                f"field {absent!r} is in none of the first {self._fields.records} "
                "records; with -o FILE all are read before there is an output"
            )
        return len(data)

    def release(self) -> None:
        """Write the held data."""
        if self._waiting is not None:
            self._stream.write(self._waiting.getvalue())
            self._waiting = None

    def flush(self) -> None:
        """Flush the stream below, unless data is held."""
        if self._waiting is None:
            self._stream.flush()


_UNKNOWN = 1 / 3  # of the words make a warning
_FEWEST = 6  # unknown words below which nothing is said
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese syllables, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af]"
)
_LETTER = re.compile(r"[^\W\d_]")


class Language:
    """Warns once if the first records are in a language unknown to the lexicon.

    tokenizer finds words by the lexicon of that name; without one only `public` looks
    at texts, for those that topics were made of.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None = None,
        lexicon: str = "",
        warn: Callable[[str], None] = lambda line: None,
        public: PublicRows | None = None,
    ) -> None:
        # Where whole texts are drawn, the words that their topic follows from.
        self._is_whole = isinstance(tokenizer, WholeTexts)
        if isinstance(tokenizer, WholeTexts):
            tokenizer = tokenizer.inner
        self._tokenizer, self._lexicon, self._warn = tokenizer, lexicon, warn
        self._public = public
        self._records = self._letters = self._unspaced = 0
        self._pieces = np.zeros(kinds.COUNT, np.int64)

    def look(self, records: Iterable[Record]) -> None:
        """Look at the next records, before they are written.

        Raises UsageError for texts in a script without spaces between words, in which
        a whole sentence counts as one word, and for those that topics were made of.
        """
        if self._public is not None:
            records = list(records)
            self._public.look(records)
        if self._tokenizer is None or self._records >= SAMPLE:
            return
        real = (record for record in records if record.texts)
        first = list(islice(real, SAMPLE - self._records))
        texts = [text[:_CHARACTERS] for record in first for text in record.texts]
        flags = self._tokenizer.words(texts).flags
        self._pieces += np.bincount(flags & kinds.KIND, minlength=kinds.COUNT)
        self._letters += sum(len(_LETTER.findall(text)) for text in texts)
        self._unspaced += sum(len(_UNSPACED.findall(text)) for text in texts)
        self._records += len(first)
        is_unspaced = self._unspaced > _UNKNOWN * self._letters and self._are_unknown
        if is_unspaced and not self._is_whole:
            raise UsageError(
                "the first records are in a script without spaces between words "
                f"(Chinese, Japanese, Thai, ...), and lexicon {self._lexicon} does "
                "not know their words; put spaces between words and give a lexicon "
                "of the language (--lexicon), or choose what happens to unknown "
                "words: --set tokens.unknown=mask (or drop, perturb, keep)"
            )
        if self._records == SAMPLE:
            self._say()

    def close(self) -> None:
        """Warn now if there were fewer records than the sample."""
        if self._records < SAMPLE:
            self._say()
        if self._public is not None and self._public.warning:
            self._warn(self._public.warning)

    @property
    def _are_unknown(self) -> bool:
        known = [kinds.WORD, kinds.STOP_WORD, kinds.COMMON]
        words = self._pieces[[*known, kinds.UNKNOWN]].sum()
        return bool(self._pieces[kinds.UNKNOWN] > _UNKNOWN * words)

    def _say(self) -> None:
        if self._pieces[kinds.UNKNOWN] < _FEWEST or not self._are_unknown:
            return
        if self._is_whole:
            self._warn(
                f"{self._lexicon} were made with a lexicon that lacks over a third of "
                "the first words, so that topics say little of these texts: another "
                "language? Then make topics with a lexicon of it (dptext topics build)"
            )
        else:
            self._warn(
                f"over a third of the first words are not in lexicon {self._lexicon}: "
                "another language? Then make a lexicon for it: dptext lexicon adapt "
                "(private)"
            )


def is_asked_for(overrides: Mapping[str, object]) -> bool:
    """Tell whether settings over a profile choose the treatment of unknown words."""
    tokens = overrides.get("tokens")
    return isinstance(tokens, Mapping) and "unknown" in tokens


_RECORDS = 1000  # that `dptext init` looks at


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
        """Tell whether it holds texts whose words can be replaced."""
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
        for record in islice(_records(module, stream, selection, name), _RECORDS):
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
