"""Epsilon spent: per text and in all.

Kept as a histogram with steps of half a percent, so that memory does not grow with the
number of texts; least, largest and total are exact.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from dptext.types import Eps, Words

_STEP = np.log1p(0.005)


class EpsilonHistogram:
    """Add up the epsilons of texts; texts without a replaced word spend nothing."""

    def __init__(self) -> None:
        self._bins: Counter[int] = Counter()
        self._texts = 0
        self._total = 0.0
        self._least = np.inf
        self._most = 0.0

    def add(self, words: Words, eps: Eps) -> None:
        """Take in a batch: eps (n,) as spent on its words."""
        sums = np.bincount(words.texts, weights=eps, minlength=len(words.ends))
        self._texts += len(sums)
        sums = sums[sums > 0]
        if not len(sums):
            return
        bins, counts = np.unique(
            np.round(np.log(sums) / _STEP).astype(int), return_counts=True
        )
        self._bins.update(dict(zip(bins.tolist(), counts.tolist(), strict=True)))
        self._total += float(sums.sum())
        self._least = min(self._least, float(sums.min()))
        self._most = max(self._most, float(sums.max()))

    def result(self) -> dict[str, Any]:
        """Return min, median, p95 and max of the texts that spent, and the total."""
        if not self._bins:
            return {"texts": self._texts, "total": 0.0}
        return {
            "texts": self._texts,
            "min": self._least,
            "median": self._quantile(0.5),
            "p95": self._quantile(0.95),
            "max": self._most,
            "total": self._total,
        }

    def _quantile(self, share: float) -> float:
        reached = 0
        wanted = share * sum(self._bins.values())
        for step, count in sorted(self._bins.items()):
            reached += count
            if reached >= wanted:
                value = float(np.exp(step * _STEP))
                return min(max(value, self._least), self._most)
        return self._most
