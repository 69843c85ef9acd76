"""Counts of public text of a kind: triples, words with capitals, and passages.

A text is a sequence of rows of an n-gram model (dptext.attackers.ngrams), with two
edges before it. Names and words outside the vocabulary are the unknown word.

- Triples tell a word by two words around it: both before, one on each side, both after.
- Passages tell it by the words of the text. The passages with the most words in common
  are sought (tf-idf and cosine, Salton and Buckley 1988); their replaced words count by
  the third power of the cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from dptext.attackers.ngrams import Ngrams
from dptext.attackers.posterior import known_rows
from dptext.attackers.training import PairCounts, absolute_discount
from dptext.tokens import joining, kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Floats, Ints, Lexicon, Mask, Released

# A word in more passages than this share of them tells no topic.
_EVERYWHERE = 0.1
# So many passages count for a text, by this power of their cosine.
_NEAREST, _POWER = 200, 3.0


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
        """Read a batch of texts."""
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
    """How often words (m,) stood in contexts (m,), which are numbers."""

    def __init__(self, contexts: Ints, words: Ints, width: int) -> None:
        self._width = width
        self._keys, counts = np.unique(contexts * width + words, return_counts=True)
        self._excess = counts - absolute_discount(counts)
        of_key = self._keys // width
        self._contexts, begins = np.unique(of_key, return_index=True)
        self._begins = np.append(begins, len(of_key))
        self._freed = absolute_discount(counts) * np.diff(self._begins)
        # Frequent words of a context first.
        order = np.lexsort((-counts, of_key))
        self._words = (self._keys % width)[order]

    def _find(self, contexts: Ints) -> tuple[Ints, Mask]:
        at = np.searchsorted(self._contexts, contexts)
        np.minimum(at, len(self._contexts) - 1, out=at)
        if not len(self._contexts):
            return at, np.zeros(len(contexts), bool)
        return at, self._contexts[at] == contexts

    def words(self, contexts: Ints, most: int) -> tuple[Ints, Ints]:
        """Return numbers of contexts (n,) and their most frequent words: (m,) both."""
        at, known = self._find(contexts)
        numbers = np.flatnonzero(known)
        begins, ends = self._begins[at[numbers]], self._begins[at[numbers] + 1]
        return expand(numbers, begins, np.minimum(ends - begins, most), self._words)

    def gains(self, contexts: Ints, words: Ints, before: Floats) -> Floats:
        """Return by how much contexts raise the probabilities before them: (n,).

        Absolute discounting, interpolated with these (Ney, Essen and Kneser 1994), up
        to a factor of each context.
        """
        gains = np.ones(len(words))
        at, known = self._find(contexts)
        keys = contexts * self._width + words
        place = np.searchsorted(self._keys, keys)
        np.minimum(place, len(self._keys) - 1, out=place)
        known &= (self._keys[place] == keys) if len(self._keys) else False
        freed = self._freed[at[known]] * before[known]
        gains[known] += self._excess[place[known]] / freed
        return gains


def expand(
    numbers: Ints, begins: Ints, lengths: Ints, values: Ints
) -> tuple[Ints, Ints]:
    """Return parts of values, from begins (n,) on, and the number of each: (m,)."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    at = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    return np.repeat(numbers, lengths), values[at]


