"""Counts from public text of a kind: triples, capitalised words, passages.

A text is a sequence of rows of an n-gram model (dptext.attackers.ngrams), with two
edges before it. Names and words outside the vocabulary are the unknown word.

- Triples predict a word from two neighbours: both before, one on each side, both after.
- Passages predict it from the words of the text. The passages with most words in common
  are retrieved (tf-idf and cosine, Salton and Buckley 1988); their replaced words are
  weighted by the third power of the cosine.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext.attackers.ngrams import Ngrams, absolute_discount
from dptext.attackers.posterior import known_rows
from dptext.types import Floats, Ints, Lexicon, Mask, Released

Number = TypeVar("Number", bound=np.generic)
# A word in more passages than this share of them tells no topic.
_EVERYWHERE = 0.1
# So many passages count for a text, by this power of their cosine.
_NEAREST, _POWER = 200, 3.0
# So many of their replaced words are kept.
_NEAR = 400
_TINY = 1e-12


class WordSequence(NamedTuple):
    """The words and edges of a batch of texts, one text after the other."""

    #: (s,) rows, -1 for a drawn word.
    rows: Ints
    #: (s,) the number of a drawn word, -1 elsewhere.
    drawn: Ints
    #: (s,) the text of each.
    texts: Ints

    @classmethod
    def from_released(cls, released: Released, lexicon: Lexicon) -> Self:
        """Build the sequence of a batch of released texts."""
        rows = known_rows(released, lexicon)
        drawn = np.full(len(rows), -1, np.int64)
        drawn[released.positions] = np.arange(len(released.positions))
        rows[released.positions] = -1
        texts = np.searchsorted(released.ends, np.arange(len(rows)), side="right")
        kept = (rows >= 0) | (drawn >= 0)
        begins = np.concatenate(([0], np.cumsum(kept)))[
            np.concatenate(([0], released.ends))
        ]
        edges, count = np.repeat(begins, 2), len(released.ends)
        edge = len(lexicon.words) + 1
        return cls(
            np.insert(rows[kept], edges, edge),
            np.insert(drawn[kept], edges, -1),
            np.insert(texts[kept], edges, np.repeat(np.arange(count + 1), 2)),
        )


class Contexts:
    """Counts of words (m,) in numbered contexts."""

    def __init__(self, contexts: Ints, words: Ints, width: int) -> None:
        self._width = width
        self._keys, counts = np.unique(contexts * width + words, return_counts=True)
        discount = absolute_discount(counts)
        of_key = self._keys // width
        self._contexts, begins = np.unique(of_key, return_index=True)
        self._begins = np.append(begins, len(of_key))
        freed = discount * np.diff(self._begins)
        #: For each key its count beyond the discount over what its context frees.
        self._ratios = (counts - discount) / np.repeat(freed, np.diff(self._begins))
        # Frequent words of a context first.
        self._words = (self._keys % width)[np.lexsort((-counts, of_key))]

    def words(self, contexts: Ints, most: int) -> tuple[Ints, Ints]:
        """Return context positions and their most frequent words: (m,) each."""
        at = np.searchsorted(self._contexts, contexts)
        known = at < len(self._contexts)
        known[known] = self._contexts[at[known]] == contexts[known]
        numbers, at = np.flatnonzero(known), at[known]
        begins = self._begins[at]
        lengths = np.minimum(self._begins[at + 1] - begins, most)
        return expand(numbers, begins, lengths, self._words)

    def raised(self, contexts: Ints, words: Ints, before: Floats) -> Floats:
        """Return the smoothed probability of words in contexts: (n,).

        Absolute discounting, interpolated with `before` (Ney, Essen and Kneser 1994),
        up to a factor of each context.
        """
        excess = look_up(self._keys, self._ratios, contexts * self._width + words)
        return 1.0 + excess / before


def expand(
    numbers: NDArray[Number], begins: Ints, lengths: Ints, values: Ints
) -> tuple[NDArray[Number], Ints]:
    """Return each number once per value of its part, and the concatenated parts.

    numbers, begins and lengths are (n,); a part is `length` values from `begin`.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    at = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return np.repeat(numbers, lengths), values[at]


