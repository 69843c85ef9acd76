"""What a text is about: words near in meaning to its other draws are likelier.

Of a candidate x of word i, p(x) becomes p(x) e^(power cos(x, t_i)): t_i is the mean
direction of all other drawn words of the text, rare ones weighing more, shorter where
there are few of them. Function words, of languages of which they are known, have no
direction. It follows from the draws.
Source: language models with a latent semantic part (Bellegarda 2000, Exploiting latent
semantic information in statistical language modeling).

Directions are whole numbers, so that sums are exact in any order and on any machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.directions import unit
from dptext.tokens import stop_words
from dptext.types import Ids, Lexicon, Released

# Chosen on training rows of AG News and SST-2 (docs/decoding.md).
POWER = 4.0
# The length of a direction; sums of products stay below 2^24, exact in 32 bits.
_LENGTH = 1000.0
# The mean direction of so many frequent words says nothing of a topic.
_FREQUENT = 8000
# -ln p of a word that begins to count, and most of what counts beyond it.
_COMMON, _RARE = 5.0, 7.0
# Other words by which the mean direction is half as long as with very many.
_FEW = 3.0
# Steps of a factor's logarithm, and words that are looked at together.
_STEPS = 16
_BLOCK = 256


class Topic:
    """The factors of candidates by what a text is about, to a power above 0."""

    def __init__(self, lexicon: Lexicon, power: float) -> None:
        rows = _subject(lexicon).astype(np.float64)
        rows = unit(rows)
        rows = unit(rows - rows[:_FREQUENT].mean(axis=0))
        row_of = lexicon.row_of
        function = stop_words.of(lexicon.language)
        grammar = [row_of[word] for word in function & row_of.keys()]
        rows[grammar] = 0.0
        self._directions = np.rint(rows * _LENGTH).astype(np.float32)
        rare = np.clip(-np.log(lexicon.prior) - _COMMON, 0.0, _RARE)
        self._worth = np.rint(4.0 * rare).astype(np.float32)
        self._worth[grammar] = 0.0
        largest = int(np.ceil(power * _STEPS * 1.1))
        codes = np.arange(-largest, largest + 1)
        self._factors = np.exp(codes / _STEPS).astype(np.float32)
        self._scale, self._largest = power * _STEPS / _LENGTH**2, largest

    def factors(self, rows: Ids, released: Released) -> NDArray[np.float32]:
        """Return the factor of each candidate of each drawn word: (n, c).

        rows (n, c) are candidates, V the unknown word.
        """
        topics = self._topics(released)
        factors = np.empty(rows.shape, np.float32)
        for begin in range(0, len(rows), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            near = self._directions[rows[part]]
            cosines = np.einsum("ncd,nd->nc", near, topics[part])
            codes = np.rint(cosines * self._scale).astype(np.int64)
            factors[part] = self._factors.take(codes + self._largest, mode="clip")
        return factors

    def _topics(self, released: Released) -> NDArray[np.float32]:
        """Return the mean direction of the other draws of each word's text: (n, d)."""
        drawn, texts = released.drawn, released.texts
        begins = np.flatnonzero(np.diff(texts, prepend=-1))
        of_text = np.cumsum(np.diff(texts, prepend=texts[:1]) > 0)
        worth = self._worth[drawn]
        each = self._directions[drawn] * worth[:, None]
        sums = np.add.reduceat(each, begins, axis=0, dtype=np.float64)
        counts = np.add.reduceat(worth > 0.0, begins, dtype=np.int64)
        others = (counts[of_text] - (worth > 0.0)).astype(np.float32)
        # So much shorter that the square of its length is exact in 32 bits.
        shares = np.float32(1.0 / 16.0) / np.maximum(others, np.float32(1.0))
        mean = np.rint((sums.astype(np.float32)[of_text] - each) * shares[:, None])
        length = np.sqrt(np.einsum("nd,nd->n", mean, mean))
        weight = _LENGTH * others / ((others + _FEW) * np.maximum(length, 1.0))
        topics: NDArray[np.float32] = np.rint(mean * weight[:, None]).astype(np.float32)
        return topics


def _subject(lexicon: Lexicon) -> NDArray[np.floating]:
    """Return the part of vectors that tells a word's subject: (V + 1, d).

    In a lexicon that dptext built that is GloVe's, without what was fitted to synonyms
    and without polarity (dptext.lexicons.build.vectors); else all of it.
    """
    if "glove_sha256" in lexicon.meta:
        dimensions = (lexicon.vectors.shape[1] - 1) // 2
        return np.asarray(lexicon.vectors[:, :dimensions])
    return lexicon.vectors
