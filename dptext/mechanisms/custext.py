"""CusText: the exponential mechanism inside a set of output words.

P(y|x) ~ exp(eps u(x, y) / 2) for y in the output set of x, where u = 1 - (d - min) /
(max - min) falls from 1 at the nearest word of the set to 0 at the farthest (u = 1
where all are equally far).

Published output sets follow from public order and public vocabulary alone: words
are taken by descending public frequency, the order of the lexicon.

aggressive: every word has its own set, the k words nearest to it. Each word is alone in
    its class (except by chance: two words with the same k nearest words).
balanced: the most frequent word without a set opens one, its k nearest words; those of
    them that have no set yet get this one too. Sets overlap.
conservative: the most frequent word without a set opens one: itself and the k - 1
    nearest of the words without a set; all of them get it. The sets divide V; the last
    holds the rest.

Unknown words have the set of their public row's nearest k words (aggressive) or that
of the word nearest to their row (balanced, conservative).
Published code walks over the words of the private corpus instead, and over what it
has counted there.

Guarantee: with mapping one_set, where the output set of every word is all of V,
epsilon-LDP over V and over unknown words: u lies in [0, 1] whatever x is. With the
published mappings (aggressive, balanced, conservative) none over V: a word outside a
set is never written for a word inside it. What holds there is epsilon-LDP among the
words of one published class; which class a word is in is disclosed.
Instead: mapping one_set, the same formula over one output set, all of V; or rank.
Known as: CusText, CusText+ (with stop words kept).
Source: Chen et al., Findings of ACL 2023, algorithms 1 and 2, arXiv:2207.01193.
Known gaps: the published mappings as above; keeping stop words or unknown words, as the
published code does, is a setting of the tokens; numbers are words here, not a number
plus noise.
Example: dptext sanitize reviews.jsonl --field text --mechanism custext --epsilon 12
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache, geometry, mechanisms
from dptext.arrays import draw_columns, log_normalised
from dptext.exponential import DistanceMechanism
from dptext.exponential.distribution import DistanceDistribution, Lists
from dptext.mechanisms import Aim, Bands, WordMechanism, known_words_bound
from dptext.randomness import RandomBits
from dptext.spaces import Space, unit
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, VaryingEpsilon, blocks

_SOURCE = "Chen et al. 2023, algorithms 1 and 2"
_CHUNK = 8192  # words; their sets are weighed at once


@dataclass(frozen=True, eq=False)
class OneSet(DistanceMechanism):
    """CusText with one output set, P(y|x) ~ exp(eps u(x, y) / 2) over all of V."""

    #: The space of the distances that give u.
    measured: Space
    #: Whether u falls with the square of the distance (cosine).
    squared: bool
    #: The nearest words in that space.
    lists: Lists
    #: max - min of the distances, or of their squares, of each row: (V + 1,).
    spread: Floats

    @cached_property
    def distribution(self) -> DistanceDistribution:
        """Return the output distributions; a row's minimal distance cancels."""
        return DistanceDistribution(
            self.measured, self.lists, spread=self.spread, squared=self.squared
        )

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return epsilon-LDP over V and the unknown word."""
        return Guarantee.ldp(_SOURCE, varying_epsilon=VaryingEpsilon.exponential(1.0))

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add to the loss."""
        return self.distribution.numerical_slack(epsilon)


class OutputSets(NamedTuple):
    """The output set of every row."""

    #: Words of each set: (c, k), filled up with -1.
    sets: NDArray[np.int32]
    #: The set of each row: (V + 1,).
    classes: Ints


def build(space: Space, mapping: str, k: int) -> OutputSets:
    """Return the output sets of a mapping, cached by lexicon and space."""
    k = min(k, space.size)

    def compute() -> cache.Arrays:
        sets, classes = _BUILDERS[mapping](space, k)
        return {"sets": sets.astype(np.int32), "classes": classes}

    key = cache.key_of("sets", 1, space.lexicon.digest, space.identity, mapping, k)
    arrays = cache.arrays(
        key, compute, lambda kept: _are_valid(space, k, **kept), "forming output sets"
    )
    return OutputSets(arrays["sets"], arrays["classes"])


