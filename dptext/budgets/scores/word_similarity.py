"""How near a word is to its text: |cos| of their vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.budgets import _embedding, _spans
from dptext.budgets._embedding import Params, State, content
from dptext.types import Lexicon, Words

__all__ = ["Params", "State", "content", "describe", "prepare", "score"]


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Find the model."""
    return _embedding.prepare(params, lexicon, "the score word-similarity")


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return |cos(text, word)| of each word, in steps of the grid."""
    if not len(words.ids):
        return np.empty(0)
    if not state.folder:
        vectors, sums = _embedding.own(state, words)
        return _embedding.rounded(np.abs(_embedding.cosines(vectors, sums)))
    parts = list(_spans.windows(words, state.params.window))
    texts = [["".join(words.pieces[begin:end])] for begin, end, _, _ in parts]
    wholes = np.concatenate(_embedding.encode(state, texts))
    counts = [high - low for _, _, low, high in parts]
    single = _embedding.of_words(state, _spans.bodies(words))
    alike = _embedding.cosines(single, wholes.repeat(counts, axis=0))
    return _embedding.rounded(np.abs(alike))


def describe(state: State) -> str:
    """Name the model."""
    return f"|cos| of word and text by {_embedding.describe(state)}"
