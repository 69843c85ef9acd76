"""What the first records show: fields, what they hold, and whether words are known.

A selected field that is in no record was mistyped: its texts would leave as they are.
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
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np

from dptext import formats, streams
from dptext.engine.job import Job, Warn
from dptext.errors import InputError, UsageError
from dptext.formats import Format, Input
from dptext.tokens import forms, kinds, language_data
from dptext.tokens.policy import Form
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Fault, Record, Selection, Verbatim

SAMPLE = 200  # records that a run looks at
_CHARACTERS = 20_000  # of a text that are looked at


class Kind(StrEnum):
    """How a field identifies people."""

    NAME = "names of people"
    EMAIL = "e-mail addresses"
    PHONE = "telephone numbers"
    ACCOUNT = "bank accounts or cards"
    NUMBER = "personal numbers"
    ADDRESS = "addresses"
    BIRTH = "dates of birth"


_TEXT = "text"
_SHORT = 200  # characters of a value that tell what it is
_MOST = 0.5  # of the values must look like a kind
_FEW = 3  # different values tell that they are no states of few
_DIFFERENT = 0.7  # of the values must differ where they hold no digits
_LONG = 4  # words make a value a text, unless all are of few
_TEXTS = 0.2  # of the values must be texts
_REPEATED = 0.2  # of the values differ at most where they are a few states
_NEARLY_ALL = 0.9  # of the values are numbers or dates
# Different values of a field that are remembered, so that a field of any length takes
# little memory. How many of its values differ is told by those that come before more.
_REMEMBERED = 2048
# These kinds are certain enough where so many values hold one, whatever the others are:
# an address in one of many notes identifies somebody.
_CERTAIN = {Kind.EMAIL: 1, Kind.ACCOUNT: 1, Kind.NUMBER: 1, Kind.PHONE: 3}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_WORD = re.compile(r"[^\W\d_]\S*")  # from its first letter on
_LOOKS = {
    "numbers": re.compile(r"[-+]?[0-9][0-9.,' ]*%?"),
    "dates": re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9:.]+.*)?"),
    "amounts": re.compile(r"[-+]?[0-9]*\.[0-9]*[1-9][0-9]*(?:[eE][-+]?[0-9]+)?"),
    "long numbers": re.compile(r"(?s:(?:[^0-9]*[0-9]){6}.*)"),
    "codes": re.compile(r"[\w.@-]+"),
    "codes with digits": re.compile(r"(?=\D*\d)[\w.@-]+"),
    # Two to four words, each with a capital; initials, and particles as in "van der".
    "full names": re.compile(
        r"[^\W\d_a-z][\w'’.-]*"
        r"(?:,? (?:[^\W\d_a-z][\w'’.-]*|de|da|van|von|der|bin|al)){1,3}"
    ),
}
# Those that values without letters, without digits, and with both may have.
_OF_DIGITS = "numbers", "amounts", "dates", "codes", "codes with digits", "long numbers"
_OF_LETTERS = "codes", "full names"
_OF_BOTH = "dates", "codes", "codes with digits", "full names", "long numbers"
# A card's number follows from its digits with a chance of one in ten: other long
# numbers, such as those of orders and times, tell whether that is all.
_CARD_LIKE, _CARD = "card numbers or others", "card numbers"
# Values that hold one among other text, in a layout that little else has.
_INSIDE = {kind: f"{kind} inside" for kind in _CERTAIN}
_STATES = frozenset("true false yes no y n t f 0 1 none null n/a na - ?".split())


class FieldValues:
    """Counts the texts of a field: all, their words, and those of each look."""

    def __init__(self) -> None:
        self.texts = self.words = 0
        # Of the first values, how many there are, and how many differ.
        self.first = self.different = 0
        # By the looks of a value: how many values have them, and how many different.
        self._looks, self._different = Counter[_ValueLooks](), Counter[_ValueLooks]()
        self._known: dict[int, tuple[_ValueLooks, int]] = {}
        self._states = True

    def add(self, text: str) -> None:
        """Count a value, "" for one of no text."""
        value = text.strip()
        if not value:
            return
        self.texts += 1
        key, is_full = hash(value), len(self._known) >= _REMEMBERED
        known = self._known.get(key)
        if known is None:
            words = len(_WORD.findall(value[:_CHARACTERS]))
            known = _looks(value, words), words
            self._states = self._states and value.lower() in _STATES
            if not is_full:
                self._known[key] = known
                self.different += 1
                self._different[known[0]] += 1
        self.first += not is_full
        self.words += known[1]
        self._looks[known[0]] += 1

    def count(self, *looks: str) -> int:
        """Return how many of the texts have at least one of these looks."""
        wanted = {*looks}
        return sum(n for each, n in self._looks.items() if not wanted.isdisjoint(each))

    def share(self, look: str) -> float:
        """Return how many of the texts look like something, 0 of none.

        Of different texts where these say it more clearly: one that stands for "none"
        may be repeated.
        """
        of_all = self.count(look) / max(self.texts, 1)
        if self.different < _FEW:
            return of_all
        found = sum(n for each, n in self._different.items() if look in each)
        return max(of_all, found / self.different)

    def looks(self) -> str:
        """Say what the values are."""
        if not self.texts:
            return "not text"
        for look in ("dates", "numbers"):
            if self.count(look) >= _NEARLY_ALL * self.texts:
                return look
        if self.different <= _REPEATED * self.first:
            return "few values"
        if self.count("long") >= _TEXTS * self.texts:
            return _TEXT
        every = self.different == self.first > 2
        return "different in each record" if every else "short values"

    def kind(self, name: str) -> Kind | None:
        """Return how the field, which has this name, identifies people, if it does."""
        found = self.identifies(name)
        return None if found is None else found.kind

    def identifies(self, name: str, *, by_name: bool = True) -> Identifying | None:
        """Return how the field identifies people, and how many of its values do so.

        By what the values are, and else, unless by_name is False, by its name.
        """
        for kind in (Kind.EMAIL, Kind.ACCOUNT, Kind.PHONE, Kind.NUMBER, Kind.NAME):
            if found := self._of_kind(kind):
                return Identifying(kind, found, self.texts)
        named = self._by_name(name) if by_name else None
        if named is None or (self.texts and not self._may_be(named)):
            return None
        return Identifying(named, self.texts, self.texts)

    def _may_be(self, kind: Kind) -> bool:
        """Tell whether values are no states or amounts, which do not identify."""
        if self._states or self.count("amounts") >= _MOST * self.texts:
            return False
        return kind is not Kind.PHONE or self.count("long numbers") > 0

    def _of_kind(self, kind: Kind) -> int:
        """Return how many values are of a kind, 0 where there are too few to tell."""
        if self.share(kind) >= _MOST:
            return self.count(kind)
        if kind is Kind.ACCOUNT:
            cards = self.count(_CARD)
            if cards >= _FEW and cards >= _MOST * self.count(_CARD_LIKE):
                return self.count(_CARD, _INSIDE[kind])
        inside = self.count(_INSIDE[kind]) if kind in _CERTAIN else 0
        return inside if inside >= _CERTAIN.get(kind, 1) else 0

    def _by_name(self, name: str) -> Kind | None:
        """Return the kind that a name tells, of people's names with their values."""
        words = [word.lower() for word in _HUMP.split(name) if word]
        sections = _sections()
        for end in {"".join(words[-2:]), *words[-1:]}:
            for kind in Kind:
                if end in sections[kind.name.lower()]:
                    return kind
        of_person = not sections["person"].isdisjoint(words[:-1])
        if of_person and words[-1] in sections["number of"]:
            return Kind.NUMBER
        if (of_person and words[-1] == "name") or sections["person"] & {*words[-1:]}:
            return self._kind_of_person()
        return None

    def _kind_of_person(self) -> Kind | None:
        """Return the kind of the values of a field that is named after people."""
        if max(self.share("full names"), self.share("known names")) >= _MOST:
            return Kind.NAME
        varied = self.different >= _DIFFERENT * self.first
        look = "codes" if varied else "codes with digits"
        codes = self.different >= _FEW and self.share(look) >= _MOST
        return Kind.NUMBER if codes else None


