"""Epsilon spent: per text and in all.

Kept as a histogram with steps of half a percent, so that memory does not grow with the
number of texts; least, largest and total are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from dptext import metrics
from dptext.metrics import Batch
from dptext.types import Eps

_STEP = np.log1p(0.005)
# Sums are kept in integers, which no order of adding can change: an epsilon of 1e-40
# or more is a multiple of this unit.
_UNITS = 2**200


@dataclass(frozen=True, slots=True)
class Spent:
    """What texts spent: how many are in each step, and their sum in units of 2^-200.

    Texts without a replaced word spend nothing; they count in texts only.
    """

    texts: int
    steps: Counter[int]
    units: int
    least: float
    most: float


class EpsilonHistogram(metrics.Meter[Spent]):
    """Add up the epsilons of texts."""

    def observe(self, batch: Batch) -> Spent:
        """Count a batch."""
        words = batch.words
        sums = np.bincount(words.texts, weights=batch.eps, minlength=len(words.ends))
        spent: Eps = sums[sums > 0].astype(np.float64)
        steps = np.round(np.log(spent) / _STEP).astype(int)
        return Spent(
            texts=len(sums),
            steps=Counter(steps.tolist()),
            units=sum(map(int, (spent * float(_UNITS)).tolist())),
            least=float(spent.min(initial=np.inf)),
            most=float(spent.max(initial=0.0)),
        )

    def merge(self, one: Spent, other: Spent) -> Spent:
        """Count the texts of both."""
        return Spent(
            texts=one.texts + other.texts,
            steps=one.steps + other.steps,
            units=one.units + other.units,
            least=min(one.least, other.least),
            most=max(one.most, other.most),
        )

    def result(self, total: Spent) -> dict[str, float]:
        """Return min, median, p95 and max of the texts that spent, and the total."""
        if not total.steps:
            return {"total": 0.0}
        return {
            "min": total.least,
            "median": _quantile(total, 0.5),
            "p95": _quantile(total, 0.95),
            "max": total.most,
            "total": total.units / _UNITS,
        }


def _quantile(total: Spent, share: float) -> float:
    reached = 0
    wanted = share * sum(total.steps.values())
    for step, count in sorted(total.steps.items()):
        reached += count
        if reached >= wanted:
            value = math.exp(step * _STEP)
            return min(max(value, total.least), total.most)
    return total.most
