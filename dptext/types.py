"""What flows through the pipeline: frozen data.

Components of other packages import them from here (docs/extending.md).
Letters in shapes: r texts, n words, p pieces, V vocabulary, d dimensions, k listed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UnprovenError

# Arrays of any shape; docstrings give it.
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


def about(description: str, **limits: Any) -> Meta:
    """Describe a report field, with constraints (msgspec's `Meta`)."""
    return Meta(description=description, **limits)


def blocks(end: int, size: int, begin: int = 0) -> Iterator[slice]:
    """Yield slices of up to `size` rows from begin to end."""
    for first in range(begin, end, size):
        yield slice(first, min(first + size, end))


# Parts of speech, by their numbers in Lexicon.parts.
PARTS = (
    "noun",
    "verb",
    "adjective",
    "adverb",
    "name",
    "number",
    "function-word",
    "other",
)
ENGLISH = "en"  # the language of the grammar that dptext knows
# The vocabulary element for numbers that have no better one (dptext.tokens.numbers).
NUMBER = "<number>"


class Notion(StrEnum):
    """The kind of a guarantee."""

    LDP = "LDP"
    METRIC = "metric-DP"
    APPROXIMATE = "eps-delta"
    NONE = "none"


class Level(StrEnum):
    """The unit that epsilon is spent on."""

    WORD = "word"
    TEXT = "text"
    #: Each of n words of a text.
    WORDS = "words"


class Strategy(StrEnum):
    """How often a word is drawn (dptext.pipeline)."""

    TOKEN = "token"  # noqa: S105 - no password
    RECORD = "record"
    DATA_SET = "data-set"


class BudgetKind(StrEnum):
    """What the epsilon of a word depends on."""

    #: Nothing: every replaced word gets the same.
    WORD = "word"
    #: The number of replaced words, which share a total in equal parts.
    TEXT = "text"
    #: The position of the word in its text, by a public function.
    POSITION = "position"
    #: The word itself, by a public table.
    TYPE = "type"
    #: The class of the word, first released by randomised response.
    CLASS = "class"
    #: The words released before it in its text.
    PAST = "past"
    #: Anything in the text.
    FREE = "free"


class MetricKind(StrEnum):
    """How distance is measured."""

    #: Any two different words are at distance 1 (LDP).
    ONE = "one"
    #: Vectors in a space.
    EUCLIDEAN = "euclidean"
    #: The same, regularised.
    MAHALANOBIS = "mahalanobis"
    #: Positions on public chains of words.
    CHAINS = "chains"
    #: Another package names it.
    OTHER = "other"
    #: There is no guarantee.
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Metric:
    """The distance that epsilon multiplies; its name has no effect."""

    kind: Annotated[MetricKind, Meta(description="Kind of distance.")]
    # No row: the wording names the distance.
    name: Annotated[str, Meta(description="Name, for people.")] = field(compare=False)
    # No row: the wording names the distance.
    identity: Annotated[str, Meta(description="The space and its parameters.")] = ""
    # No row: the wording names the distance.
    cut: Annotated[float | None, Meta(description="Largest distance, or null.")] = None
    # No row: the wording names the distance.
    between_classes: Annotated[
        float, Meta(description="Added between words of different public classes.")
    ] = 0.0


ONE = Metric(MetricKind.ONE, "1")
NO_METRIC = Metric(MetricKind.NONE, "none")


@dataclass(slots=True)  # frozen, short records would take twice as long to read
class Record:
    """A row of the input; never modified."""

    #: Counts the records of the whole run from 0.
    ordinal: int
    #: The selected text values in file order.
    texts: tuple[str, ...]
    #: For the format, which writes the row back from it; opaque to all others.
    rest: object
    #: The value of the id field, where one is selected.
    identity: str | None = None
    #: The selected fields of texts that it has, null or not; None: no fields at all.
    present: tuple[str, ...] | None = None
    #: The value of the subject field, where one is selected.
    subject: str | None = None
    #: The value of the language field, where one is selected.
    language: str | None = None
    #: Counts earlier records of the same output with the same identity and texts.
    repeat: int = 0
    size: int = 0  #: Characters or bytes of rest, about, where it may be long.


def records_of_texts(records: Sequence[Record]) -> Ints:
    """Return the position of the record of each text: (t,)."""
    counts = np.array([len(record.texts) for record in records], np.int64)
    return np.repeat(np.arange(len(records)), counts)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Bytes between records, written back unchanged (CSV header, schema)."""

    rest: object
    #: A second input repeats it, and the output has it once.
    header: bool = False
    #: A line for people about a guess that was made from it.
    note: str = ""
    #: The fields that are copied, where a header or a schema names all fields.
    copied: tuple[str, ...] | None = None
    #: The sheets of a workbook, and whether the records of each are private.
    sheets: dict[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read."""

    #: File and line, or the like.
    location: str
    #: Never with text of the record.
    reason: str
    #: The bytes of the record.
    raw: bytes
    #: The remedy, where there is a better one than to leave the record out.
    advice: str = ""
    #: The record lacks a selected field and has others.
    is_absent: bool = False

    def described(self, otherwise: str = "") -> str:
        """Describe place, reason and advice in one line; otherwise: default advice."""
        advice = f"; {self.advice}" if self.advice else otherwise
        return f"{self.location}: {self.reason}{advice}"


@dataclass(frozen=True)
class Words:
    """A batch of r texts as p pieces and n words (ragged: data and ends)."""

    #: list[p]; joined they are the texts.
    pieces: list[str]
    #: (p,) uint8, kind and marks of each piece (dptext.tokens.kinds).
    flags: NDArray[np.uint8]
    #: (r,) int64, end of each text in pieces.
    ends: Ints
    #: (n,) int64, the piece of each word to be privatized.
    positions: Ints
    #: (n,) int64, the text of each word, non-decreasing.
    texts: Ints
    #: (n,) int32, rows of the vocabulary; -1 = unknown.
    ids: Ids
    #: (n,) int32, ids, for names of persons their one row; None: no word is a name.
    read_as: Ids | None = None
    #: By position in pieces, form and layout of a piece (dptext.tokens.forms).
    formed: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    #: By position in pieces, the shown layout of a name of an organisation, if it has
    #: one (dptext.tokens.organisations).
    layouts: Mapping[int, str] = field(default_factory=dict)
    #: (p,) int32, the row of each copied common word, -1 elsewhere; None: not copied.
    copied: Ids | None = None
    #: (n,), the grammatical form of each word (dptext.tokens.grammar); None: not shown.
    grammar: NDArray[np.uint8] | None = None
    #: Number of copied pieces that a list of words has; None: there is no list.
    listed: int | None = None
    #: (r,), the language that each text is read in, "" for none of the run; None: all
    #: are read by the lexicon (dptext.tokens.multilingual).
    languages: Sequence[str] | None = None
    #: (r,), whether a text has a replaced word of a special category of personal data;
    #: None: not looked for.
    special: Mask | None = None

    @property
    def inputs(self) -> Ids:
        """Return the rows that a mechanism reads: (n,), -1 for unknown non-names."""
        return self.ids if self.read_as is None else self.read_as

    @cached_property
    def flag(self) -> bytes:
        """Return the flags as bytes, for fast looks at single pieces."""
        return self.flags.astype(np.uint8).tobytes()

    @cached_property
    def bounds(self) -> list[int]:
        """Return 0 and the end of each text, for fast looks at single pieces."""
        return [0, *self.ends.tolist()]

    @cached_property
    def begins(self) -> frozenset[int]:
        """Return the pieces with which texts begin."""
        return frozenset(self.bounds)

    def text_at(self, position: int) -> int:
        """Return the text of a piece."""
        return bisect_right(self.bounds, position) - 1

    def bounds_at(self, position: int) -> tuple[int, int]:
        """Return the begin and the end of the text of a piece."""
        text = self.text_at(position)
        return self.bounds[text], self.bounds[text + 1]

    def is_of_lists(self, position: int) -> bool:
        """Return whether the text of a piece is in a language without a lexicon."""
        return self.language_at(position) not in ("", ENGLISH)

    def language_at(self, position: int) -> str:
        """Return the language of a piece's text, "" if not one of the run's."""
        if self.languages is None:
            return ENGLISH
        return self.languages[self.text_at(position)]

    def by_text(self) -> list[int]:
        """Return the number of replaced words in each text."""
        return list(map(int, np.bincount(self.texts, minlength=len(self.ends))))


@dataclass(frozen=True, slots=True)
class Released:
    """What a decoder sees of a batch: drawn and kept words, nothing else."""

    #: list[p]: marks, spacing, copied words; "" for words drawn, masked or left out.
    pieces: list[str]
    #: (p,) uint8: kinds (dptext.tokens.kinds), WORD if drawn, UNKNOWN for identifiers,
    #: and ENDER; TITLE for a drawn word inside a sentence with a shown capital.
    flags: NDArray[np.uint8]
    #: (r,) int64, end of each text in pieces.
    ends: Ints
    #: (n,) int64, the piece of each drawn word.
    positions: Ints
    #: (n,) int64, the text of each drawn word, non-decreasing.
    texts: Ints
    #: (n,) int32, rows of the vocabulary.
    drawn: Ids
    #: (n,) float64, the epsilon to the extent it is public (dptext.attackers.channel).
    eps: Eps
    #: (p,) int32, as in Words.
    copied: Ids | None = None
    #: (n,), as in Words.
    grammar: NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True)
