"""What flows through the pipeline: frozen, slotted data.

Letters in shapes: r texts, n words, p pieces, V vocabulary, d dimensions, k listed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]  # (n,) row in the vocabulary; -1 = unknown
Eps = NDArray[np.float64]  # (n,) > 0; unit given by Guarantee.metric
Points = NDArray[np.float32]  # (n, d) places in the space

# Parts of speech, by their numbers in Lexicon.parts.
PARTS = (
    *("noun", "verb", "adjective", "adverb", "name", "number", "function-word"),
    "other",
)
# The vocabulary element for numbers that have no better one (dptext.tokens.numbers).
NUMBER = "<number>"


@dataclass(frozen=True, slots=True)
class Record:
    """One row of the input.

    ordinal counts the records of the whole run from 0; texts are the selected text
    values in file order; rest is what the format needs to write the row back and is
    opaque to everyone else; identity is the value of the id field, where one is named;
    present names the selected fields that it has, null or not (None: the format has no
    fields).
    """

    ordinal: int
    texts: tuple[str, ...]
    rest: object
    identity: str | None = None
    present: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Something between records that is written back as it is (CSV header, schema).

    header marks what a second input repeats and the output carries once.
    """

    rest: object
    header: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read: where, why (never its text), and its bytes.

    advice says what to do where that is not to leave the record out.
    """

    location: str
    reason: str
    raw: bytes
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which parts of a record are texts, and how its file is laid out.

    fields are dotted paths (JSON, Parquet) or column names (CSV, TSV); missing says
    whether an absent or null field is a fault or passes through.
    """

    fields: tuple[str, ...] = ("text",)
    id_field: str | None = None
    missing: str = "fail"  # fail | pass
    delimiter: str | None = None
    quoting: bool = True
    header: bool = True
    max_record_bytes: int = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Words:
    """A batch of texts as words (ragged: data and ends).

    pieces list[p], joined they are the texts; flags (p,) uint8, kind and marks of each
    piece (dptext.tokens.kinds); ends (r,) int64 end of each text in pieces; places (n,)
    int64 where each word to be privatized stands in pieces; texts (n,) int64 which text
    each word belongs to, non-decreasing; ids (n,) int32 rows of the vocabulary.
    """

    pieces: list[str]
    flags: NDArray[np.uint8]
    ends: NDArray[np.int64]
    positions: NDArray[np.int64]
    texts: NDArray[np.int64]
    ids: Ids


@dataclass(frozen=True, slots=True)
class BudgetDescription:
    """How a budget spends epsilon: all that a statement must know of it.

    kind "word": every replaced word gets high; "text": the replaced words of a text
    share total in equal parts; "position": epsilon is a public function of the word's
    position in its text; "type": of the word itself, by a public table; "class": of the
    word's class as randomised response with epsilon first released it; "past": of what
    was released before it in its text, at most total for a text; "free": of anything in
    the text, at most total for a text or rate for each of its words.
    Every epsilon lies in [low, high]. used says on what it rests, for the report.
    """

    kind: str
    low: float
    high: float
    total: float | None = None
    rate: float | None = None
    first: float = 0.0
    used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VaryingEpsilon:
    """What is left of a guarantee when epsilon differs from word to word.

    Two words with epsilons of at most hi lose at most hi * word nats; words with
    epsilons that sum to at most E, for both of two texts, lose at most E * total
    together; one and the same word under two epsilons in [lo, hi] loses at most
    (hi - lo) * drift, nor more than (1 - lo / hi) * most (docs/guarantees.md, 5).
    """

    word: float
    total: float
    drift: float
    most: float = math.inf

    def moved(self, low: float, high: float) -> float:
        """Return what a word loses at most whose epsilon alone differs, in nats."""
        if low >= high:
            return 0.0 if math.isfinite(self.drift) else math.inf
        return min((high - low) * self.drift, (1.0 - low / high) * self.most)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What one application of a mechanism to one word promises, for all of V.

    notion "LDP", "metric-DP" or "none"; metric names the distance that multiplies
    epsilon ("1" for LDP); reach is the largest distance over all inputs, whatever
    epsilon is, so that epsilon * reach bounds the loss between any two words (nats; inf
    for "none"). Where a metric is cut at a distance that follows from epsilon, max_loss
    is what no two words lose more than at any epsilon, distance names the distance D
    before the cut, and metric is min(D, max_loss / epsilon); reach is that of D.
    stretch: the metric is at most so many times the distance of the space (inf: another
    kind of distance). unit is epsilon's unit; source the paper; gaps are printed in
    every report; reason says why a mechanism with notion "none" promises nothing. With
    notion "eps-delta" delta is that of the largest distance, mu its Gaussian-DP
    parameter. context says that the law of a word looks at all words of its text, so
    that epsilon holds for any two texts and a change of one word counts for every word;
    varying_epsilon, what is left where epsilon differs from word to word (None:
    nothing).
    """

    notion: str
    metric: str
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
    distance: str = ""
    stretch: float = math.inf

    def worst(self, epsilon: float) -> float:
        """Return the most that any two words lose at an epsilon, in nats."""
        return min(epsilon * self.max_distance, self.max_loss)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A public vocabulary, its vectors, frequencies and orders.

    words (V,) as they are written, by descending count; lower-cased they are unique.
    One of them is NUMBER, the element that stands for every number of which the
    vocabulary has no better element (dptext.tokens.numbers).
    vectors (V + 1, d) float16 or float32; the last row stands for every unknown word.
    counts (V,) float64 > 0, public.
    orders (V + 1, k) uint16 or uint32: orders[x] lists the best replacements of x, best
    first, without repetition; orders[x, 0] == x for x < V.
    far (V + 1,) float32: no word outside orders[x] is nearer to x than far[x] (Euclid).
    digest: sha256 over the content; goes into reports.
    parts (V,) uint8, where known: the part of speech, a row of PARTS.
    meta: provenance and public geometry; see dptext.lexicons.store. meta["outputs"],
    where present: after the word itself only the first so many words are listed in
    orders.
    """

    name: str
    words: tuple[str, ...]
    vectors: NDArray[Any]
    counts: NDArray[np.float64]
    orders: NDArray[Any]
    far: NDArray[np.float32]
    digest: str
    meta: Mapping[str, Any] = field(default_factory=dict)
    synonym_ends: NDArray[np.int32] | None = None
    synonyms: NDArray[np.int32] | None = None
    information_content: NDArray[np.float32] | None = None
    parts: NDArray[np.uint8] | None = None

    @property
    def prior(self) -> NDArray[np.float64]:
        """Public unigram prior, (V,) float64, sums to 1."""
        prior: NDArray[np.float64] = self.counts / self.counts.sum()
        return prior
