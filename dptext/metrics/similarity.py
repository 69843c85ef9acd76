"""CS: cosine of a text's meaning before and after, by the lexicon's own vectors.

A text is the mean of its words' vectors, each weighted a / (a + p(word)), a = 0.001, so
that function words count little (Arora et al. 2017, without their common component).
Only words that the policy replaces count, as they are written. Measured on the first
texts, so that it stays cheap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.types import Floats, Ids, Ints, Lexicon

NAME = "CS"
# A mean over so many is exact to a few thousandths; all of them take half of a run.
_TEXTS = 2_000
_RARITY = 1e-3
# Vectors that are added up together.
_AT_ONCE = 1024
ENCODER = "frequency-weighted mean of the lexicon's vectors"

# Of each text that has a meaning before and after, in order.
Cosines = Floats


class Meter(metrics.Meter[Cosines]):
    """Measure the cosines of the first 2,000 texts."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    @cached_property
    def _vectors(self) -> Weighted:
        # Most processes of a run never see one of the first texts.
        return Weighted(self._lexicon)

    def observe(self, batch: Batch) -> Cosines:
        """Return the cosines of those texts of a batch that are among the first."""
        words = batch.words
        texts = min(len(words.ends), _TEXTS - batch.first_text)
        if texts <= 0:
            return np.empty(0)
        end = np.searchsorted(words.texts, texts)
        rows = words.texts[:end]
        before = self._vectors.of_texts(rows, words.ids[:end], texts)
        after = self._vectors.of_texts(rows, batch.written[:end], texts)
        return cosines(before, after)

    def merge(self, one: Cosines, other: Cosines) -> Cosines:
        """Return all of them."""
        return np.concatenate((one, other))

    def result(self, total: Cosines) -> Figures:
        """Return the mean cosine, None without texts."""
        of_texts = mean(total.tolist())
        return {"mean_cosine": of_texts, "texts": len(total), "encoder": ENCODER}


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, the same in whatever order; None without values."""
    return math.fsum(values) / len(values) if values else None


class Weighted:
    """Each vector times its word's weight."""

    def __init__(self, lexicon: Lexicon) -> None:
        weights = np.append(_RARITY / (_RARITY + lexicon.prior), 1.0)
        self._weights = weights.astype(np.float32)[:, None]
        self._vectors = lexicon.vectors

    def of_texts(self, texts: Ints, ids: Ids, count: int) -> Floats:
        """Return the sum of each text's words: (count, d), 0 without words.

        texts (n,) which text each word belongs to, non-decreasing; ids (n,), -1 the
        unknown word.
        """
        sums = np.zeros((count, self._vectors.shape[1]))
        begins = np.flatnonzero(np.diff(texts, prepend=-1))
        ends = np.append(begins[1:], len(ids))
        first = 0
        while first < len(begins):
            # As many texts as their vectors stay in a cache, one at least.
            begin = begins[first]
            after = int(np.searchsorted(ends, begin + _AT_ONCE, side="right"))
            after = max(after, first + 1)
            rows = ids[begin : ends[after - 1]]
            vectors = self._vectors[rows].astype(np.float32, copy=False)
            vectors *= self._weights[rows]
            starts = begins[first:after]
            sums[texts[starts]] = np.add.reduceat(vectors, starts - begin, axis=0)
            first = after
        return sums


def cosines(one: Floats, other: Floats) -> Cosines:
    """Return the cosine of each pair of rows, (r, d) both, neither of which is 0."""
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    both = lengths > 0
    return np.asarray(np.einsum("rd,rd->r", one, other)[both] / lengths[both])
