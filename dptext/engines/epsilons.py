"""Epsilon spent: per text and in all.

Kept as a histogram with steps of half a percent, so that memory does not grow with the
number of texts; least, largest and total are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dptext import metrics
from dptext.metrics import Batch
from dptext.types import Eps

_STEP = np.log1p(0.005)
_MANTISSA = 53  # bits of a float64


@dataclass(frozen=True, slots=True)
class Spent:
    """What texts spent: those in each step, and their sum as mantissas by exponent.

    Texts without a replaced word spend nothing; they count in texts only.
    """

    texts: int
    steps: Counter[int]
    mantissas: Counter[int]
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
            mantissas=_exact(spent),
            least=float(spent.min(initial=np.inf)),
            most=float(spent.max(initial=0.0)),
        )

    def merge(self, one: Spent, other: Spent) -> Spent:
        """Count the texts of both."""
        return Spent(
            texts=one.texts + other.texts,
            steps=one.steps + other.steps,
            mantissas=one.mantissas + other.mantissas,
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
            "total": _sum(total.mantissas),
        }


def _exact(values: Eps) -> Counter[int]:
    """Return the sum of floats without rounding: integers by power of two."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA).astype(np.int64)
    sums: Counter[int] = Counter()
    for exponent in np.unique(exponents).tolist():
        # Of Python's integers: these have no largest one.
        sums[exponent] = sum(mantissas[exponents == exponent].tolist())
    return sums


def _sum(mantissas: Counter[int]) -> float:
    """Return the float nearest to an exact sum."""
    return float(
        sum(
            mantissa * Fraction(2) ** (exponent - _MANTISSA)
            for exponent, mantissa in mantissas.items()
        )
    )


def _quantile(total: Spent, share: float) -> float:
    reached = 0
    wanted = share * sum(total.steps.values())
    for step, count in sorted(total.steps.items()):
        reached += count
        if reached >= wanted:
            value = math.exp(step * _STEP)
            return min(max(value, total.least), total.most)
    return total.most
