"""How much a text changes when a word is taken out: 1 - cos of their vectors.

A text of one word is nothing without it: 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.budgets import _embedding, _spans
from dptext.budgets._embedding import Params, State, content
from dptext.types import Lexicon, Words

_WINDOWS = 64
_NOTHING = -1  # the row of a text without anything

__all__ = ["Params", "State", "content", "describe", "prepare", "score"]


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Find the model."""
    return _embedding.prepare(params, lexicon, "the score sentence-similarity")


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return 1 - cos(text, text without the word), in steps of the grid."""
    if not len(words.ids):
        return np.empty(0)
    if not state.folder:
        vectors, sums = _embedding.own(state, words)
        return _embedding.rounded(1.0 - _embedding.cosines(sums - vectors, sums))
    parts = list(_spans.windows(words, state.params.window))
    # A window has as many texts as words: a few windows at a time keep memory bounded.
    found = [
        unlike
        for begin in range(0, len(parts), _WINDOWS)
        for unlike in _of_windows(state, words, parts[begin : begin + _WINDOWS])
    ]
    return _embedding.rounded(np.concatenate(found))


def describe(state: State) -> str:
    """Name the model."""
    return f"1 - cos of text and text without the word by {_embedding.describe(state)}"


def _of_windows(
    state: State, words: Words, parts: list[tuple[int, int, int, int]]
) -> list[NDArray[np.float64]]:
    """Return 1 - cos of each window and the window without each of its words."""
    groups, rows = [], []
    for begin, end, low, high in parts:
        pieces = words.pieces[begin:end]
        positions = words.positions[low:high] - begin
        texts = ["".join(pieces[:at] + pieces[at + 1 :]) for at in positions.tolist()]
        # The whole is of the group, and equal texts are encoded once.
        distinct = list(dict.fromkeys(["".join(pieces), *texts]))
        number = {text: row for row, text in enumerate(distinct)}
        groups.append(distinct)
        rows.append([number[text] if text.strip() else _NOTHING for text in texts])
    encoded = _embedding.encode(state, groups)
    return [_unlike(made, at) for made, at in zip(encoded, rows, strict=True)]


def _unlike(vectors: NDArray[np.float64], rows: list[int]) -> NDArray[np.float64]:
    """Return 1 - cos of row 0 and each of the rows, 1 for none."""
    alike = _embedding.cosines(vectors[rows], vectors[[0] * len(rows)])
    return np.where(np.array(rows) == _NOTHING, 1.0, 1.0 - alike)