class Identifying(NamedTuple):
    """How a field identifies people: the kind, and how many of its values are so."""

    kind: Kind
    count: int
    #: How many values the field has that are not empty.
    values: int


# The looks of one value, in a fixed order.
_ValueLooks = tuple[str, ...]


def _looks(value: str, words: int) -> _ValueLooks:
    """Return all that a value, of so many words, looks like.

    Each row of a file comes here, so that what is quick to see is looked at first.
    """
    short = value[:_SHORT]
    if not words and "@" not in value:  # no letters
        looks = [name for name in _OF_DIGITS if _LOOKS[name].fullmatch(short)]
    else:
        has_digits = _DIGIT.search(short) is not None
        names = _OF_BOTH if has_digits else _OF_LETTERS
        looks = [name for name in names if _LOOKS[name].fullmatch(short)]
        if words >= _LONG:
            looks.append("long")
        # "Keller, Martha" begins with the name of the family.
        known = _given_names()
        if any(_first_word(part) in known for part in short.split(",", 2)[:2]):
            looks.append("known names")
            if "full names" in looks:
                looks.append(Kind.NAME)
    looks += _kinds(value, short)
    return tuple(looks)


def _first_word(text: str) -> str:
    return text.strip().partition(" ")[0].capitalize()


def _kinds(value: str, short: str) -> Iterator[str]:
    """Give the kinds of which a value is, and those that stand in it."""
    if "@" in value and _has_email(value):
        yield _INSIDE[Kind.EMAIL]
    if not _NUMBERED.search(value):
        return
    cards = [each[0] for each in _CARDS.finditer(value)]
    if cards:
        yield _CARD_LIKE
        if any(map(forms.is_card, cards)):
            yield _CARD
            if cards == [value]:
                yield Kind.ACCOUNT
    if _IBAN.search(value) and any(forms.spans(Form.IBAN, value)):
        yield _INSIDE[Kind.ACCOUNT]
    if _SOCIAL_SECURITY.fullmatch(short):
        yield Kind.NUMBER
    elif _maybe_phone(short) and forms.layout_of(short, (Form.PHONE,)):
        yield Kind.PHONE
    if _SOCIAL_SECURITY.search(value):
        yield _INSIDE[Kind.NUMBER]
    if any(8 <= sum(map(str.isdigit, each[0])) for each in _PHONES.finditer(value)):
        yield _INSIDE[Kind.PHONE]


