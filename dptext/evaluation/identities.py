"""Searches private texts for values that must not occur in them: names, addresses.

A value is found *whole* if all its words are adjacent in a text, in order,
and *in part* if at least one of its words occurs that is not a common word.
Case, spaces, punctuation and Unicode compatibility forms (NFKC) are ignored. The
search is exact; texts are streamed, while the values are held in memory.

A value may occur in a private text because it was copied, because it was drawn as
itself, or by chance: a drawn name may be any name. So the same values are
searched in the private texts of other records that did not contain them:
matches there are chance.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dptext import formats, streams
from dptext.errors import InputError, UsageError
from dptext.evaluation.rows import Pair, records
from dptext.guarantees import binomial
from dptext.run.interface import noun, option
from dptext.run.selection import Selection
from dptext.tokens import language_data
from dptext.tokens.regex import LETTERS
from dptext.types import Lexicon

# The most frequent words of a lexicon, which tell nobody from others by themselves.
COMMON = 3_000
# Largest number of records to list on the terminal.
LISTED = 20
SPAN, RECORD = "text", "record"
METHOD = (
    "By chance: the same values in the private texts of other records of the same "
    "2,048 whose originals hold other values, and no word of these."
)
_ALPHA = 0.05
_SHORTEST = 2  # characters of a word that tells something by itself
# Written without spaces between words: each character is a word.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_ALONE}]|(?:(?![_{_ALONE}])[{LETTERS}])+")
_ASCII_WORD = re.compile("[a-z0-9]+")
# Characters that are not seen: soft hyphens, joiners, marks of direction.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def folded_words(text: str) -> list[str]:
    """Return the words of a text, case-folded and normalised for comparison."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    return _WORD.findall(unicodedata.normalize("NFKC", folded))


def common_words(lexicon: Lexicon, count: int = COMMON) -> frozenset[str]:
    """Return the most frequent words of a lexicon, and stop words of its language."""
    frequent = np.argsort(-lexicon.counts, kind="stable")[:count].tolist()
    known = (lexicon.words[row] for row in frequent)
    stop_words = language_data.stop_words(lexicon.language)
    return frozenset(
        word for text in (*known, *sorted(stop_words)) for word in folded_words(text)
    )


@dataclass(frozen=True, slots=True)
class IdentityFile:
    """A file of values: one per line, in a field, or spans of records.

    Spans are objects in a JSONL file: {"text": value, "record": number}. The record
    number counts the original's records from 1, or is an id if records have ids.
    """

    path: str
    field: str | None = None
    """The field or column with the values; None for lines and spans."""

    def __post_init__(self) -> None:
        """Raise OSError or UsageError for a file that cannot be read."""
        if streams.is_stream(self.path):
            raise UsageError(
                f"{noun('identities')}: it is read several times: give a file, not a "
                "pipe"
            )
        streams.check_file(self.path, noun("identities"))
        if self.field is not None and self._format == "text":
            raise UsageError(
                f"{noun('identities-field')} {self.field}: {self.path} is plain text "
                "with one value per line; leave the option out"
            )

    @property
    def _format(self) -> str:
        return formats.find(self.path).name

    def digest(self) -> str:
        """Return the sha256 of the file."""
        return streams.digest_of_file(self.path)

    def read(self) -> Iterator[tuple[str, str | None]]:
        """Yield each value with its record, None for all records.

        Raises InputError and UsageError.
        """
        kind = self._format
        if kind == "text":
            for row in records(self.path, Selection()):
                yield row.texts[0], None
            return
        spans = self.field is None and kind == "jsonl"
        names = (self.field or SPAN, *([RECORD] if spans else []))
        values = {"identities-field": names}
        try:
            for row in records(self.path, Selection(fields=(), missing="pass"), values):
                value, *record = row.values
                if value is not None:
                    yield value, record[0] if record else None
        except InputError as error:  # which names --field and --label
            raise InputError(f"{noun('identities')}: {error}") from None

    def values(self, common: Collection[str]) -> Identities:
        """Return the values, prepared for the search. Raises InputError if none."""
        identities = Identities.prepare(self.read(), common)
        if not identities.values:
            lines = self._format == "text"
            where = "" if lines else f" in field {self.field or SPAN!r}"
            raise InputError(
                f"{noun('identities')} {self.path}: no value to search for{where}; "
                "give one value per line, or name their field with "
                f"{option('identities-field')}"
            )
        return identities


