"""CS: cosine of a text's meaning before and after, by the lexicon's vectors.

A text is the mean of its words' vectors, each weighted a / (a + p(word)), a = 0.001, so
that function words count little (Arora et al. 2017, without their common component).
Only the written words that the policy replaces count. Measured on the first
texts, to keep it fast. Texts about different things are similar too: the
figure shown rescales the cosine, from the mean between an original and the private
text of another row (0), over all pairs of rows, to that of equal texts (1).
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.types import Floats, Ids, Ints, Lexicon

NAME = "CS"
# A mean over so many is exact to a few thousandths; all of them take half of a run.
_TEXTS = 2_000
_RARITY = 1e-3
_WORDS = 2**14  # words of a text that are added at once, to limit memory
_SHORT = 2**10  # words of several texts that are added at once
ENCODER = "frequency-weighted mean of the lexicon's vectors"

# Sums are kept in integers of this unit, which no order of adding can change.
_UNITS = 2.0**32


class Similarities(NamedTuple):
    """Cosine similarities before and after, of the n texts with a meaning."""

    #: (n,) of each text, in order.
    cosines: Floats
    #: (d,) int64, the sum of the vectors of length 1 before, in units of 2^-32.
    before: Ints
    #: (d,) int64, the same after.
    after: Ints

    @classmethod
    def between(cls, before: Floats, after: Floats) -> Similarities:
        """Compare rows (r, d) pairwise; pairs with a zero vector are skipped."""
        lengths = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
        both = lengths[0] * lengths[1] > 0
        units = [
            rows[both] / length[both, None]
            for rows, length in zip((before, after), lengths, strict=True)
        ]
        sums = (np.rint(rows * _UNITS).astype(np.int64).sum(axis=0) for rows in units)
        return cls(np.einsum("rd,rd->r", *units), *sums)

    def with_later(self, later: Similarities) -> Similarities:
        """Append the similarities of later texts."""
        return Similarities(
            np.concatenate((self.cosines, later.cosines)),
            self.before + later.before,
            self.after + later.after,
        )

    def figures(self) -> Figures:
        """Return mean cosines for equal and different rows, and the rescaled figure.

        unrelated_cosine is between an original and the private text of another row,
        over all pairs of different rows; None with fewer than two.
        """
        count, values = len(self.cosines), self.cosines.tolist()
        share = unrelated = None
        mean = math.fsum(values) / count if count else None
        if mean is not None and count > 1:
            products = (self.before / _UNITS) * (self.after / _UNITS)
            pairs = math.fsum([*products.tolist(), *(-self.cosines).tolist()])
            unrelated = pairs / (count * (count - 1))
            if unrelated < 1.0:
                share = (mean - unrelated) / (1.0 - unrelated)
        return {"share_kept": share, "mean_cosine": mean, "unrelated_cosine": unrelated}


class Meter(metrics.Meter[Similarities]):
    """Measures the cosines of the first 2,000 texts."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    @cached_property
    def _vectors(self) -> Weighted:
        # Most processes of a run never see one of the first texts.
        return Weighted(self._lexicon)

    def observe(self, batch: Batch) -> Similarities:
        """Compare the texts of a batch that are among the first 2,000."""
        words = batch.words
        texts = min(len(words.ends), _TEXTS - batch.first_text)
        if texts <= 0:
            nothing = np.empty((0, self._lexicon.vectors.shape[1]))
            return Similarities.between(nothing, nothing)
        end = np.searchsorted(words.texts, texts)
        rows = words.texts[:end]
        before = self._vectors.sums(rows, words.ids[:end], texts)
        after = self._vectors.sums(rows, batch.written[:end], texts)
        return Similarities.between(before, after)

    def merge(self, one: Similarities, other: Similarities) -> Similarities:
        """Combine the similarities of two consecutive groups of texts."""
        return one.with_later(other)

    def result(self, total: Similarities) -> Figures:
        """Return the rescaled similarity, and the figures behind it."""
        return {**total.figures(), "texts": len(total.cosines), "encoder": ENCODER}


class Weighted:
    """Word vectors multiplied by their weights."""

    def __init__(self, lexicon: Lexicon) -> None:
        weights = np.append(_RARITY / (_RARITY + lexicon.prior), 1.0)
        self._weights = weights.astype(np.float32)[:, None]
        self._vectors = lexicon.vectors

    def sums(self, texts: Ints, ids: Ids, count: int) -> Floats:
        """Return the vector sum of each text's words: (count, d), 0 without words.

        texts (n,): the text of each word, non-decreasing; ids (n,), -1 for the
        unknown word.
        """
        sums = np.zeros((count, self._vectors.shape[1]))
        begins = np.flatnonzero(np.diff(texts, prepend=-1))
        pairs = pairwise([*begins.tolist(), len(ids)])
        firsts = np.array([at for pair in pairs for at in range(*pair, _WORDS)], int)
        ends, at = np.append(firsts[1:], len(ids)), 0
        while at < len(firsts):
            # Short texts side by side.
            begin = firsts[at]
            last = int(np.searchsorted(ends, begin + _SHORT, side="right"))
            part = slice(at, max(at + 1, last))
            rows = ids[begin : ends[part][-1]]
            weighted = self._vectors[rows].astype(np.float32)
            weighted *= self._weights[rows]
            added = np.add.reduceat(weighted, firsts[part] - begin, axis=0)
            np.add.at(sums, texts[firsts[part]], added)
            at = part.stop
        return sums
