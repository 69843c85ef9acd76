"""How much a text changes when a word is taken out: 1 - cos of their vectors.

A text of one word is nothing without it: 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.budgets import _embedding, _spans
from dptext.budgets.scores import Values
from dptext.types import Lexicon, Words

_WINDOWS = 64
_NOTHING = -1  # the row of a text without anything


@dataclass(frozen=True, slots=True)
class Params(_embedding.Params):
    """The model, and how it is used."""

    def prepare(self, lexicon: Lexicon) -> _embedding.Similarity:
        """Find the model."""
        return self.similarity(lexicon, SentenceSimilarity, "sentence-similarity")


class SentenceSimilarity(_embedding.Similarity):
    """1 - cos(text, text without the word) of each word."""

    __slots__ = ()
    what = "1 - cos of text and text without the word"

    def _by_lexicon(self, words: Words) -> Values:
        vectors, sums = self.of_lexicon(words)
        return np.asarray(1.0 - _embedding.cosines(sums - vectors, sums))

    def _by_model(self, words: Words) -> Values:
        parts = list(_spans.windows(words, self.params.window))
        # A window has as many texts as words: a few at a time keep memory bounded.
        values = [
            of_window
            for begin in range(0, len(parts), _WINDOWS)
            for of_window in self._of_windows(words, parts[begin : begin + _WINDOWS])
        ]
        return np.concatenate(values)

    def _of_windows(
        self, words: Words, parts: list[tuple[int, int, int, int]]
    ) -> list[Values]:
        """Return 1 - cos of each window and the window without each of its words."""
        groups, rows = [], []
        for begin, end, low, high in parts:
            pieces = words.pieces[begin:end]
            positions = words.positions[low:high] - begin
            texts = [
                "".join(pieces[:at] + pieces[at + 1 :]) for at in positions.tolist()
            ]
            # The window itself is of the group, and equal texts are encoded once.
            distinct = list(dict.fromkeys(["".join(pieces), *texts]))
            number = {text: row for row, text in enumerate(distinct)}
            groups.append(distinct)
            rows.append([number[text] if text.strip() else _NOTHING for text in texts])
        encoded = self.encode(groups)
        return [_unlike(vectors, at) for vectors, at in zip(encoded, rows, strict=True)]


def _unlike(vectors: Values, rows: list[int]) -> Values:
    """Return 1 - cos of row 0 and each of the rows, 1 for none."""
    cosines = _embedding.cosines(vectors[rows], vectors[[0] * len(rows)])
    return np.where(np.array(rows) == _NOTHING, 1.0, 1.0 - cosines)