class ThirdParty:
    """A server that receives released draws."""

    #: Host and port.
    host: str
    model: str
    #: Free text comes back, and not a word for each drawn one.
    rewrites: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a server's answers."""

    requests: int
    #: About so many.
    tokens_sent: int
    #: At most so many.
    tokens_received: int


@dataclass(frozen=True, slots=True)
class BudgetDescription:
    """How a budget spends epsilon, for statements; amounts in nats."""

    kind: BudgetKind
    #: No epsilon is lower.
    low: float
    #: No epsilon is higher.
    high: float
    #: The most that a text may have (kinds TEXT, PAST, FREE).
    total: float | None = None
    #: The most for each word of a text (FREE).
    rate: float | None = None
    #: The epsilon of the class of a word (CLASS).
    first: float = 0.0
    #: The public data that it rests on, for the report.
    used: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Other packages may write the kind as text.
        object.__setattr__(self, "kind", BudgetKind(self.kind))


class Inputs(IntEnum):
    """Sets of inputs for which a constant holds; each includes the previous ones."""

    #: The rows of a vocabulary.
    WORDS = 0
    #: The convex hull of these.
    MEANS = 1
    #: Any vectors.
    VECTORS = 2


@dataclass(frozen=True, slots=True)
class Constant:
    """A bound on distances, or on their ratio, and the inputs it holds for.

    Its value is only available for these: no statement about means can use one that
    holds for pairs of words.
    """

    _bound: float
    _inputs: Inputs

    def over(self, inputs: Inputs) -> float:
        """Return the value. Raises UnprovenError if it holds for fewer inputs."""
        if inputs <= self._inputs:
            return self._bound
        raise UnprovenError(
            f"the bound of these settings holds for {_NAMED[self._inputs]}, not for "
            f"{_NAMED[inputs]}; give the pool word, or other settings (of laplace "
            "mechanism.metric=space)"
        )


