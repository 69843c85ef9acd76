"""The counts of a run; everything here is a function of the private text.

Each batch is measured where it is made private, in whatever process; what comes back is
small and is added up here. Nothing that is counted depends on how texts were grouped.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import metrics
from dptext.metrics import AllMetrics, Batch, Figure, Partials
from dptext.pipeline import Privatized
from dptext.tokens import kinds
from dptext.types import Eps, Lexicon

_STEP = np.log1p(0.005)
# Sums are kept in integers, which no order of adding can change: an epsilon of 1e-40
# or more is a multiple of this unit.
_UNITS = 2**200


@dataclass(frozen=True, slots=True)
class EpsilonsSpent:
    """What texts spent: how many are in each step, and their sum in units of 2^-200.

    Texts without a replaced word spend nothing; they count in texts only.
    """

    texts: int
    steps: Counter[int]
    units: int
    least: float
    most: float


class EpsilonHistogram(metrics.Meter[EpsilonsSpent]):
    """Add up the epsilons of texts."""

    def observe(self, batch: Batch) -> EpsilonsSpent:
        """Count a batch."""
        words = batch.words
        sums = np.bincount(words.texts, weights=batch.eps, minlength=len(words.ends))
        spent: Eps = sums[sums > 0].astype(np.float64)
        steps = np.round(np.log(spent) / _STEP).astype(int)
        return EpsilonsSpent(
            texts=len(sums),
            steps=Counter(steps.tolist()),
            units=sum(map(int, (spent * float(_UNITS)).tolist())),
            least=float(spent.min(initial=np.inf)),
            most=float(spent.max(initial=0.0)),
        )

    def merge(self, one: EpsilonsSpent, other: EpsilonsSpent) -> EpsilonsSpent:
        """Count the texts of both."""
        return EpsilonsSpent(
            texts=one.texts + other.texts,
            steps=one.steps + other.steps,
            units=one.units + other.units,
            least=min(one.least, other.least),
            most=max(one.most, other.most),
        )

    def result(self, total: EpsilonsSpent) -> dict[str, float]:
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


def _quantile(total: EpsilonsSpent, share: float) -> float:
    steps = np.array(sorted(total.steps.items()))
    reached = np.cumsum(steps[:, 1])
    step = steps[np.searchsorted(reached, share * reached[-1]), 0]
    return min(max(math.exp(step * _STEP), total.least), total.most)


class Counted(NamedTuple):
    """What is counted in some texts.

    tokens (16,) int64 by kind; words, how many were replaced; forms, how many pieces
    had each form.
    """

    tokens: NDArray[np.int64]
    words: int
    forms: Counter[str]
    epsilons: EpsilonsSpent
    metrics: Partials


class Meters:
    """All that measures a run: one in each process, made from public data."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.epsilons = EpsilonHistogram(lexicon)
        self._metrics = AllMetrics(lexicon)

    def observe(self, batch: Batch) -> Counted:
        """Count a batch."""
        return Counted(
            tokens=np.bincount(batch.words.flags & kinds.KIND, minlength=kinds.COUNT),
            words=len(batch.written),
            forms=Counter(str(form) for form, _ in batch.words.formed.values()),
            epsilons=self.epsilons.observe(batch),
            metrics=self._metrics.observe(batch),
        )

    def merge(self, one: Counted, other: Counted) -> Counted:
        """Count the texts of both; those of one come first."""
        return Counted(
            tokens=one.tokens + other.tokens,
            words=one.words + other.words,
            forms=one.forms + other.forms,
            epsilons=self.epsilons.merge(one.epsilons, other.epsilons),
            metrics=self._metrics.merge(one.metrics, other.metrics),
        )

    def results(self, total: Counted) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric by its heading.

        Raises ComponentError for what a report cannot hold.
        """
        return self._metrics.results(total.metrics)


class Start(NamedTuple):
    """How many records and texts of a run come before those that are counted."""

    records: int = 0
    texts: int = 0

    def plus(self, other: Start) -> Start:
        """Return what comes before where others follow."""
        return Start(self.records + other.records, self.texts + other.texts)


BEGIN = Start()


@dataclass(slots=True)
class Totals:
    """What is counted of a run, which others may work on, too."""

    counted: Counted
    records: int = 0
    faults: int = 0
    # In how many records each selected field is, null or not.
    fields: Counter[str] = field(default_factory=Counter)
    # Names of copied fields: all that a header or schema names, else of first records.
    copied: dict[str, None] = field(default_factory=dict)
    # How those of them look identifying that do, by first records.
    identifying: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Tally(Totals):
    """Counts the texts and records of a run, which may have several jobs."""

    meters: Meters
    start: Start = BEGIN
    seconds: float = 0.0

    @classmethod
    def begin(cls, lexicon: Lexicon, start: Start = BEGIN) -> Tally:
        """Start all metrics of a run, or of what comes after a start."""
        meters = Meters(lexicon)
        return cls(meters.observe(Batch.empty()), meters=meters, start=start)

    @property
    def texts(self) -> int:
        """Return how many texts were counted."""
        return self.counted.epsilons.texts

    @property
    def next(self) -> Start:
        """Return how many records, those left out too, and texts come before others."""
        return self.start.plus(Start(self.records + self.faults, self.texts))

    def pass_over(self, records: int) -> None:
        """Go on after records of a run that are not counted."""
        self.start = self.start.plus(Start(records))

    @property
    def totals(self) -> Totals:
        """Return what was counted, for `merge` in another process."""
        return Totals(*(getattr(self, each.name) for each in fields(Totals)))

    def merge(self, totals: Totals) -> None:
        """Add what another process has counted of what comes next."""
        self.add(totals.counted)
        self.records += totals.records
        self.faults += totals.faults
        self.fields.update(totals.fields)
        self.copied.update(totals.copied)
        self.identifying.update(totals.identifying)

    def add(self, counted: Counted) -> None:
        """Add what was counted in the texts that come next."""
        self.counted = self.meters.merge(self.counted, counted)

    def count(self, private: Privatized) -> None:
        """Count the records that come next."""
        self.add(self.meters.observe(private.batch(self.next.texts)))
        self.records += len(private.texts)
