"""What a run counts; everything here is a function of the private text.

Each batch is measured where it is privatized, in whatever process; what comes back is
small and is added up here. Nothing that is counted depends on how texts were grouped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.engines.epsilons import EpsilonHistogram, Spent
from dptext.measures.all_metrics import AllMetrics, Partials
from dptext.metrics import Batch, Figure
from dptext.tokens import kinds
from dptext.tokens.joining import Joined
from dptext.types import Eps, Ids, Lexicon, Words


class Counted(NamedTuple):
    """What is counted in some texts.

    tokens (8,) int64 by kind; words, how many were replaced.
    """

    tokens: NDArray[np.int64]
    words: int
    epsilons: Spent
    metrics: Partials


class Meters:
    """All that measures a run: one in each process, made from public data."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.epsilons = EpsilonHistogram(lexicon)
        self._metrics = AllMetrics(lexicon)

    def observe(self, batch: Batch) -> Counted:
        """Count a batch."""
        return Counted(
            tokens=np.bincount(batch.words.flags & kinds.KIND, minlength=8),
            words=len(batch.written),
            epsilons=self.epsilons.observe(batch),
            metrics=self._metrics.observe(batch),
        )

    def merge(self, one: Counted, other: Counted) -> Counted:
        """Count the texts of both; those of one come first."""
        return Counted(
            tokens=one.tokens + other.tokens,
            words=one.words + other.words,
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


BEGIN = Start()


class Totals(NamedTuple):
    """What one process has counted of a run that others work on, too."""

    counted: Counted
    records: int
    faults: int
    fields: Counter[str]


@dataclass(slots=True)
class Tally:
    """Counts the texts and records of a run, which may have several jobs."""

    meters: Meters
    counted: Counted
    start: Start = BEGIN
    records: int = 0
    faults: int = 0
    seconds: float = 0.0
    # In how many records each selected field is, null or not.
    fields: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, lexicon: Lexicon, start: Start = BEGIN) -> Tally:
        """Start all metrics of a run, or of what comes after a start."""
        meters = Meters(lexicon)
        return cls(meters, meters.observe(Batch.empty()), start)

    @property
    def texts(self) -> int:
        """Return how many texts were counted."""
        return self.counted.epsilons.texts

    @property
    def next(self) -> Start:
        """Return how many records, those left out too, and texts come before others."""
        read = self.records + self.faults
        return Start(self.start.records + read, self.start.texts + self.texts)

    @property
    def totals(self) -> Totals:
        """Return what was counted, for `merge` in another process."""
        return Totals(self.counted, self.records, self.faults, self.fields)

    def merge(self, totals: Totals) -> None:
        """Add what another process has counted of what comes next."""
        self.add(totals.counted)
        self.records += totals.records
        self.faults += totals.faults
        self.fields.update(totals.fields)

    def add(self, counted: Counted) -> None:
        """Add what was counted in the texts that come next."""
        self.counted = self.meters.merge(self.counted, counted)

    def observe(self, words: Words, drawn: Ids, joined: Joined, eps: Eps) -> None:
        """Count the texts that come next."""
        batch = Batch(words, joined.written, joined.spelled, eps, self.next.texts)
        self.add(self.meters.observe(batch))