def _maybe_phone(value: str) -> bool:
    return len(value) <= _LONGEST_PHONE and value[0] in "+(0123456789" and (
        not value.isdigit()
    )


def _has_email(value: str) -> bool:
    """Tell whether an e-mail address stands in a text.

    Only what is near an @ is looked at, since texts may be long.
    """
    at = value.find("@")
    while at >= 0:
        near = value[max(0, at - _BEFORE_AT) : at + _BEHIND_AT]
        if any(forms.spans(Form.EMAIL, near)):
            return True
        at = value.find("@", at + 1)
    return False


_BEFORE_AT, _BEHIND_AT = 80, 300
_LONGEST_PHONE = 40
# No number of a person or of an account has fewer digits, or more between two of them.
_NUMBERED = re.compile(r"(?:[0-9][ ()./-]{0,3}){8}|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}")
_DIGIT = re.compile("[0-9]")
_CARDS = re.compile(
    r"(?<![\w.,+/-])(?:[2-6][0-9]{12,18}"
    r"|[2-6][0-9]{3}([ -])(?:[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{6}\1[0-9]{4,5}))"
    r"(?![\w+/-]|[.,][0-9])"
)
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}")
# The parts of numbers that nobody was given are left out (Social Security
# Administration, 2011).
_SOCIAL_SECURITY = re.compile(
    r"(?<![\w.+/-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w+/-])"
)
# With the number of a country, or as numbers of North America are written.
_PHONES = re.compile(
    r"(?<![\w.+/,-])(?:\+[1-9][0-9]{0,2}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{2,4})){2,5}"
    r"|(?:\+?1[ .-])?\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[-. ][0-9]{4}"
    r"|(?:1[.-])?[2-9][0-9]{2}([-.])[2-9][0-9]{2}\1[0-9]{4})(?![\w+/-]|[.,][0-9])"
)


@cache
def _sections() -> Mapping[str, frozenset[str]]:
    sections = language_data.sections("identifying_fields")
    return {heading: frozenset(words) for heading, words in sections}


@cache
def _given_names() -> frozenset[str]:
    """Return common English given names."""
    sections = dict(language_data.sections("english_names"))
    return frozenset(sections["man"] + sections["woman"])


def identifying(
    names: Iterable[str], values: Mapping[str, FieldValues]
) -> dict[str, Kind]:
    """Return the kind of each of these fields that looks identifying."""
    kinds = {name: values.get(name, FieldValues()).kind(name) for name in names}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def warning(kinds: Mapping[str, str], option: str = "--field") -> str:
    """Say which copied fields look identifying, and what to do.

    option is what names private fields.
    """
    named = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
    return f"copied, but looks identifying: {named}; add {option}, or leave it out"


_FIELDS = 500  # fields of which values are looked at
_SHARED = 0.25  # of its words that a field must share to be named
_LEAST = 5  # words that it must share in all
_COMPARED = re.compile(r"\w{4,}")
_HELD = 2**26  # bytes that wait for each field to be in a record


