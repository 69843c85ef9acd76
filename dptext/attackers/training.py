"""Count the pairs of a public corpus and make a model of them.

p(x'|x) = max(c(x, x') - D, 0) / c(x) + b(x) q(x'|x) with b(x) = D N(x) / c(x), where
N(x) words were seen after x: absolute discounting, interpolated (Ney, Essen and Kneser
1994), D from the numbers of pairs that were seen once and twice. A word alone is as
frequent as in the corpus, discounted in the same way, with the lexicon's own
frequencies below. q(x'|x) is p(x'), or with a background, a model of general text, its
back-off and gains over p(x'), so that the sum over x' is only about 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import ngrams
from dptext.attackers.ngrams import Ngrams, decoded
from dptext.attackers.posterior import chains_of
from dptext.errors import InputError
from dptext.lexicons.from_text import KeyCounts
from dptext.tokens import joining
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Floats, Ids, Ints, Lexicon

# What any other word has, and a sentence's end, where the corpus says nothing.
_UNKNOWN = 0.01


class PairCounts:
    """Counts the pairs of texts over a lexicon: V words, any other, begin and end."""

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
        batch = joining.released(Policy(), words, rows, np.ones(len(rows)))
        chains = chains_of(batch, self._lexicon)
        earlier = np.where(chains.before >= 0, chains.before, np.roll(rows, 1))
        last = chains.after >= 0
        first = np.concatenate((earlier, rows[last]))
        second = np.concatenate((rows, chains.after[last]))
        self._pairs.add(first * (self._size + 2) + second)
        self.words += len(rows)

    def model(
        self, least: int, meta: Mapping[str, object], background: Ngrams | None = None
    ) -> Ngrams:
        """Return the model of all pairs that were seen at least so often.

        background is over the words of the same lexicon. Raises InputError where there
        were no words.
        """
        keys, counts = self._pairs.total()
        if not len(keys):
            msg = "the corpus has no words, so there is no model to make of it"
            raise InputError(msg)
        rows = self._size + 2
        contexts, following = keys // rows, keys % rows
        alone = self._alone(following, counts, background)
        discount = _discount(counts)
        totals = np.bincount(contexts, counts, rows)
        kept = counts >= least
        # What pairs that are not kept had goes to all words.
        left = np.where(kept, discount, counts)
        spared = np.bincount(contexts, left, rows)
        backoff = np.where(totals > 0, spared / np.maximum(totals, 1), 1.0)
        contexts, following, counts = contexts[kept], following[kept], counts[kept]
        shares = (counts - discount) / totals[contexts]
        keys, gains, at = keys[kept], np.ones(len(shares)), np.arange(len(shares))
        if background is not None:
            backoff *= np.exp(background.backoff.astype(np.float64))
            theirs = background.contexts * rows + np.asarray(background.following)
            keys, at = np.unique(np.append(theirs, keys), return_inverse=True)
            gains = np.ones(len(keys))
            gains[at[: len(theirs)]] = decoded(np.asarray(background.gains))
            at = at[len(theirs) :]
        gains[at] += shares / (backoff[contexts] * alone[following])
        logs, codes = (np.log(alone), np.log(backoff)), ngrams.coded(np.log(gains))
        pairs = keys // rows, keys % rows
        return ngrams.assembled(self._lexicon.words, *logs, *pairs, codes, meta)

    def _alone(self, following: Ints, counts: Ints, general: Ngrams | None) -> Floats:
        """Return p of words, of any other word and of a sentence's end: (V + 2,)."""
        counted = np.bincount(following, counts, self._size + 2)
        seen = counted > 0
        discount = _discount(counted[seen])
        public = np.append(self._lexicon.prior * (1.0 - 2 * _UNKNOWN), [_UNKNOWN] * 2)
        if general is not None:
            public = np.exp(general.alone.astype(np.float64))
        spared = discount * seen.sum() * public
        alone: Floats = np.maximum(counted - discount, 0.0) + spared
        alone /= alone.sum()
        return alone


def _discount(counts: NDArray[np.number]) -> float:
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    return once / (once + 2 * twice) if once and twice else 0.5
