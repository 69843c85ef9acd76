"""What flows through the pipeline: frozen, slotted data.

Letters in shapes: r texts, n words, p pieces, V vocabulary, d dimensions, k listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UnprovenError

# Arrays of any shape, which docstrings say.
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = NDArray[np.int32]  # (n,) row in the vocabulary; -1 = unknown
Eps = Floats  # (n,) > 0; unit given by Guarantee.metric
Points = NDArray[np.float32]  # (n, d) points in the space
Singles = NDArray[np.float32]
Vectors = NDArray[np.floating]  # of any precision
Rows = NDArray[np.integer]  # of any width
Mask = NDArray[np.bool_]
JsonObject = dict[str, object]  # keys and values, as in YAML and JSON


def blocks(end: int, size: int, begin: int = 0) -> Iterator[slice]:
    """Yield slices of at most size rows, from begin to end."""
    for first in range(begin, end, size):
        yield slice(first, min(first + size, end))


# Parts of speech, by their numbers in Lexicon.parts.
PARTS = (
    *("noun", "verb", "adjective", "adverb", "name", "number", "function-word"),
    "other",
)
# The code of the language whose grammar dptext knows.
ENGLISH = "en"
# The vocabulary element for numbers that have no better one (dptext.tokens.numbers).
NUMBER = "<number>"


class Notion(StrEnum):
    """What kind of guarantee."""

    LDP = "LDP"
    METRIC = "metric-DP"
    APPROXIMATE = "eps-delta"
    NONE = "none"


class Level(StrEnum):
    """What epsilon is of: one word, a whole text, or each of n words of a text."""

    WORD = "word"
    TEXT = "text"
    WORDS = "words"


class Strategy(StrEnum):
    """How often a word is drawn (dptext.pipeline)."""

    TOKEN = "token"  # noqa: S105 - no password
    RECORD = "record"
    DATA_SET = "data-set"


class BudgetKind(StrEnum):
    """From what the epsilon of a word follows.

    WORD: nothing, every replaced word gets the same; TEXT: the number of replaced
    words, which share a total in equal parts; POSITION: the word's position in its
    text, by a public function; TYPE: the word itself, by a public table; CLASS: its
    class as randomised response first released it; PAST: what was released before it
    in its text; FREE: anything in the text.
    """

    WORD = "word"
    TEXT = "text"
    POSITION = "position"
    TYPE = "type"
    CLASS = "class"
    PAST = "past"
    FREE = "free"


class MetricKind(StrEnum):
    """What a distance is measured by.

    ONE: any two different words are at distance 1 (LDP); EUCLIDEAN: vectors in a space;
    MAHALANOBIS: the same, regularised; CHAINS: positions on public chains of words;
    OTHER: another package says it by name; NONE: there is no guarantee.
    """

    ONE = "one"
    EUCLIDEAN = "euclidean"
    MAHALANOBIS = "mahalanobis"
    CHAINS = "chains"
    OTHER = "other"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Metric:
    """The distance that multiplies epsilon; the same one whatever it is called.

    name is what people read; identity, all that decides it besides kind and cut: that
    of the space, and parameters. cut: no two words count as farther apart (None: not
    cut). between_classes is added between words of different public classes.
    """

    kind: MetricKind
    name: str = field(compare=False)
    identity: str = ""
    cut: float | None = None
    between_classes: float = 0.0


ONE = Metric(MetricKind.ONE, "1")
NO_METRIC = Metric(MetricKind.NONE, "none")


@dataclass(frozen=True, slots=True)
class Record:
    """One row of the input.

    ordinal counts the records of the whole run from 0; texts are the selected text
    values in file order; rest is what the format needs to write the row back and is
    opaque to everyone else; identity is the value of the id field, where one is named;
    present names the fields of texts that it has, null or not (None: the format has
    none); subject is the value of the subject field, where one is named; repeat counts
    the earlier records of the same output with the same identity and the same texts.
    """

    ordinal: int
    texts: tuple[str, ...]
    rest: object
    identity: str | None = None
    present: tuple[str, ...] | None = None
    subject: str | None = None
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Something between records that is written back as it is (CSV header, schema).

    header marks what a second input repeats and the output carries once; note is a line
    for people about what was guessed from it; copied names the fields that are copied,
    where a header or a schema names all fields.
    """

    rest: object
    header: bool = False
    note: str = ""
    copied: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read: where, why (never its text), and its bytes.

    advice says what to do where that is not to leave the record out; is_absent, that
    the record lacks a field which was named and has others.
    """

    location: str
    reason: str
    raw: bytes
    advice: str = ""
    is_absent: bool = False

    def described(self, otherwise: str = "") -> str:
        """Say where, why and what to do; otherwise, where there is no better advice."""
        advice = f"; {self.advice}" if self.advice else otherwise
        return f"{self.location}: {self.reason}{advice}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which parts of a record are texts, and how its file is laid out.

    fields: dotted paths or names of columns; () where none is named.
    """

    fields: tuple[str, ...] = ("text",)
    id_field: str | None = None
    missing: str = "fail"  # fail | pass: of an absent or null field
    delimiter: str | None = None
    quoting: bool = True
    header: bool = True
    max_record_bytes: int = 16 * 2**20
    subject_field: str | None = None
    encoding: str | None = None  # of dptext.streams.known_encoding; None: UTF-8
    skip_lines: int = 0  # before a table, which no output has
    strings: bool = False  # every record of JSON is a string, which is its text
    escapes: str | None = None  # backslash | none: what a backslash in a table is
    #: Fields that the output leaves out.
    dropped: tuple[str, ...] = ()
    #: Fields whose values become keyed tokens (dptext.pseudonyms).
    pseudonyms: tuple[str, ...] = ()

    @property
    def quotes(self) -> bool:
        """Tell whether quotes enclose fields; where backslashes escape, none do."""
        return self.quoting and self.escapes != "backslash"

    @property
    def named(self) -> tuple[str | None, ...]:
        """Return all fields that are selected: texts, id, subject and changed ones."""
        return (*self.fields, self.id_field, self.subject_field, *self.changed)

    def of_output(self) -> Selection:
        """Return how to read the output: nothing that was left out is there.

        Without a header, columns have other numbers where one before them is left out.
        """
        decimal = () if self.header else filter(str.isdecimal, self.dropped)
        gone = set(map(int, decimal))

        def renamed(name: str) -> str:
            if not (gone and name.isdecimal()):
                return name
            return str(int(name) - sum(each < int(name) for each in gone))

        name = self.id_field or ""
        is_gone = any(f"{name}.".startswith(f"{each}.") for each in self.dropped)
        return replace(
            self,
            fields=tuple(map(renamed, self.fields)),
            pseudonyms=tuple(map(renamed, self.pseudonyms)),
            dropped=(),
            skip_lines=0,
            id_field=renamed(name) if name and not is_gone else None,
        )

    def without_fields(self) -> Selection:
        """Return how to read records of which no field is selected."""
        without = replace(self, id_field=None, subject_field=None)
        return replace(without, fields=(), dropped=(), pseudonyms=())

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the fields that are no texts and are not copied."""
        return (*self.dropped, *self.pseudonyms)


@dataclass(frozen=True, slots=True)
class Words:
    """A batch of texts as words (ragged: data and ends).

    pieces list[p], joined they are the texts; flags (p,) uint8, kind and marks of each
    piece (dptext.tokens.kinds); ends (r,) int64 end of each text in pieces; positions
    (n,) int64 where each word to be privatized stands in pieces; texts (n,) int64 which
    text each word belongs to, non-decreasing; ids (n,) int32 rows of the vocabulary.
    read_as (n,) int32, the row that all names have where a word is read as a name of a
    person (dptext.tokens.names), else ids; None: no word is. formed, by position in
    pieces, the form and the layout of each piece that has one (dptext.tokens.forms).
    copied (p,) int32, the row of each common word that is copied, -1 elsewhere; None:
    no word is copied for being common. grammar (n,), the grammatical form of each word
    (dptext.tokens.grammar); None: it is not shown.
    """

    pieces: list[str]
    flags: NDArray[np.uint8]
    ends: Ints
    positions: Ints
    texts: Ints
    ids: Ids
    read_as: Ids | None = None
    formed: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    copied: Ids | None = None
    grammar: NDArray[np.uint8] | None = None

    @property
    def inputs(self) -> Ids:
        """Return the rows that a mechanism reads: (n,), -1 = unknown and no name."""
        return self.ids if self.read_as is None else self.read_as

    def by_text(self) -> list[int]:
        """Return how many words of each text are privatized."""
        return list(map(int, np.bincount(self.texts, minlength=len(self.ends))))


@dataclass(frozen=True, slots=True)
class Released:
    """The view of a decoder of a batch of texts: drawn and kept words, no more.

    pieces list[p]: marks and spacing as they stand, copied words without spaces around
    them, "" for each word that was drawn, masked or left out. flags (p,) uint8: the
    kind of each piece as dptext.tokens.kinds has it, WORD for every drawn word and
    UNKNOWN for an identifier, and ENDER; TITLE for a drawn word inside a sentence that
    has a capital first letter, where capitals are shown. ends (r,) int64 end of each
    text in pieces; positions (n,) int64 where each drawn word stands in pieces; texts
    (n,) int64 which text it belongs to, non-decreasing; drawn (n,) int32 rows of the
    vocabulary; eps (n,) float64, its epsilon as far as that is public
    (dptext.readers.channel); copied (p,) int32 and grammar (n,) as in Words.
    """

    pieces: list[str]
    flags: NDArray[np.uint8]
    ends: Ints
    positions: Ints
    texts: Ints
    drawn: Ids
    eps: Eps
    copied: Ids | None = None
    grammar: NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True)
class ThirdParty:
    """To whom released draws are sent: host and port, and the model there.

    rewrites, whether free text comes back, and not a word for each drawn one.
    """

    host: str
    model: str
    rewrites: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests to a server, tokens sent (about), and tokens received (at most)."""

    requests: int
    tokens_sent: int
    tokens_received: int


