"""LOW: the share of the 1000 least frequent original words still present.

The original words are the distinct vocabulary words of the whole input, ranked by how
often they occur in it (ties by vocabulary order, the rarer in the lexicon first).
Unknown words are ignored, since no mechanism writes them, and so are numbers. Only
words that the policy replaces count, before and after.

By chance: the same share for words that occur in no original, ten for each of the rare
words, which are those nearest to it in the vocabulary's order of public frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.tokens import numbers
from dptext.types import Ints, Lexicon

NAME = "LOW"
_RARE = 1000
_COMPARED = 10


@dataclass(frozen=True, slots=True)
class RareWordCounts:
    """Distinct words before and after, as sorted vocabulary rows."""

    #: (k,) int64, of the original words.
    rows: Ints
    #: (k,) int64, the number of times that each of them occurs.
    times: Ints
    #: (m,) int64, of the words after.
    written: Ints


class Meter(metrics.Meter[RareWordCounts]):
    """Counts vocabulary words before, and records which ones occur after."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._size = len(lexicon.words)
        self._numbers = numbers.rows(lexicon)

    def observe(self, batch: Batch) -> RareWordCounts:
        """Measure a batch."""
        # Unknown words come first.
        times = np.bincount(batch.words.ids + 1, minlength=self._size + 1)[1:]
        times[self._numbers] = 0
        rows = np.flatnonzero(times)
        written = np.bincount(batch.written + 1, minlength=self._size + 1)[1:]
        return RareWordCounts(rows, times[rows], np.flatnonzero(written))

    def merge(self, one: RareWordCounts, other: RareWordCounts) -> RareWordCounts:
        """Combine two counts."""
        times = np.zeros(self._size, np.int64)
        written = np.zeros(self._size, bool)
        for each in (one, other):
            times[each.rows] += each.times
            written[each.written] = True
        rows = np.flatnonzero(times)
        return RareWordCounts(rows, times[rows], np.flatnonzero(written))

    def result(self, total: RareWordCounts) -> Figures:
        """Return the share of the rarest words that remain, None without words."""
        rare = total.rows[::-1][np.argsort(total.times[::-1], kind="stable")[:_RARE]]
        written = np.zeros(self._size, bool)
        written[total.written] = True
        share = by_chance = None
        if len(rare):
            share = float(written[rare].mean())
        unused = np.ones(self._size, bool)
        unused[total.rows] = unused[self._numbers] = False
        others = np.flatnonzero(unused)
        if len(rare) and len(others) >= _COMPARED:
            first = np.searchsorted(others, rare) - _COMPARED // 2
            first = np.clip(first, 0, len(others) - _COMPARED)
            compared = others[first[:, None] + np.arange(_COMPARED)]
            by_chance = float(written[compared].mean())
        return {"share_present": share, "by_chance": by_chance, "words": len(rare)}