class Fields:
    """Counts the records, and in how many of them each selected field is."""

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
        """Return in how many records each field is; empty for texts without fields."""
        if self._present.keys() <= {None}:
            return {}
        counts = dict.fromkeys(self._selection.fields, 0)
        for present, count in self._present.items():
            for name in present or ():
                counts[name] += count
        return counts

    @property
    def absent(self) -> str | None:
        """Return the name of a field that no record so far has, if there is one."""
        return next((name for name, count in self.counts.items() if not count), None)

    @property
    def copied(self) -> list[str]:
        """Return the names of the copied fields in the sample of records, in order."""
        return list(self._copied)

    def identifying(self, copied: Sequence[str]) -> dict[str, Kind]:
        """Return which copied fields look identifying, by the sample of records."""
        subject = self._selection.subject_field
        named = {subject: Kind.NUMBER} if subject in copied and subject else {}
        return named | identifying(copied, self._values)

    def check(self) -> None:
        """Refuse records none of which has a selected field. Raises InputError."""
        if self.records < SAMPLE:
            self._warn_of_copies()
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
            self._warn(
                f"the output will hold copies of {shown}, which repeat words of the "
                "private text; make them private too (--field), or leave them out"
            )


def _compared(*texts: str) -> set[str]:
    """Return the words of texts that tell whether one repeats another."""
    return {
        word for text in texts for word in _COMPARED.findall(text[:_CHARACTERS].lower())
    }


class HeldBack:
    """A stream that keeps what is written until each field was in some record."""

    def __init__(self, stream: BinaryIO, fields: Fields) -> None:
        self._stream, self._fields = stream, fields
        self._waiting: io.BytesIO | None = io.BytesIO()

    @property
    def closed(self) -> bool:
        """Tell whether the stream below is closed."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write, or keep. Raises InputError when too much is kept."""
        if self._waiting is None:
            return self._stream.write(data)
        self._waiting.write(data)
        absent = self._fields.absent
        if self._fields.records and absent is None:
            self.release()
        elif self._waiting.tell() > _HELD and absent is not None:
            raise InputError(
                f"field {absent!r} is in none of the first {self._fields.records} "
                "records; with -o FILE all are read before there is an output"
            )
        return len(data)

    def release(self) -> None:
        """Write all that was kept."""
        if self._waiting is not None:
            self._stream.write(self._waiting.getvalue())
            self._waiting = None

    def flush(self) -> None:
        """Send on what was written."""
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
    """Looks at the first records of a job, and says once what is wrong with them.

    tokenizer finds words by the lexicon of that name; without one nothing is looked at.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None = None,
        lexicon: str = "",
        warn: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._tokenizer, self._lexicon, self._warn = tokenizer, lexicon, warn
        self._records = self._letters = self._unspaced = 0
        self._pieces = np.zeros(kinds.COUNT, np.int64)

    def look(self, records: Iterable[Record]) -> None:
        """Take in records that come next, before anything of them is written.

        Raises UsageError for texts in a script without spaces between words, in which
        a whole sentence counts as one word.
        """
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
        if self._unspaced > _UNKNOWN * self._letters and self._are_unknown:
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
        """Say what there is to say where there were fewer records."""
        if self._records < SAMPLE:
            self._say()

    @property
    def _are_unknown(self) -> bool:
        words = self._pieces[[kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN]].sum()
        return bool(self._pieces[kinds.UNKNOWN] > _UNKNOWN * words)

    def _say(self) -> None:
        if self._pieces[kinds.UNKNOWN] >= _FEWEST and self._are_unknown:
            self._warn(
                f"over a third of the first words are not in lexicon {self._lexicon}: "
                "another language? Then make a lexicon for it: dptext lexicon adapt "
                "(private)"
            )


def is_asked_for(overrides: Mapping[str, object]) -> bool:
    """Tell whether settings beside a profile say what becomes of unknown words."""
    tokens = overrides.get("tokens")
    return isinstance(tokens, Mapping) and "unknown" in tokens


_RECORDS = 1000  # that `dptext init` looks at


@dataclass(frozen=True, slots=True)
class FieldSummary:
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


def survey(job: Job) -> list[FieldSummary]:
    """Return the fields of the file of a job; none where each line is a text.

    Raises InputError where no record can be read, UsageError for an unknown format.
    """
    name, every = job.inputs[0], Selection(fields=())
    module = formats.find(name, job.format)
    if module.name == _TEXT:
        return []
    selection = replace(job.selection, fields=())
    values = defaultdict[str, FieldValues](FieldValues)
    with streams.open_input(name, selection.encoding) as stream:
        for record in islice(_records(module, stream, selection, name), _RECORDS):
            for path, text in module.others(record, every):
                values[path].add(text)
    with streams.open_input(name, selection.encoding) as stream:
        names = dict.fromkeys([*values, *module.copied(stream, selection)])
    if not names:
        raise InputError(f"{name}: no record with a field")
    columns = []
    for path in names:
        each, kind = values[path], values[path].kind(path)
        looks = each.looks()
        if kind is not None and looks != _TEXT:
            looks = kind
        words = each.words / max(each.texts, 1)
        shape = each.texts, each.different, words
        columns.append(FieldSummary(path, looks, *shape, kind))
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