def _are_valid(space: Space, k: int, sets: NDArray[np.int32], classes: Ints) -> bool:
    """Return whether no set repeats a word, and every input has a set."""
    ordered = np.sort(sets, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if repeated.any() or sets.shape[1] != k or classes.shape != (space.size + 1,):
        return False
    are_words = -1 <= sets.min() and sets.max() < space.size
    return bool(are_words and classes.min() >= 0 and classes.max() < len(sets))


def _aggressive(space: Space, k: int) -> tuple[NDArray[np.integer], Ints]:
    # Sets are compared as sets: the same k words in another order are the same set.
    nearest = np.sort(geometry.nearest_words(space, k).astype(np.int32), axis=1)
    sets, classes = np.unique(nearest, axis=0, return_inverse=True)
    return sets, classes.reshape(-1).astype(np.int64)


def _balanced(space: Space, k: int) -> tuple[NDArray[np.integer], Ints]:
    near = geometry.nearest_words(space, k).astype(np.int64)
    classes = np.full(space.size + 1, -1, np.int64)
    leaders: list[int] = []
    for word in range(space.size):
        if classes[word] < 0:
            members = near[word]
            classes[members[classes[members] < 0]] = len(leaders)
            leaders.append(word)
    classes[-1] = classes[near[-1, 0]]
    return near[leaders], classes


def _conservative(space: Space, k: int) -> tuple[NDArray[np.integer], Ints]:
    remaining = geometry.RemainingWords(space.vectors, space.size)
    classes = np.full(space.size + 1, -1, np.int64)
    sets = np.full((-(-space.size // k), k), -1, np.int64)
    count = 0
    for word in range(space.size):
        if classes[word] >= 0:
            continue
        remaining.remove(np.array([word]))
        others = remaining.nearest(word, k - 1)
        remaining.remove(others)
        sets[count, 0], sets[count, 1 : 1 + len(others)] = word, others
        classes[word] = classes[others] = count
        count += 1
    classes[-1] = classes[geometry.nearest_word(space, space.size)[0]]
    return sets, classes


_BUILDERS = {
    "aggressive": _aggressive,
    "balanced": _balanced,
    "conservative": _conservative,
}


@dataclass(frozen=True, eq=False)
class PublishedSets(WordMechanism):
    """Published CusText: P(y|x) ~ exp(eps u(x, y) / 2) on the set of x's class."""

    #: The space of the distances that give u.
    measured: Space
    #: Whether u falls with the square of the distance (cosine).
    squared: bool
    sets: OutputSets

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return that there is no guarantee, with the reason."""
        words = self.sets.classes[:-1]
        alone = int((np.bincount(words)[words] == 1).sum())
        reason = (
            "epsilon-LDP holds only inside the published classes (words with the "
            "same output set), and the class of each word is disclosed, because "
            "words of other sets are never written; "
            f"{alone} of {self.space.size} words are alone in their "
            "class and have no protection. Use mapping one_set instead."
        )
        return Guarantee.nothing(reason, source=_SOURCE)

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the paper's claim, epsilon, for any two words: (n,) nats."""
        return known_words_bound(epsilon, a, b)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word from each word's set."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        uniform = bits.uniform(0)[:, 0]
        drawn = np.empty(len(ids), np.int32)
        for part in blocks(len(ids), _CHUNK):
            weights = np.exp(self._exponents(rows[part], eps[part]))
            positions = draw_columns(weights, uniform[part])
            drawn[part] = self.sets.sets[self.sets.classes[rows[part]], positions]
        return drawn

    def _members(self, rows: Ints) -> NDArray[np.int32]:
        """Return the members of each row's set: (n,) -> (n, k)."""
        return self.sets.sets[self.sets.classes[rows]]

    def _exponents(self, rows: Ints, eps: Eps) -> Floats:
        """Return eps (u - 1) / 2 for members of each row's set: (n, k), at most 0.

        u = 1 - (d - min) / (max - min), 1 if max = min; -inf where a set is padded with
        -1.
        """
        members = self._members(rows)
        pairs = rows.repeat(members.shape[1]), members.ravel()
        distances = geometry.distances_by_row(self.measured, *pairs).reshape(
            members.shape
        )
        if self.squared:
            distances *= distances
        distances[members < 0] = np.inf
        low = distances.min(axis=1, keepdims=True)
        high = distances.max(axis=1, keepdims=True, where=members >= 0, initial=0.0)
        spread = np.where(high == low, 1.0, high - low)
        utility = 1.0 - (distances - low) / spread
        return np.asarray(eps[:, None] * (utility - 1.0) / 2.0)

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) for all outputs, -inf outside the set: (n, V)."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        logs = np.full((len(ids), self.space.size), -np.inf)
        members = self._members(rows)
        inside = np.nonzero(members >= 0)
        logs[inside[0], members[inside]] = self._exponents(rows, eps)[inside]
        return log_normalised(logs)

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max of prior(x) P(y|x) over x in each band: (bands, V)."""
        best = np.zeros((len(bands), len(prior)))
        for number, (begin, end) in enumerate(bands):
            for part in blocks(end, _CHUNK, begin):
                rows = np.arange(part.start, part.stop)
                weights = np.exp(self._exponents(rows, np.full(len(rows), epsilon)))
                weights *= (prior[rows] / weights.sum(axis=1))[:, None]
                members = self._members(rows)
                inside = members >= 0
                np.maximum.at(best[number], members[inside], weights[inside])
        return best

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add to the loss within a class."""
        words = self.sets.sets.shape[1]
        return float(2.0**-50 * words * np.exp(min(epsilon, 600.0) / 2.0))


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of CusText."""

    #: Words of an output set; one_set has all of V.
    k: Annotated[int, Meta(ge=1, le=1024)] = 20
    mapping: Literal["one_set", "aggressive", "balanced", "conservative"] = "one_set"
    #: u falls with the Euclidean distance, or with 1 - cosine.
    distance: Literal["euclidean", "cosine"] = "euclidean"

    def prepare(self, space: Space, aim: Aim) -> WordMechanism:
        """Build the output sets, or compute the spread of distances over V."""
        squared = self.distance == "cosine"
        measured = space
        if squared:
            # Half the squared distance of vectors of length 1 is 1 - cosine.
            measured = replace(
                space,
                name=f"directions of {space.name}",
                metric=f"angle in the {space.metric}",
                transformed=partial(unit.Params().transform, space.vectors),
            )
        if self.mapping == "one_set":
            power = 2 if squared else 1
            spread = geometry.farthest_distances(measured) ** power
            # The least distance of a word is 0, to itself; the unknown word has none.
            nearest = geometry.nearest_word(measured, measured.size)[1]
            spread[-1] -= nearest**power
            lists = Lists.from_space(measured)
            return OneSet(
                params=self,
                space=space,
                measured=measured,
                squared=squared,
                lists=lists,
                spread=spread,
            )
        return PublishedSets(
            params=self,
            space=space,
            measured=measured,
            squared=squared,
            sets=build(measured, self.mapping, self.k),
        )
