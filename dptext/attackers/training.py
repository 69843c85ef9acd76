"""Counts word pairs of a public corpus and builds a model from them.

p(x'|x) = max(c(x, x') - D, 0) / c(x) + b(x) q(x'|x) with b(x) = D N(x) / c(x), where
N(x) words were seen after x: absolute discounting, interpolated (Ney, Essen and Kneser
1994), with D from the numbers of pairs that were seen once and twice. The frequency of
a word alone is that of the corpus, discounted in the same way and interpolated with
the frequencies of the lexicon. q(x'|x) is p(x'), or with a background, a model of
general text, its back-off and gains over p(x'): then the sum over x' is only about 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dptext.attackers import ngrams
from dptext.attackers.contexts import Contexts, Passages, TextKind, WordSequence
from dptext.attackers.ngrams import Ngrams, absolute_discount, decode_gains
from dptext.attackers.posterior import find_chains
from dptext.errors import InputError
from dptext.lexicons.from_text import KeyCounts
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Floats, Ids, Ints, Lexicon, Rows
from dptext.writing import joining

# Public probability of unknown words, and the same of the end of a sentence.
_UNKNOWN = 0.01


class PairCounts:
    """Counts word pairs in texts over a lexicon, with unknown, begin and end marks."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._tokenizer = Tokenizer(lexicon, Policy())
        self._size = len(lexicon.words)
        self._pairs = KeyCounts()
        self.words = 0

    def add(self, texts: Sequence[str]) -> None:
        """Count a batch of texts."""
        words = self._tokenizer.words(texts)
        rows: Ids = np.where(words.ids < 0, self._size, words.ids)
        batch = joining.release(Policy(), words, rows, np.ones(len(rows)))
        chains = find_chains(batch, self._lexicon)
        earlier = np.where(chains.before >= 0, chains.before, np.roll(rows, 1))
        last = chains.after >= 0
        first = np.concatenate((earlier, rows[last]))
        second = np.concatenate((rows, chains.after[last]))
        self._pairs.add(first * (self._size + 2) + second)
        self.words += len(rows)

    def count(self, rows: Ints) -> None:
        """Count the pairs in a sequence of rows that has edges between its texts."""
        edge = self._size + 1
        first, second = rows[:-1], rows[1:]
        inside = (first != edge) | (second != edge)
        self._pairs.add(first[inside] * (self._size + 2) + second[inside])
        self.words += int((rows != edge).sum())

    def model(
        self, least: int, meta: Mapping[str, object], background: Ngrams | None = None
    ) -> Ngrams:
        """Return the model of all pairs seen at least `least` times.

        The background must be over the words of the same lexicon. Raises InputError if
        no words were counted.
        """
        keys, counts = self._pairs.total()
        if not len(keys):
            raise InputError("the corpus contains no words; give a larger corpus")
        rows = self._size + 2
        contexts, following = keys // rows, keys % rows
        alone = self._alone(following, counts, background)
        discount = absolute_discount(counts)
        totals = np.bincount(contexts, counts, rows)
        kept = counts >= least
        # The discounts, and the whole count of rarer pairs, go to all words.
        freed = np.bincount(contexts, np.where(kept, discount, counts), rows)
        backoff = np.where(totals > 0, freed / np.maximum(totals, 1), 1.0)
        contexts, following, counts = contexts[kept], following[kept], counts[kept]
        shares = (counts - discount) / totals[contexts]
        keys, gains, at = keys[kept], np.ones(len(shares)), np.arange(len(shares))
        if background is not None:
            # Pairs of either corpus; at: the places of this corpus's pairs among them.
            backoff *= np.exp(background.backoff.astype(np.float64))
            public = background.contexts * rows + np.asarray(background.following)
            keys, at = np.unique(np.append(public, keys), return_inverse=True)
            gains = np.ones(len(keys))
            gains[at[: len(public)]] = decode_gains(np.asarray(background.gains))
            at = at[len(public) :]
        gains[at] += shares / (backoff[contexts] * alone[following])
        return ngrams.assemble(
            words=self._lexicon.words,
            alone=np.log(alone),
            backoff=np.log(backoff),
            contexts=keys // rows,
            following=keys % rows,
            gains=ngrams.encode_gains(np.log(gains)),
            meta=meta,
        )

    def _alone(
        self, following: Ints, counts: Ints, background: Ngrams | None
    ) -> Floats:
        """Return p of each word, the unknown word and the sentence end: (V + 2,)."""
        counted = np.bincount(following, counts, self._size + 2)
        seen = counted > 0
        discount = absolute_discount(counted[seen])
        public = np.append(self._lexicon.prior * (1.0 - 2 * _UNKNOWN), [_UNKNOWN] * 2)
        if background is not None:
            public = np.exp(background.alone.astype(np.float64))
        freed = discount * seen.sum() * public
        alone: Floats = np.maximum(counted - discount, 0.0) + freed
        alone /= alone.sum()
        return alone


class KindCounts:
    """Counts n-grams of texts that are tokenized by a policy."""

    def __init__(self, lexicon: Lexicon, policy: Policy) -> None:
        self._lexicon, self._policy = lexicon, policy
        self._tokenizer = Tokenizer(lexicon, policy)
        self._pairs = PairCounts(lexicon)
        # Rows, capitals and texts of each batch.
        self._parts: list[tuple[Rows, Rows, Rows]] = []
        self._texts = 0

    @property
    def words(self) -> int:
        """Return the number of counted words."""
        return self._pairs.words

    def add(self, texts: Sequence[str]) -> None:
        """Count a batch of texts."""
        words = self._tokenizer.words(texts)
        rows = np.where(words.ids < 0, len(self._lexicon.words), words.ids)
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

    def kind(self, background: Ngrams | None) -> TextKind:
        """Return what was learned from the texts; pairs back off to a background model.

        Raises InputError if no words were counted.
        """
        pairs = self._pairs.model(1, {}, background)
        rows, capital, texts = (
            np.concatenate(each) for each in zip(*self._parts, strict=True)
        )
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
        return TextKind(
            pairs, shown, triples, Passages(rows, passages, capital >= 0, size)
        )
