"""How similar a word is to its text: |cosine| of their vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.budgets import scores
from dptext.budgets.scores import sentence_similarity
from dptext.budgets.scores.sentence_similarity import Similarity, cosines
from dptext.types import Floats, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params(sentence_similarity.Params):
    """Settings of the score."""

    def prepare(self, lexicon: Lexicon) -> Similarity:
        """Find the model."""
        return self.similarity(lexicon, WordSimilarity, "word-similarity")


class WordSimilarity(Similarity):
    """Score |cos(text, word)| of each word."""

    __slots__ = ()
    what = "|cos| of word and text"

    def _by_lexicon(self, words: Words) -> Floats:
        return np.abs(cosines(*self.lexicon_vectors(words)))

    def _by_model(self, words: Words) -> Floats:
        parts = list(scores.windows(words, self.params.window))
        texts = [["".join(words.pieces[begin:end])] for begin, end, _, _ in parts]
        vectors = np.concatenate(self.encode(texts))
        counts = [high - low for _, _, low, high in parts]
        single = self.word_vectors(scores.bodies(words))
        return np.abs(cosines(single, vectors.repeat(counts, axis=0)))
