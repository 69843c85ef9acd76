"""Strategies: how often a word is drawn.

token: every word of a text anew. record: once for each distinct word of a record.
data-set: once for each distinct word of a run, in whatever order the records come; the
table holds one word for each row of the vocabulary, so that memory is bounded. The last
two show which words are equal, and the statement says so. All words outside the
vocabulary are one word, and so are all numbers of one element of it; a drawn element
for numbers is written as a number of its own wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits, Randomness
from dptext.types import Eps, Ids, Record

Draw = Callable[[Ids, Eps, RandomBits], Ids]
# No record has this ordinal: the nonce of what is drawn once for a whole run.
_RUN = Record(-2, (), None)


def by_record(
    ids: Ids, eps: Eps, bits: RandomBits, records: NDArray[np.int64], draw: Draw
) -> Ids:
    """Draw each distinct word of a record once, by the random bits of its first.

    records (n,) which record each word belongs to, non-decreasing.
    """
    # Unknown words are -1: one more than there are rows to tell records apart.
    pairs = records * (int(ids.max(initial=0)) + 2) + ids + 1
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first)
    positions = first[order]
    drawn = np.empty(len(first), np.int32)
    drawn[order] = draw(ids[positions], eps[positions], bits.take(positions))
    return drawn[which]


class Table:
    """What each word of the vocabulary becomes in one run; drawn when first met."""

    def __init__(self, size: int, randomness: Randomness) -> None:
        nonce = randomness.nonce(_RUN)
        # One row for each word and the last for unknown words, reached as -1.
        self._bits = randomness.of([nonce], np.zeros(size + 1, np.int64))
        self._drawn = np.full(size + 1, -1, np.int32)

    def draw(self, ids: Ids, eps: Eps, draw: Draw) -> Ids:
        """Return what ids become; the draw of a word depends on nothing but its row."""
        rows = np.where(ids < 0, len(self._drawn) - 1, ids).astype(np.int64)
        new, first = np.unique(rows, return_index=True)
        missing = self._drawn[new] < 0
        new, first = new[missing], first[missing]
        if len(new):
            bits = self._bits.take(new)
            self._drawn[new] = draw(ids[first], eps[first], bits)
        return self._drawn[rows]