@dataclass(frozen=True, slots=True)
class BudgetDescription:
    """How a budget spends epsilon: all that a statement must know of it.

    Every epsilon lies in [low, high]. total is the most that a text may have (kinds
    TEXT, PAST, FREE), rate the most for each of its words (FREE), first the epsilon of
    a word's class (CLASS). used says on what it rests, for the report.
    """

    kind: BudgetKind
    low: float
    high: float
    total: float | None = None
    rate: float | None = None
    first: float = 0.0
    used: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Other packages may write the kind as text.
        object.__setattr__(self, "kind", BudgetKind(self.kind))


class Inputs(IntEnum):
    """Inputs for which a constant holds; each set includes those before.

    WORDS: the rows of a vocabulary; MEANS: the convex hull of these; VECTORS: any.
    """

    WORDS = 0
    MEANS = 1
    VECTORS = 2


@dataclass(frozen=True, slots=True)
class Constant:
    """A bound on distances, or on a ratio of two, and the inputs for which it holds.

    Its number is given for these alone: no statement about means can take one that
    holds for pairs of words.
    """

    _bound: float
    _inputs: Inputs

    def over(self, inputs: Inputs) -> float:
        """Return the number. Raises UnprovenError where it holds for fewer inputs."""
        if inputs <= self._inputs:
            return self._bound
        raise UnprovenError(
            f"the bound of these settings holds for {_NAMED[self._inputs]}, not for "
            f"{_NAMED[inputs]}; give --pool word or other settings (of laplace "
            "mechanism.metric=space)"
        )