class Passages:
    """Searchable passages of text, indexed by their words."""

    def __init__(self, rows: Ints, passages: Ints, replaced: Mask, size: int) -> None:
        self._count, self._size = int(passages.max(initial=-1)) + 1, size
        inside = rows < size
        keys = rows[inside] * self._count + passages[inside]
        keys, times = np.unique(keys, return_counts=True)
        words, self._passages = keys // self._count, keys % self._count
        among = np.bincount(words, minlength=size)
        rarity = np.log(self._count / np.maximum(among, 1))
        self._rarity = np.where(among > self._count * _EVERYWHERE, 0.0, rarity)
        weights = (1.0 + np.log(times)) * self._rarity[words]
        length = np.sqrt(np.bincount(self._passages, weights**2, self._count))
        self._weights = weights / np.maximum(length, 1e-9)[self._passages]
        self._ends = np.searchsorted(words, np.arange(size + 1))
        counted = inside & replaced
        keys = passages[counted] * size + rows[counted]
        keys, self._times = np.unique(keys, return_counts=True)
        self._replaced, self._places = keys % size, np.arange(len(keys))
        self._bounds = np.searchsorted(keys // size, np.arange(self._count + 1))

    def near(self, rows: Ints, shares: Floats) -> tuple[Ints, Floats]:
        """Return the replaced words of similar passages, ascending, and their shares.

        rows (n,) are the words of a text, shares (n,) the certainty of each.
        """
        words, which = np.unique(rows, return_inverse=True)
        weights = np.log1p(np.bincount(which, shares)) * self._rarity[words]
        scores = np.zeros(self._count)
        for word, weight in zip(words.tolist(), weights.tolist(), strict=True):
            part = slice(self._ends[word], self._ends[word + 1])
            if weight > 0.0:
                scores[self._passages[part]] += weight * self._weights[part]
        nearest = np.argsort(-scores, kind="stable")[:_NEAREST]
        nearest = nearest[scores[nearest] > 0.0]
        worth = scores[nearest] ** _POWER
        begins, ends = self._bounds[nearest], self._bounds[nearest + 1]
        of_passage, at = expand(worth, begins, ends - begins, self._places)
        nearby, places = np.unique(self._replaced[at], return_inverse=True)
        sums = np.bincount(places, of_passage * self._times[at])
        first = np.sort(np.argsort(-sums, kind="stable")[:_NEAR])
        return nearby[first], sums[first] / max(float(sums.sum()), _TINY)

    def near_all(self, rows: Ints, shares: Floats, texts: Ints) -> Near:
        """Return the replaced words of passages similar to each text.

        rows (s,) are words, -1 if unknown, in ascending order of texts; shares as in
        `near`.
        """
        count = int(texts.max(initial=-1)) + 1
        inside = np.flatnonzero((rows >= 0) & (rows < self._size))
        ends = np.searchsorted(texts[inside], np.arange(count + 1))
        each = [
            self.near(rows[inside[begin:end]], shares[inside[begin:end]])
            for begin, end in pairwise(ends.tolist())
        ]
        counts = [len(nearby) for nearby, _ in each]
        nearby, sums = (
            np.concatenate([*parts, np.empty(0, kind)])
            for parts, kind in zip(
                zip(*each, strict=True), (np.int64, np.float64), strict=True
            )
        )
        keys = np.repeat(np.arange(count), counts) * (self._size + 1) + nearby
        return Near(np.concatenate(([0], np.cumsum(counts))), nearby, sums, keys)


class Near(NamedTuple):
    """The replaced words of passages similar to each text, text by text."""

    #: (t + 1,) the words of a text stand from begins[t] to begins[t + 1].
    begins: Ints
    #: (m,) rows, ascending in each text.
    rows: Ints
    #: (m,) their shares.
    shares: Floats
    #: (m,) text and row in one number.
    keys: Ints

    def words(self, texts: Ints) -> tuple[Ints, Ints]:
        """Return text numbers (n,) and the words of each text: (m,) both."""
        begins = self.begins[texts]
        lengths = self.begins[texts + 1] - begins
        return expand(np.arange(len(texts)), begins, lengths, self.rows)

    def shares_of(self, texts: Ints, rows: Ints, size: int) -> Floats:
        """Return the share of each word in its text, 0 if absent: (m,)."""
        return look_up(self.keys, self.shares, texts * (size + 1) + rows)


def look_up(keys: Ints, values: Floats, wanted: Ints) -> Floats:
    """Return the values of wanted keys in a sorted array, 0 if missing: (n,)."""
    if not len(keys):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0.0)


class TextKind(NamedTuple):
    """What an attacker learned from public text of a kind."""

    pairs: Ngrams
    #: (2, V + 1) how likely a replaced word is shown in lower case, and with a capital.
    shown: Floats
    #: Contexts of a replaced word: two words before, one on each side, two after.
    triples: tuple[Contexts, Contexts, Contexts]
    passages: Passages