@dataclass(frozen=True, eq=False)
class Identities:
    """Values to search for in texts."""

    values: Mapping[str, int]
    """The words of each different value, joined by spaces -> its row."""
    words: Sequence[tuple[str, ...]]
    """The words of each value, by row, that are no common words."""
    records: Mapping[str, frozenset[int]]
    """The values that belong to one record only, by its number or id."""
    everywhere: frozenset[int]
    """The values that belong to every record that has them."""
    unsearchable: int
    """Values without any letter or digit."""
    lengths: Mapping[str, tuple[int, ...]]
    """Number of words in the values that begin with a word."""

    @classmethod
    def prepare(
        cls,
        values_in_records: Iterable[tuple[str, str | None]],
        common: Collection[str],
    ) -> Identities:
        """Prepare values, each with its record or None."""
        rows: dict[str, int] = {}
        telling: list[tuple[str, ...]] = []
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        bound: defaultdict[str, set[int]] = defaultdict(set)
        everywhere, unsearchable = set(), 0
        for value, record in values_in_records:
            words = folded_words(value)
            if not words:
                unsearchable += bool(value.strip())
                continue
            row = rows.setdefault(" ".join(words), len(rows))
            if row == len(telling):
                telling.append(
                    tuple(
                        word
                        for word in dict.fromkeys(words)
                        if len(word) >= _SHORTEST and word not in common
                    )
                )
                lengths[words[0]].add(len(words))
            if record is None:
                everywhere.add(row)
            else:
                bound[record].add(row)
        return cls(
            values=rows,
            words=telling,
            records={record: frozenset(inside) for record, inside in bound.items()},
            everywhere=frozenset(everywhere),
            unsearchable=unsearchable,
            lengths={word: tuple(sorted(each)) for word, each in lengths.items()},
        )

    @property
    def telling(self) -> frozenset[str]:
        """Return the words in values, except common words."""
        return frozenset(word for words in self.words for word in words)

    def whole(self, words: Sequence[str]) -> set[int]:
        """Return the rows of the values found whole in a text's words."""
        rows = set()
        for position, word in enumerate(words):
            for length in self.lengths.get(word, ()):
                row = self.values.get(" ".join(words[position : position + length]))
                if row is not None:
                    rows.add(row)
        return rows


@dataclass(frozen=True, slots=True)
class Standing:
    """Counts of original values found in their private texts."""

    count: int
    share: float | None
    """Share of all values in the originals; null if there are none."""
    low: float
    high: float
    """Limits of the share over the draws, given these texts (95%, exact binomial)."""
    by_chance: float | None
    """The share in private texts of other records; null without other records."""
    by_chance_low: float | None = None
    by_chance_high: float | None = None
    """Limits of it (95%, binomial with the effective number of comparisons)."""


@dataclass(frozen=True, slots=True)
class IdentitiesFound:
    """Counts of a file's values, and of their words, found in private texts."""

    file: str
    sha256: str
    values: int
    """Different values of the file."""
    unsearchable: int
    """Values with no letters or digits, which cannot be searched for."""
    records: int
    """Records with originals that hold values."""
    occurrences: int
    """Values in originals, each counted once in a record."""
    not_in_originals: int
    """Spans of the file that their own records do not hold."""
    whole: Standing
    """Values that appear in full in the private text of their record."""
    in_part: Standing
    """Values of which at least one word stands there, or the value whole."""
    elsewhere: int
    """Values that stand whole in private texts, but not in their originals."""
    method: str = METHOD


@dataclass(slots=True)
class _Chance:
    """Accumulates chance matches, weighted by frequency of the value."""

    expected: float = 0.0
    variance: float = 0.0
    occurrences: int = 0
    squares: float = 0.0

    def add(self, occurrences: int, others: int, compared: int) -> None:
        """Add a value, with how many of the compared other records contain it."""
        if compared:
            weight = occurrences / compared
            self.expected += weight * others
            self.variance += weight**2 * others
            self.occurrences += occurrences
            self.squares += weight**2 * compared

    def limits(self) -> tuple[float | None, float | None, float | None]:
        """Return the share and its confidence limits (Korn and Graubard 1998)."""
        total = self.occurrences
        if not total:
            return None, None, None
        share = self.expected / total
        # As many comparisons of one weight say as much (Kish 1965), or fewer, where
        # heavy values are those that are found.
        effective = total**2 / self.squares
        if 0.0 < share < 1.0:
            spread = share * (1.0 - share) * total**2 / self.variance
            effective = min(effective, spread)
        return share, *binomial.limits(share * effective, effective, _ALPHA)