class Passages:
    """Passages of text, sought by their words."""

    def __init__(self, rows: Ints, passages: Ints, replaced: Mask, size: int) -> None:
        self._count = int(passages.max(initial=-1)) + 1
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
        found = inside & replaced
        keys = passages[found] * size + rows[found]
        keys, self._times = np.unique(keys, return_counts=True)
        self._replaced = keys % size
        self._bounds = np.searchsorted(keys // size, np.arange(self._count + 1))

    def near(self, rows: Ints, shares: Floats) -> tuple[Ints, Floats]:
        """Return the replaced words near to a text of words (n,), and their shares.

        shares (n,) of its words are how sure each of them is.
        """
        scores = np.zeros(self._count)
        words, which = np.unique(rows, return_inverse=True)
        times = np.bincount(which, shares)
        weights = times / np.maximum(times, 1.0) * (1 + np.log(np.maximum(times, 1.0)))
        weights *= self._rarity[words]
        for word in np.flatnonzero(weights).tolist():
            part = slice(self._ends[words[word]], self._ends[words[word] + 1])
            scores[self._passages[part]] += weights[word] * self._weights[part]
        nearest = np.argsort(-scores, kind="stable")[:_NEAREST]
        nearest = nearest[scores[nearest] > 0.0]
        worth = scores[nearest] ** _POWER
        begins, ends = self._bounds[nearest], self._bounds[nearest + 1]
        which, at = expand(
            np.arange(len(nearest)), begins, ends - begins, np.arange(len(self._times))
        )
        found, places = np.unique(self._replaced[at], return_inverse=True)
        shares = np.bincount(places, worth[which] * self._times[at])
        return found, shares / shares.sum() if len(shares) else shares


class Kind(NamedTuple):
    """What an attacker learned from public text of a kind."""

    pairs: Ngrams
    #: (2, V + 1) how likely a replaced word is shown in lower case, and with a capital.
    shown: Floats
    #: Contexts of a replaced word: two words before, one on each side, two after.
    triples: tuple[Contexts, Contexts, Contexts]
    passages: Passages


class KindCounts:
    """Counts texts as a policy splits them."""

    def __init__(self, lexicon: Lexicon, policy: Policy) -> None:
        self._lexicon, self._policy = lexicon, policy
        self._tokenizer = Tokenizer(lexicon, policy)
        self._pairs = PairCounts(lexicon)
        self._parts: list[tuple[Ints, Ints, Ints]] = []
        self._texts = 0

    @property
    def words(self) -> int:
        """Return the number of words that were counted."""
        return self._pairs.words

    def add(self, texts: Sequence[str]) -> None:
        """Count a batch of texts."""
        words = self._tokenizer.words(texts)
        unknown = len(self._lexicon.words)
        rows = np.where(words.ids < 0, unknown, words.ids)
        released = joining.release(self._policy, words, rows, np.ones(len(rows)))
        sequence = WordSequence.from_released(released, self._lexicon)
        replaced = sequence.drawn >= 0
        filled = np.array(sequence.rows)
        filled[replaced] = rows[sequence.drawn[replaced]]
        # -1 for copied words, else whether a capital is shown.
        capital = np.full(len(filled), -1, np.int8)
        flags = released.flags[released.positions]
        capital[replaced] = ((flags & kinds.TITLE) != 0)[sequence.drawn[replaced]]
        self._pairs.count(filled)
        passages = self._texts + sequence.texts
        self._texts += len(texts) + 1
        self._parts.append((filled.astype(np.int32), capital, passages))

    def kind(self, background: Ngrams | None) -> Kind:
        """Return what was learned; pairs over those of a background.

        Raises InputError if no words were counted.
        """
        pairs = self._pairs.model(1, {}, background)
        rows, capital, texts = (np.concatenate(each) for each in zip(*self._parts))
        rows = rows.astype(np.int64)
        size, width = len(self._lexicon.words), len(self._lexicon.words) + 2
        at = np.flatnonzero(capital[2:-2] >= 0) + 2
        word, before, after = rows[at], rows[at - 1], rows[at + 1]
        triples = (
            Contexts(rows[at - 2] * width + before, word, width),
            Contexts(before * width + after, word, width),
            Contexts(after * width + rows[at + 2], word, width),
        )
        shown = np.stack(
            [np.bincount(rows[capital == each], minlength=width) for each in (0, 1)]
        )[:, : size + 1].astype(np.float64)
        _, passages = np.unique(texts, return_inverse=True)
        return Kind(
            pairs, shown, triples, Passages(rows, passages, capital >= 0, size)
        )
