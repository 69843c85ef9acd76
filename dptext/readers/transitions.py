"""Gains of pairs by one look-up: a table over the likeliest words of an n-gram model.

Pairs with a word outside of the table count as not seen. The table takes SLOTS^2 bytes
of memory, of which the machine needs those parts that are looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.readers import ngrams
from dptext.readers.ngrams import Ngrams

# Words with a row in the table, and one row for all others.
SLOTS = 8192


class Gains:
    """g(x, x') of rows of a model, to a power."""

    def __init__(self, model: Ngrams, power: float = 1.0, slots: int = SLOTS) -> None:
        rows = model.size + 2
        likely = np.argsort(-model.alone[: model.size], kind="stable")[: slots - 3]
        listed = np.append(likely, [model.size, model.size + 1])
        self.slot_of = np.zeros(rows, np.int64)
        self.slot_of[listed] = np.arange(1, len(listed) + 1)
        self._width = len(listed) + 1
        first, second = self.slot_of[model.contexts], self.slot_of[model.following]
        inside = np.flatnonzero((first > 0) & (second > 0))
        table = np.zeros(self._width**2, np.int8)
        gains = model.gains[inside]
        if power != 1.0:
            codes = np.arange(-128, 128).astype(np.int8)
            powers = ngrams.coded(power * np.log(ngrams.decoded(codes)))
            gains = powers[gains.astype(np.int64) + 128]
        table[first[inside] * self._width + second[inside]] = gains
        self._table = table

    def of(
        self, contexts: NDArray[np.int64], following: NDArray[np.int64]
    ) -> NDArray[np.int8]:
        """Return the codes of the gains of pairs of slots, arrays that broadcast."""
        at = contexts * self._width + following
        # Slots are never outside: what mode says is only the quickest way.
        return self._table.take(at, mode="wrap")
