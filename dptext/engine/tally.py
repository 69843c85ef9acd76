"""The counts of a run; everything here depends on the private text.

Each batch is measured in the process that sanitizes it; the small results are added
up here. No count depends on the grouping of texts.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import metrics
from dptext.errors import OutputError
from dptext.lexicons.word_classes import SpecialRecords
from dptext.metrics import AllMetrics, Batch, Figure, Partials
from dptext.pipeline import Privatized
from dptext.tokens import kinds
from dptext.tokens.multilingual import is_form
from dptext.types import ENGLISH, Eps, Lexicon, Record

_STEP = np.log1p(0.005)
# Sums are kept in integers, which no order of adding can change: an epsilon of 1e-40
# or more is a multiple of this unit.
_UNITS = 2**200
_MEMORY = 64 * 2**10  # KiB of the database; the rest is written to a temporary file


@dataclass(frozen=True, slots=True)
class EpsilonsSpent:
    """Epsilons of texts in nats. Texts without replaced words spend none."""

    #: Number of texts, those that spend nothing included.
    texts: int
    #: Number of texts in each step of the histogram, of width _STEP in ln(epsilon).
    steps: Counter[int]
    #: Sum in units of 2^-200.
    units: int
    least: float
    most: float


class EpsilonHistogram(metrics.Meter[EpsilonsSpent]):
    """Accumulates the epsilons of texts."""

    def observe(self, batch: Batch) -> EpsilonsSpent:
        """Measure a batch."""
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
        """Combine two results."""
        return EpsilonsSpent(
            texts=one.texts + other.texts,
            steps=one.steps + other.steps,
            units=one.units + other.units,
            least=min(one.least, other.least),
            most=max(one.most, other.most),
        )

    def result(self, total: EpsilonsSpent) -> dict[str, float]:
        """Return min, median, p95 and max over texts that spent, and the total."""
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
    """The counts for some texts."""

    #: (16,) int64, number of tokens of each kind.
    tokens: NDArray[np.int64]
    #: Number of replaced words.
    words: int
    #: Number of pieces of each form.
    forms: Counter[str]
    epsilons: EpsilonsSpent
    metrics: Partials
    #: Number of texts by the language that they are read in, "" for none of the run.
    #: Those that a lexicon reads alone count as English.
    languages: Counter[str]
    #: Number of texts that are the same before and after; empty ones apart.
    unchanged_texts: int = 0
    #: Number of the other texts, empty ones apart.
    changed_texts: int = 0
    #: Number of words that a list of words leaves unchanged.
    listed: int = 0
    special: SpecialRecords = SpecialRecords()


class Meters:
    """The metrics of a run: one instance per process, built from public data."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.epsilons = EpsilonHistogram(lexicon)
        self._metrics = AllMetrics(lexicon)

    def count(self, private: Privatized, first_text: int) -> Counted:
        """Measure texts and private versions; first_text: number of earlier texts."""
        return self.observe(private.batch(first_text))._replace(
            unchanged_texts=private.unchanged,
            changed_texts=private.changed,
            special=private.special,
        )

    def observe(self, batch: Batch) -> Counted:
        """Measure a batch."""
        return Counted(
            tokens=np.bincount(batch.words.flags & kinds.KIND, minlength=kinds.COUNT),
            words=len(batch.written),
            forms=Counter(
                str(form) for form, _ in batch.words.formed.values() if is_form(form)
            ),
            languages=Counter(
                batch.words.languages or [ENGLISH] * len(batch.words.ends)
            ),
            epsilons=self.epsilons.observe(batch),
            metrics=self._metrics.observe(batch),
            listed=batch.words.listed or 0,
        )

    def merge(self, one: Counted, other: Counted) -> Counted:
        """Combine the counts of two consecutive groups of texts."""
        return Counted(
            tokens=one.tokens + other.tokens,
            words=one.words + other.words,
            forms=one.forms + other.forms,
            languages=one.languages + other.languages,
            epsilons=self.epsilons.merge(one.epsilons, other.epsilons),
            metrics=self._metrics.merge(one.metrics, other.metrics),
            unchanged_texts=one.unchanged_texts + other.unchanged_texts,
            changed_texts=one.changed_texts + other.changed_texts,
            listed=one.listed + other.listed,
            special=one.special.then(other.special),
        )

    def results(self, total: Counted) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric under its heading.

        Raises ComponentError for a figure that a report cannot represent.
        """
        return self._metrics.results(total.metrics)


@dataclass(slots=True)
class Totals:
    """The counts of a run, or of one process's part."""

    counted: Counted
    records: int = 0
    faults: int = 0
    #: Number of records left out since they are in none of the languages.
    others: int = 0
    #: Number of records with each selected field, null or not.
    fields: Counter[str] = field(default_factory=Counter)
    #: Names of copied fields, in order: all of a header or schema, else of the sample.
    copied: dict[str, None] = field(default_factory=dict)
    #: Kind of each copied field that looks identifying in the sample.
    identifying: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Tally(Totals):
    """Counts the texts and records of a run, over all of its jobs."""

    meters: Meters
    #: Number of texts of the run before these.
    before: int = 0
    seconds: float = 0.0

    @classmethod
    def begin(cls, lexicon: Lexicon, before: int = 0) -> Tally:
        """Start counting a run or the rest of one; before: number of earlier texts."""
        meters = Meters(lexicon)
        return cls(meters.observe(Batch.empty()), meters=meters, before=before)

    @property
    def texts(self) -> int:
        """Return the number of texts counted."""
        return self.counted.epsilons.texts

    @property
    def next_text(self) -> int:
        """Return the number of texts in the run so far, including earlier ones."""
        return self.before + self.texts

    @property
    def totals(self) -> Totals:
        """Return the counts, for `merge` in another process."""
        return Totals(*(getattr(self, each.name) for each in fields(Totals)))

    def merge(self, totals: Totals) -> None:
        """Add the counts of another process for the next records."""
        self.add(totals.counted)
        self.records += totals.records
        self.faults += totals.faults
        self.others += totals.others
        self.fields.update(totals.fields)
        self.copied.update(totals.copied)
        self.identifying.update(totals.identifying)

    def add(self, counted: Counted) -> None:
        """Add the counts of the next texts."""
        self.counted = self.meters.merge(self.counted, counted)

    def count(self, private: Privatized) -> None:
        """Count the next records."""
        self.add(self.meters.count(private, self.next_text))
        self.records += len(private.texts)