_NAMED = {
    Inputs.WORDS: "pairs of words",
    Inputs.MEANS: "means of words",
    Inputs.VECTORS: "any vectors",
}


@dataclass(frozen=True, slots=True)
class VaryingEpsilon:
    """The guarantee that remains if epsilon differs between words.

    Two words with epsilons of at most hi lose at most hi * word nats; words with
    epsilons that sum to at most E, for both of two texts, lose at most E * total
    together; the same word under two epsilons in [lo, hi] loses at most
    (hi - lo) * drift, nor more than (1 - lo / hi) * most (docs/guarantees.md, 5).
    """

    word: float
    total: float
    drift: float
    most: float = math.inf

    @classmethod
    def exponential(cls, distance: float, most: float = math.inf) -> VaryingEpsilon:
        """Return the bound for weights exp(-epsilon t / 2), t at most distance.

        most: the most that two words can lose at any epsilon, if t is truncated.
        """
        return cls(distance, distance, distance / 2.0, most / 2.0)

    def moved(self, low: float, high: float) -> float:
        """Bound a word's loss, in nats, under two epsilons low and high."""
        if low >= high:
            return 0.0 if math.isfinite(self.drift) else math.inf
        return min((high - low) * self.drift, (1.0 - low / high) * self.most)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The guarantee of applying a mechanism once to one word, over all of V.

    epsilon * max_distance bounds the loss between any two words. If the metric is
    truncated at a distance that depends on epsilon, it is min(D, max_loss / epsilon),
    with D the metric, and max_distance is of D.
    """

    notion: Notion
    metric: Metric
    #: The unit of epsilon.
    unit: str
    #: The largest distance over all inputs, at any epsilon; inf without guarantee.
    max_distance: float
    #: The paper.
    source: str
    #: Printed in every report.
    gaps: tuple[str, ...] = ()
    #: The reason for which a mechanism without guarantee promises nothing.
    reason: str = ""
    #: With (epsilon, delta), that of the largest distance.
    delta: float = 0.0
    #: With (epsilon, delta), the parameter of Gaussian DP.
    mu: float = 0.0
    #: A draw follows from all words of its text: epsilon holds for any two texts, and a
    #: change of one word counts for every word.
    context: bool = False
    #: The guarantee if epsilon differs from word to word, None without one.
    varying_epsilon: VaryingEpsilon | None = None
    #: No two words lose more at any epsilon, in nats.
    max_loss: float = math.inf
    #: Largest ratio of the metric to the space's distance; inf: another kind of these.
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
        """Build epsilon-LDP over all words, epsilon in nats."""
        return cls(
            notion=Notion.LDP,
            metric=ONE,
            unit="nats",
            max_distance=1.0,
            source=source,
            gaps=gaps,
            context=context,
            varying_epsilon=varying_epsilon,
        )

    @classmethod
    def metric_dp(
        cls, metric: Metric, max_distance: float, source: str, stretch: float = math.inf
    ) -> Guarantee:
        """Build metric DP: epsilon times a metric, epsilon in 1/distance."""
        return cls(
            notion=Notion.METRIC,
            metric=metric,
            unit="1/distance",
            max_distance=max_distance,
            source=source,
            stretch=stretch,
        )

    @classmethod
    def nothing(cls, reason: str, *, source: str, unit: str = "nats") -> Guarantee:
        """Build the absence of a guarantee, with a reason."""
        return cls(
            notion=Notion.NONE,
            metric=NO_METRIC,
            unit=unit,
            max_distance=math.inf,
            source=source,
            reason=reason,
        )

    @property
    def cut_by_epsilon(self) -> bool:
        """Return whether the metric is truncated at a distance depending on epsilon."""
        return math.isfinite(self.max_loss)

    def counts(self, metric: Metric) -> bool:
        """Return whether the loss is epsilon times this metric at any distance."""
        same = self.notion is Notion.METRIC and self.metric == metric
        return same and not self.cut_by_epsilon

    def worst(self, epsilon: float) -> float:
        """Return the most that any two words can lose at an epsilon, in nats."""
        return self.worst_at(epsilon, self.max_distance)

    def worst_at(self, epsilon: float, distance: float) -> float:
        """Return the most that words at a distance can lose at an epsilon, in nats."""
        return min(epsilon * min(distance, self.max_distance), self.max_loss)


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """A public vocabulary with vectors, frequencies and orders.

    Lexicons are equal only if identical, so that tables can be cached per lexicon.
    """

    name: str
    #: (V,) by descending count, unique in lower case; NUMBER stands for every number
    #: without a better element (dptext.tokens.numbers).
    words: tuple[str, ...]
    #: (V + 1, d) float16 or float32; the last row stands for every unknown word.
    vectors: NDArray[np.floating]
    #: (V,) > 0, public.
    counts: NDArray[np.float64]
    #: (V + 1, k) uint16 or uint32: the best replacements of each word, best first,
    #: without repetition. All are outputs; only x itself, first, may be none.
    orders: NDArray[np.integer]
    #: (V + 1,): no word outside orders[x] is nearer to x than far[x] (Euclid).
    far: NDArray[np.float32]
    #: sha256 over the content; stands in reports.
    digest: str
    #: Provenance and public geometry (dptext.lexicons.store). "outputs": after the word
    #: itself only the first so many words are listed in orders; "names": a word; all
    #: names of persons are equal to its row (dptext.tokens.names); "language".
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: (V,), end of each word's synonyms.
    synonym_ends: NDArray[np.int32] | None = None
    #: Rows of the synonyms of all words.
    synonyms: NDArray[np.int32] | None = None
    #: (V,) information content, of published scores.
    information_content: NDArray[np.float32] | None = None
    #: (V,) uint8, the part of speech, a row of PARTS.
    parts: NDArray[np.uint8] | None = None

    @property
    def language(self) -> str:
        """Return the language code, "unknown" if the import named none.

        English if meta has no language, as in hand-made lexicons.
        """
        return str(self.meta.get("language", ENGLISH))

    @property
    def row_of(self) -> Mapping[str, int]:
        """Map each word in lower case to its row, cached."""
        return _row_of(self)

    @property
    def prior(self) -> NDArray[np.float64]:
        """Return the public unigram prior: (V,) float64, sums to 1."""
        return np.asarray(self.counts / self.counts.sum())


@lru_cache(maxsize=2)
def _row_of(lexicon: Lexicon) -> Mapping[str, int]:
    words = lexicon.words
    lower = "\n".join(words).lower().split("\n") if words else ()
    return dict(zip(lower, range(len(lower)), strict=True))
