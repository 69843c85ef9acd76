"""CS: cosine of a text's meaning before and after, by the lexicon's own vectors.

A text is the mean of its words' vectors, each weighted a / (a + p(word)), a = 0.001, so
that function words count little (Arora et al. 2017, without their common component).
Measured on the first texts of the run, so that it stays cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.types import Ids, Lexicon, Words

NAME = "CS"
# A mean over so many is exact to a few thousandths; all of them take half of a run.
_TEXTS = 2_000
_RARITY = 1e-3


class Meter:
    """Add up the cosines of texts."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._vectors: NDArray[np.float32] | None = None
        self._sum = 0.0
        self._texts = 0

    def add(self, words: Words, drawn: Ids) -> None:
        """Take in a batch, while fewer than 2 000 texts have been measured."""
        if self._texts >= _TEXTS or not len(drawn):
            return
        before = self._means(words, words.ids)
        after = self._means(words, drawn)
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        has_both = lengths > 0
        products = np.einsum("rd,rd->r", before, after)
        self._sum += float((products[has_both] / lengths[has_both]).sum())
        self._texts += int(np.count_nonzero(has_both))

    def result(self) -> dict[str, Any]:
        """Return the mean cosine, null without texts."""
        mean = self._sum / self._texts if self._texts else None
        return {
            "mean_cosine": mean,
            "texts": self._texts,
            "encoder": "frequency-weighted mean of the lexicon's vectors",
        }

    def _means(self, words: Words, ids: Ids) -> NDArray[np.float64]:
        if self._vectors is None:
            self._vectors = weighted(self._lexicon)
        starts = np.flatnonzero(np.diff(words.texts, prepend=-1))
        sums: NDArray[np.float64] = np.add.reduceat(
            self._vectors[ids], starts, axis=0
        ).astype(np.float64)
        return sums


def weighted(lexicon: Lexicon) -> NDArray[np.float32]:
    """Return each vector times its word's weight: (V + 1, d)."""
    weights = np.append(_RARITY / (_RARITY + lexicon.prior), 1.0)
    vectors = np.asarray(lexicon.vectors, np.float32)
    made: NDArray[np.float32] = vectors * weights[:, None].astype(np.float32)
    return made


def text_vectors(
    lexicon: Lexicon,
    words: Words,
    texts: int,
    vectors: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """Return the sum of each text's weighted vectors: (texts, d), 0 without words."""
    table = weighted(lexicon) if vectors is None else vectors
    sums = np.zeros((texts, table.shape[1]))
    if len(words.ids):
        starts = np.flatnonzero(np.diff(words.texts, prepend=-1))
        sums[words.texts[starts]] = np.add.reduceat(table[words.ids], starts, axis=0)
    return sums