class Repeats:
    """Counts repeated records: those with the id and texts of an earlier record.

    Equal draws would show that such records are equal, so the draw also depends on the
    count (dptext.randomness). Digests are kept in a temporary database, which is held
    in memory up to a limit and then in an unnamed file; their key is random and
    discarded.
    """

    def __init__(self) -> None:
        import sqlite3

        self.repeated = 0
        self._error = sqlite3.Error
        self._key = os.urandom(32)
        self._data = sqlite3.connect("", isolation_level=None)
        for setting in (f"cache_size = -{_MEMORY}", "journal_mode = OFF"):
            self._data.execute(f"PRAGMA {setting}")
        self._data.execute(
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, times INTEGER) WITHOUT ROWID"
        )
        self._data.execute("BEGIN")

    def count(self, record: Record) -> int:
        """Return how many earlier records had the same id and texts.

        Raises OutputError if the disk for temporary files is full.
        """
        hashed = hashlib.blake2b(key=self._key, digest_size=16)
        for part in (record.identity or "", *record.texts):
            encoded = part.encode("utf-8", "surrogatepass")
            hashed.update(b"%d:" % len(encoded) + encoded)
        digest = hashed.digest()
        try:
            new = self._data.execute(
                "INSERT OR IGNORE INTO seen VALUES (?, 0)", (digest,)
            )
            if new.rowcount:
                return 0
            self._data.execute(
                "UPDATE seen SET times = times + 1 WHERE digest = ?", (digest,)
            )
            ((times,),) = self._data.execute(
                "SELECT times FROM seen WHERE digest = ?", (digest,)
            )
        except self._error as error:
            raise OutputError(
                f"comparing ids needs temporary space: {error}; free disk space, or "
                "set TMPDIR"
            ) from None
        self.repeated += 1
        return int(times)