_NAMED = {
    Inputs.WORDS: "pairs of words",
    Inputs.MEANS: "means of words",
    Inputs.VECTORS: "any vectors",
}


@dataclass(frozen=True, slots=True)
class VaryingEpsilon:
    """The guarantee that is left when epsilon differs from word to word.

    Two words with epsilons of at most hi lose at most hi * word nats; words with
    epsilons that sum to at most E, for both of two texts, lose at most E * total
    together; one and the same word under two epsilons in [lo, hi] loses at most
    (hi - lo) * drift, nor more than (1 - lo / hi) * most (docs/guarantees.md, 5).
    """

    word: float
    total: float
    drift: float
    most: float = math.inf

    @classmethod
    def exponential(cls, distance: float, most: float = math.inf) -> VaryingEpsilon:
        """Return that of weights exp(-epsilon t / 2), t at most distance.

        most: what no two words lose more than at any epsilon, where t is cut.
        """
        return cls(distance, distance, distance / 2.0, most / 2.0)

    def moved(self, low: float, high: float) -> float:
        """Return what a word loses at most whose epsilon alone differs, in nats."""
        if low >= high:
            return 0.0 if math.isfinite(self.drift) else math.inf
        return min((high - low) * self.drift, (1.0 - low / high) * self.most)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What one application of a mechanism to one word promises, for all of V.

    max_distance is the largest distance in the metric over all inputs, whatever epsilon
    is, so that epsilon * max_distance bounds the loss between any two words (nats; inf
    without guarantee). Where the metric is cut at a distance that follows from epsilon,
    max_loss is what no two words lose more than at any epsilon, and the distance is
    min(D, max_loss / epsilon), D that of metric; max_distance is that of D. stretch:
    the metric is at most so many times the distance of the space (inf: another kind of
    distance). unit is epsilon's unit; source the paper; gaps are printed in every
    report; reason says why a mechanism without guarantee promises nothing. With
    (epsilon, delta) delta is that of the largest distance, mu its Gaussian-DP
    parameter. context says that the output distribution of a word follows from all
    words of its text, so that epsilon holds for any two texts and a change of one word
    counts for every word; varying_epsilon, the guarantee where epsilon differs
    from word to word (None: none).
    """

    notion: Notion
    metric: Metric
    unit: str
    max_distance: float
    source: str
    gaps: tuple[str, ...] = ()
    reason: str = ""
    delta: float = 0.0
    mu: float = 0.0
    context: bool = False
    varying_epsilon: VaryingEpsilon | None = None
    max_loss: float = math.inf
    stretch: float = math.inf

    def __post_init__(self) -> None:
        # Other packages may write the notion as text, which must be a known one.
        object.__setattr__(self, "notion", Notion(self.notion))

    @classmethod
    def ldp(
        cls,
        source: str,
        *,
        gaps: tuple[str, ...] = (),
        context: bool = False,
        varying_epsilon: VaryingEpsilon | None = None,
    ) -> Guarantee:
        """Return epsilon-LDP over all words, epsilon in nats."""
        return cls(
            *(Notion.LDP, ONE, "nats", 1.0, source, gaps),
            context=context,
            varying_epsilon=varying_epsilon,
        )

    @classmethod
    def metric_dp(
        cls, metric: Metric, max_distance: float, source: str, stretch: float = math.inf
    ) -> Guarantee:
        """Return epsilon times a metric, epsilon in 1/distance."""
        fields = Notion.METRIC, metric, "1/distance", max_distance, source
        return cls(*fields, stretch=stretch)

    @classmethod
    def nothing(cls, reason: str, *, source: str, unit: str = "nats") -> Guarantee:
        """Return that nothing is promised, and why."""
        return cls(Notion.NONE, NO_METRIC, unit, math.inf, source, reason=reason)

    @property
    def cut_by_epsilon(self) -> bool:
        """Tell whether the metric is cut at a distance that follows from epsilon."""
        return math.isfinite(self.max_loss)

    def counts(self, metric: Metric) -> bool:
        """Tell whether it is epsilon times this metric, not cut at any distance."""
        same = self.notion is Notion.METRIC and self.metric == metric
        return same and not self.cut_by_epsilon

    def worst(self, epsilon: float) -> float:
        """Return the most that any two words lose at an epsilon, in nats."""
        return self.worst_at(epsilon, self.max_distance)

    def worst_at(self, epsilon: float, distance: float) -> float:
        """Return the most that words at a distance lose at an epsilon, in nats."""
        return min(epsilon * min(distance, self.max_distance), self.max_loss)


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """A public vocabulary, its vectors, frequencies and orders.

    words (V,) as they are written, by descending count; lower-cased they are unique.
    One of them is NUMBER, the element that stands for every number of which the
    vocabulary has no better element (dptext.tokens.numbers).
    vectors (V + 1, d) float16 or float32; the last row stands for every unknown word.
    counts (V,) float64 > 0, public.
    orders (V + 1, k) uint16 or uint32: orders[x] lists the best replacements of x, best
    first, without repetition: outputs alone, but for x itself, which comes first where
    it is no output.
    far (V + 1,) float32: no word outside orders[x] is nearer to x than far[x] (Euclid).
    digest: sha256 over the content; goes into reports.
    parts (V,) uint8, where known: the part of speech, a row of PARTS.
    meta: provenance and public geometry; see dptext.lexicons.store. meta["outputs"],
    where present: after the word itself only the first so many words are listed in
    orders; meta["names"], where present: the word whose row all names of persons are
    equal to (dptext.tokens.names); meta["language"]: see language.

    Two are equal where they are one object, so that tables of one can be kept by it.
    """

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.floating]
    counts: NDArray[np.float64]
    orders: NDArray[np.integer]
    far: NDArray[np.float32]
    digest: str
    meta: Mapping[str, Any] = field(default_factory=dict)
    synonym_ends: NDArray[np.int32] | None = None
    synonyms: NDArray[np.int32] | None = None
    information_content: NDArray[np.float32] | None = None
    parts: NDArray[np.uint8] | None = None

    @property
    def language(self) -> str:
        """Return the code of the language, "unknown" where nobody said it.

        English where meta has none: lexicons that are made by hand.
        """
        return str(self.meta.get("language", ENGLISH))

    @property
    def row_of(self) -> Mapping[str, int]:
        """Return the row of each word in lower case; made once for a vocabulary."""
        return _row_of(self)

    @property
    def prior(self) -> NDArray[np.float64]:
        """Public unigram prior, (V,) float64, sums to 1."""
        return np.asarray(self.counts / self.counts.sum())


@lru_cache(maxsize=2)
def _row_of(lexicon: Lexicon) -> Mapping[str, int]:
    words = lexicon.words
    lower = "\n".join(words).lower().split("\n") if words else ()
    return dict(zip(lower, range(len(lower)), strict=True))
