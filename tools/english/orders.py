"""The orders of an English lexicon: which words may best stand for a word.

An order holds the word itself and then, best first, words that may be written. How well
y stands for x is a sum of public figures: closeness of meaning (cosine, less what y has
with everybody), shared synsets, grammar (part of speech, inflection, class, kind of
name), subject, polarity and frequency. Antonyms of x are in no list of x, and words of
sealed classes in lists of their class alone (tools.english.classes). Equals stand by
id. Nothing here is about any text.

Grammar and subject are rows of square roots of shares, so that the product of two rows
is the part that both words have in common (Bhattacharyya): 1 for words of one kind, 0
for words of none in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.orders import (
    NEVER,
    ORDERING,
    empty_orders,
    hubs,
    rounded_down,
)
from dptext.lexicons.search import (
    GRID,
    Nearest,
    in_blocks,
    largest,
    lengths_from,
)
from dptext.tokens import numbers
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of
from dptext.types import PARTS
from tools.english.classes import Classes
from tools.english.forms import English, groups, kinds_of_names
from tools.english.forms import classes as closed_class_shares
from tools.english.wordnet import (
    LemmaWeights,
    Link,
    WordNet,
    antonyms,
    information_content,
    polarity,
    synonyms,
)

_BLOCK = 256
# Words looked at beyond the listed ones, so that some are not listed.
_SPARE = 32
# Puts words of the same class before all others of an order.
_FIRST = 100.0
# Of the outputs, the part nearest to a special category, which stand for none of its
# words.
_TELLING = 0.03
Shares = dict[str, float]
# Where WordNet names one thing: the first lemma met on the way up tells its kind.
_KINDS = {
    "city": "city", "town": "city", "country": "country", "state": "state",
    "American state": "state", "province": "state", "island": "land",
    "mountain": "land", "mountain range": "land", "continent": "land",
    "river": "water", "lake": "water", "sea": "water", "ocean": "water",
    "body of water": "water", "region": "land", "location": "land",
    "person": "family", "deity": "deity", "organization": "body", "language": "tongue",
    "war": "event", "event": "event",
}  # fmt: skip
_VOTERS = 10
_NAME = 0.3  # what all names share
_CLOSED = 0.3  # what all words of closed classes share
# Forms that rules derive -> part of speech and inflection.
_DERIVED = {
    "ly": "r base", "ness": "n base", "un": "a base", "agent": "n base",
    "agents": "n plural", "able": "a base",
}  # fmt: skip
# The tag of a word -> its part of speech (dptext.types.PARTS).
_PARTS = {"n": "noun", "v": "verb", "a": "adjective", "s": "adjective", "r": "adverb"}


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each figure beside the cosine, from about twenty settings.

    rarer is for each nat by which y is less frequent than x.
    """

    hub: float = 0.8
    meaning: float = 0.25
    grammar: float = 0.2
    subject: float = 0.1
    group: float = 0.2
    polarity: float = 1.5
    rarer: float = 0.09


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of the score, for V words.

    vectors (V + 1, d) of any float, the last row for unknown words; meaning (V, e),
    vectors fitted to relations, perhaps of no dimensions; grammar (V, g),
    subject (V, f) rows of length 1, or 0 for nothing known; polarity (V,);
    counts (V,) > 0; groups and antonyms list for each word the others; barred
    are words that stand for no other; classes say which stand for which.
    """

    vectors: NDArray[Any]
    meaning: NDArray[np.float64]
    grammar: NDArray[np.float64]
    subject: NDArray[np.float64]
    polarity: NDArray[np.float64]
    counts: NDArray[np.float64]
    groups: Sequence[Sequence[int]]
    antonyms: Sequence[Sequence[int]]
    barred: Sequence[int] = ()
    classes: Classes | None = None


_USUAL = Weights()


def orders(
    figures: Figures,
    outputs: int,
    listed: int,
    weights: Weights = _USUAL,
) -> NDArray[np.integer]:
    """Return the word itself and the listed best others below outputs.

    (V, 1 + listed) uint16, uint32 where V >= 65536. outputs: only the first so many
    words are listed. Names of persons that are outputs list the order of names and not
    themselves first, so that all names are one input.
    """
    size = len(figures.counts)
    scoring = _Scoring(figures, outputs, weights)
    orders_of_rows = empty_orders(size, 1 + listed, size)

    def work(block: slice) -> None:
        rows = np.arange(block.start, block.stop)
        orders_of_rows[block, 0] = rows
        orders_of_rows[block, 1:] = largest(scoring.scores(rows), listed)

    in_blocks(ORDERING, size, work, _BLOCK)
    if figures.classes is not None:
        named, shared = figures.classes.names, figures.classes.listed
        orders_of_rows[named, 1:] = shared[:listed]
        orders_of_rows[np.flatnonzero(named[:outputs])] = shared[: 1 + listed]
        for row, first in figures.classes.titles.items():
            distinct = dict.fromkeys((row, *first, *shared.tolist()))
            orders_of_rows[row] = [*distinct][: 1 + listed]
    return orders_of_rows


def order_of_unknown(
    figures: Figures, outputs: int, listed: int, first: Sequence[int] = ()
) -> NDArray[np.intp]:
    """Return the order of the last row of vectors: (listed,).

    first, which are outputs, then by cosine less hubness.
    """
    scoring = _Scoring(figures, outputs, _USUAL)
    scores = scoring.likeness(np.array([len(figures.counts)]))
    scores[0, list(first)] = -NEVER - np.arange(len(first)) / GRID
    return np.asarray(largest(scores, listed)[0])


class _Scoring:
    """Figures, and arrays that are the same for every row."""

    def __init__(self, figures: Figures, outputs: int, weights: Weights) -> None:
        self._figures, self._outputs, self._weights = figures, outputs, weights
        self._logs = np.log(figures.counts)
        self._vectors = figures.vectors[:outputs].astype(np.float64, copy=False)
        self._barred = [row for row in figures.barred if row < outputs]
        self._hubs = weights.hub * hubs(self._vectors, self._barred)
        self._telling = {} if figures.classes is None else self._near(figures.classes)

    def _near(self, classes: Classes) -> dict[int, NDArray[np.intp]]:
        """Return the outputs nearest to each special category, by its number."""
        near = {}
        for number in sorted({*classes.category.tolist()} - {-1}):
            rows = np.flatnonzero(classes.category == number)
            worth = np.log1p(self._figures.counts[rows])
            mean = worth @ self._figures.vectors[rows].astype(np.float64)
            few = round(_TELLING * self._outputs)
            near[number] = largest((self._vectors @ mean - self._hubs)[None], few)[0]
        return near

    def likeness(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return cosines less hubness: (b, outputs)."""
        directions = self._figures.vectors[rows].astype(np.float64, copy=False)
        scores: NDArray[np.float64] = directions @ self._vectors.T
        scores -= self._hubs
        scores[:, self._barred] = 2 * NEVER
        return scores

    def scores(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how well outputs stand for each row: (b, outputs)."""
        figures, weights, outputs = self._figures, self._weights, self._outputs
        scores = self.likeness(rows)
        for weight, kinds in (
            (weights.meaning, figures.meaning),
            (weights.grammar, figures.grammar),
            (weights.subject, figures.subject),
        ):
            scores += weight * (kinds[rows] @ kinds[:outputs].T)
        difference = figures.polarity[rows][:, None] - figures.polarity[:outputs]
        scores -= weights.polarity * np.abs(difference, out=difference)
        rarer = self._logs[rows][:, None] - self._logs[:outputs]
        scores -= weights.rarer * np.maximum(rarer, 0.0, out=rarer)
        for position, row in enumerate(rows.tolist()):
            for others, worth in (
                (figures.groups[row], weights.group),
                (figures.antonyms[row], NEVER),
                ((row,), 20 * NEVER),  # below all that is not to be listed
            ):
                scores[position, [y for y in others if y < outputs]] += worth
        if figures.classes is not None:
            self._seal(scores, rows, figures.classes)
        return scores

    def _seal(
        self, scores: NDArray[np.float64], rows: NDArray[np.intp], classes: Classes
    ) -> None:
        """Put words of a class first in its orders, and leave them out of others."""
        of_rows, of_outputs = classes.bits[rows], classes.bits[: self._outputs]
        shared = of_rows[:, None] & of_outputs
        scores[(shared & classes.first) != 0] += _FIRST
        scores[(shared == 0) & (of_outputs != 0)] += 2 * NEVER
        for number, near in self._telling.items():
            block = np.ix_(classes.category[rows] == number, near)
            scores[block] += 2 * NEVER
        gender = classes.gender[: self._outputs]
        scores[classes.gender[rows][:, None] * gender < 0] += 3 * NEVER
        content = ~classes.function[rows]
        scores[np.ix_(content, classes.function[: self._outputs])] += 2 * NEVER


def build_figures(
    english: English,
    words: Sequence[str],
    vectors: NDArray[Any],
    counts: NDArray[np.float64],
    meaning: NDArray[np.float64] | None = None,
    classes: Classes | None = None,
) -> tuple[Figures, dict[str, NDArray[Any]]]:
    """Return the figures of words, and the optional arrays of dptext.types.Lexicon.

    Takes words in their written form; vectors (V + 1, d) of length 1, the last row for
    unknown words; counts (V,) > 0; meaning (V, e), other vectors of length 1 that tell
    synonyms from the rest; classes, which decide the words of each order.
    """
    database, ties = english.wordnet, english.ties
    keys = [key_of(word) for word in words]
    kinds = profiles(english, words, vectors)
    figures = Figures(
        vectors=vectors,
        meaning=np.zeros((len(words), 0)) if meaning is None else meaning,
        grammar=kinds.grammar,
        subject=kinds.subject,
        polarity=polarity(database, keys, ties, english.weights),
        counts=counts,
        groups=grouped(keys, groups()),
        antonyms=antonyms(database, keys, ties),
        barred=numbers.unlisted_rows(words),
        classes=classes,
    )
    ends, alike = synonyms(database, keys, ties)
    content = information_content(
        database, keys, ties, counts / counts.sum(), english.grammatical
    )
    return figures, {
        "synonym_ends": ends,
        "synonyms": alike,
        "information_content": content,
        "parts": kinds.parts,
    }


def grouped(keys: Sequence[str], alike: Sequence[tuple[str, ...]]) -> list[list[int]]:
    """Return for each word the others of its hand-written groups."""
    row_of = {key: row for row, key in enumerate(keys)}
    others_of: list[dict[int, None]] = [{} for _ in keys]
    for group in alike:
        rows = [row_of[key] for key in group if key in row_of]
        for row in rows:
            others_of[row] |= dict.fromkeys(rows)
    return [
        [other for other in others if other != row]
        for row, others in enumerate(others_of)
    ]


class Profiles(NamedTuple):
    """Rows of grammar (V, g), of subject (V, f) and parts of speech (V,).

    Subjects are WordNet's lexicographer files; parts are rows of dptext.types.PARTS.
    """

    grammar: NDArray[np.float64]
    subject: NDArray[np.float64]
    parts: NDArray[np.uint8]


def profiles(english: English, words: Sequence[str], vectors: NDArray[Any]) -> Profiles:
    """Return what words are in grammar, and what they are about.

    vectors (V or more, d) of length 1: names that no list has are of the kinds that
    their nearest names are of.
    """
    closed, named = _closed_classes(), kinds_of_names()
    grammar: list[Shares] = []
    subjects: list[Shares] = []
    named_rows: dict[int, list[str]] = {}
    asking: list[int] = []
    for row, word in enumerate(words):
        key = key_of(word)
        ties = english.ties.get(key, ())
        if key in english.grammatical or "number word" in closed.get(key, ()):
            grammar.append(_of_closed(closed[key]))
            subjects.append(dict.fromkeys(closed[key], 1.0))
            continue
        name = word[:1].isupper()
        kinds = name and (named.get(key) or _name_kinds(english.wordnet, ties))
        if kinds:
            named_rows[row] = kinds
            grammar.append(_of_name(kinds))
        else:
            if name and not ties:
                asking.append(row)
            grammar.append(_of_open(ties, english.weights))
        subjects.append(_files(english.wordnet, ties, english.weights))
    for row, kind in _kinds_of_neighbours(vectors, named_rows, asking):
        grammar[row] = _of_name([kind])
    parts = np.array([PARTS.index(_part(shares)) for shares in grammar], np.uint8)
    return Profiles(_rows(grammar), _rows(subjects), parts)


def _part(shares: Shares) -> str:
    """Return the part of speech that most of a word's uses have."""
    if "closed" in shares:
        return "number" if "number word" in shares else "function-word"
    if "name" in shares:
        return "name"
    uses: Shares = {}
    for tag, share in shares.items():
        part = _PARTS.get(tag.split(" ")[0], "other")
        uses[part] = uses.get(part, 0.0) + share
    return max(sorted(uses), key=uses.__getitem__)


def _closed_classes() -> dict[str, list[str]]:
    classes_of: dict[str, list[str]] = {key_of(name): ["number word"] for name in NAMES}
    for name, pairs in closed_class_shares().items():
        for word in pairs:
            classes_of.setdefault(key_of(word), []).append(name)
    return classes_of


def _of_closed(names: Sequence[str]) -> Shares:
    shares = {name: (1.0 - _CLOSED) / len(names) for name in names}
    return {"closed": _CLOSED, **shares}


def _name_kinds(wordnet: WordNet, ties: Sequence[Link]) -> list[str]:
    """Return the kinds of what a capitalised word names, [] where it is no name."""
    of_senses = [
        _kind(wordnet, number)
        for tie in ties
        for number, _ in wordnet.senses[tie.lemma, tie.pos]
    ]
    kinds = [kind for kind in of_senses if kind]
    return list(dict.fromkeys(kinds)) if len(kinds) * 2 > len(of_senses) else []


def _kind(wordnet: WordNet, number: int) -> str:
    """Return the kind of the one thing that a meaning names, "" if it names none."""
    above = [p.target for p in wordnet.synsets[number].pointers if p.symbol == "@i"]
    if not above:
        return ""
    for here in above:  # grows: the way up, nearest first
        known = [
            _KINDS[name] for name in wordnet.synsets[here].lemmas if name in _KINDS
        ]
        if known:
            return known[0]
        up = [p.target for p in wordnet.synsets[here].pointers if p.symbol == "@"]
        above.extend(target for target in up if target not in above)
    return "thing"


def _kinds_of_neighbours(
    vectors: NDArray[Any], named: Mapping[int, list[str]], asking: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Yield each asking row with the commonest kind of its nearest named rows."""
    if not named:
        return
    known = np.array([*named])
    others = vectors[known].astype(np.float64)
    for begin in range(0, len(asking), _BLOCK):
        rows = asking[begin : begin + _BLOCK]
        cosines = vectors[rows].astype(np.float64) @ others.T
        nearest = known[largest(cosines, min(_VOTERS, len(known)))].tolist()
        for row, voters in zip(rows, nearest, strict=True):
            votes = Counter(kind for voter in voters for kind in named[voter])
            yield row, min(votes, key=lambda kind: (-votes[kind], kind))


def _of_name(kinds: Sequence[str]) -> Shares:
    shares = {f"name {kind}": (1.0 - _NAME) / len(kinds) for kind in kinds}
    return {"name": _NAME, **shares}


def _of_open(ties: Sequence[Link], weights: LemmaWeights) -> Shares:
    shares: Shares = {}
    for tie in ties:
        use = tie.share * weights[tie.lemma, tie.pos]
        tag = _DERIVED.get(tie.kind, f"{tie.pos} {tie.kind}")
        shares[tag] = shares.get(tag, 0.0) + use
    return _whole(shares) or {"other": 1.0}


def _files(wordnet: WordNet, ties: Sequence[Link], weights: LemmaWeights) -> Shares:
    shares: Shares = {}
    for tie in ties:
        senses = wordnet.senses[tie.lemma, tie.pos]
        use = tie.share * weights[tie.lemma, tie.pos] / sum(c + 1.0 for _, c in senses)
        for synset, count in senses:
            file = f"file {wordnet.synsets[synset].file}"
            shares[file] = shares.get(file, 0.0) + use * (count + 1.0)
    return _whole(shares) or {"other": 1.0}


def _whole(shares: Shares) -> Shares:
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()} if total else {}


def _rows(shares_of: Sequence[Shares]) -> NDArray[np.float64]:
    """Return the square roots of shares, one column a name in order: (V, t)."""
    columns = {
        name: i for i, name in enumerate(sorted({n for s in shares_of for n in s}))
    }
    rows = np.zeros((len(shares_of), len(columns)))
    for row, shares in enumerate(shares_of):
        for name, share in shares.items():
            rows[row, columns[name]] = np.sqrt(share)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def far_bounds(
    vectors: NDArray[np.floating], orders: NDArray[np.integer]
) -> NDArray[np.float32]:
    """Return for orders (V + 1, k) of any kind how near unlisted words are: (V + 1,).

    The bound `far` of dptext.types.Lexicon.
    """
    size, listed = len(vectors) - 1, orders.shape[1]
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    far = np.empty(size + 1, np.float32)
    near = Nearest(rows, size)

    def work(block: slice) -> None:
        nearest, beyond = near.query(block, min(listed + _SPARE, size))
        for row, ids, bound in zip(
            range(size + 1)[block], nearest, beyond, strict=True
        ):
            rest = np.setdiff1d(ids, orders[row])
            closest = lengths_from(rows, row, rest).min(initial=np.inf)
            far[row] = rounded_down(min(float(closest), float(bound)))

    in_blocks(ORDERING, size + 1, work)
    return far