@dataclass(slots=True)
class IdentityMeter:
    """Counts values in private texts, batch by batch.

    Memory grows with the number of values and the batch size, not with the texts.
    """

    values: Identities
    name: str = ""
    sha256: str = ""
    #: Numbers of the first records with a value in their private texts, whole and only
    #: in part. For the screen of the owner, in no report.
    whole_records: list[int] = field(default_factory=list)
    part_records: list[int] = field(default_factory=list)
    _telling: frozenset[str] = frozenset()
    _seen: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _whole_chance: _Chance = field(default_factory=_Chance)
    _part_chance: _Chance = field(default_factory=_Chance)

    def __post_init__(self) -> None:
        """Index the words to search for."""
        self._telling = self.values.telling

    @classmethod
    def from_file(cls, file: IdentityFile, lexicon: Lexicon) -> IdentityMeter:
        """Build a meter for a file of values. Raises InputError and UsageError."""
        name = file.path.encode("utf-8", "surrogateescape")
        shown = Path(name.decode("utf-8", "backslashreplace")).name
        return cls(file.values(common_words(lexicon)), shown, file.digest())

    def add(self, pairs: Sequence[Pair]) -> None:
        """Count a batch."""
        batch = _Occurrences()
        for pair in pairs:
            self._seen += 1
            self._add(pair, batch)
        for row, count in batch.occurrences.items():
            others = batch.holding & ~batch.whole_before[row]
            whole = part = batch.whole_after[row]
            for word in self.values.words[row]:
                others &= ~batch.word_before[word]
                part |= batch.word_after[word]
            compared = others.bit_count()
            self._whole_chance.add(count, (others & whole).bit_count(), compared)
            self._part_chance.add(count, (others & part).bit_count(), compared)

    def _add(self, pair: Pair, batch: _Occurrences) -> None:
        values, counts = self.values, self._counts
        before, before_words = self._search(pair.before)
        after, after_words = self._search(pair.after)
        record = str(self._seen) if pair.identity is None else pair.identity
        bound = values.records.get(record, frozenset())
        counts["absent"] += len(bound - before)
        shared = before & (values.everywhere | bound)
        counts["elsewhere"] += len(after - before)
        if not shared:
            return
        counts["records"] += 1
        counts["occurrences"] += len(shared)
        whole = shared & after
        part = {
            row
            for row in shared
            if row in after or any(word in after_words for word in values.words[row])
        }
        counts["whole"] += len(whole)
        counts["part"] += len(part)
        if whole and len(self.whole_records) < LISTED:
            self.whole_records.append(self._seen)
        elif part and not whole and len(self.part_records) < LISTED:
            self.part_records.append(self._seen)
        counts["whole records"] += bool(whole)
        counts["part records"] += bool(part) and not whole
        batch.add(shared, (before, after), (before_words, after_words))

    def _search(self, texts: Sequence[str]) -> tuple[set[int], set[str]]:
        """Return the values found whole in texts, and the words from any value."""
        whole: set[int] = set()
        words: set[str] = set()
        for text in texts:
            inside = folded_words(text)
            whole |= self.values.whole(inside)
            words |= self._telling.intersection(inside)
        return whole, words

    @property
    def unlisted(self) -> tuple[int, int]:
        """Count records without listed values that match: whole, and only in part."""
        counts = self._counts
        return (
            counts["whole records"] - len(self.whole_records),
            counts["part records"] - len(self.part_records),
        )

    def result(self) -> IdentitiesFound:
        """Return the counts so far."""
        counts = self._counts
        total = counts["occurrences"]
        return IdentitiesFound(
            file=self.name,
            sha256=self.sha256,
            values=len(self.values.values),
            unsearchable=self.values.unsearchable,
            records=counts["records"],
            occurrences=total,
            not_in_originals=counts["absent"],
            whole=_standing(counts["whole"], total, self._whole_chance),
            in_part=_standing(counts["part"], total, self._part_chance),
            elsewhere=counts["elsewhere"],
        )


@dataclass(slots=True)
class _Occurrences:
    """Which records of a batch contain which value or word: bit n is record n."""

    size: int = 0
    holding: int = 0
    occurrences: Counter[int] = field(default_factory=Counter)
    whole_before: Counter[int] = field(default_factory=Counter)
    whole_after: Counter[int] = field(default_factory=Counter)
    word_before: Counter[str] = field(default_factory=Counter)
    word_after: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        shared: set[int],
        whole: tuple[set[int], set[int]],
        words: tuple[set[str], set[str]],
    ) -> None:
        """Add a record that contains values, with its words before and after."""
        bit = 1 << self.size
        self.size += 1
        self.holding |= bit
        self.occurrences.update(shared)
        by_value = self.whole_before, self.whole_after
        for rows, values in zip(whole, by_value, strict=True):
            for row in rows:
                values[row] |= bit
        by_word = self.word_before, self.word_after
        for standing, marks in zip(words, by_word, strict=True):
            for word in standing:
                marks[word] |= bit


def _standing(count: int, total: int, chance: _Chance) -> Standing:
    low, high = binomial.limits(count, total, _ALPHA) if total else (0.0, 1.0)
    by_chance, chance_low, chance_high = chance.limits()
    return Standing(
        count=count,
        share=count / total if total else None,
        low=low,
        high=high,
        by_chance=by_chance,
        by_chance_low=chance_low,
        by_chance_high=chance_high,
    )
