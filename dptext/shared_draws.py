"""Draws shared by equal words: none, within a record, or within a run.

- token: each occurrence of a word is drawn.
- record: each distinct word of a record is drawn once.
- data-set: each distinct word of a run is drawn once, in any order of records, in a
  table with one row per word of the vocabulary.

The last two reveal which words are equal, as the statement says. All words outside
the vocabulary count as one word, and so do all numbers of one element; a drawn element
becomes a new number at each place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dptext.randomness import RandomBits, Randomness
from dptext.types import Eps, Ids, Ints

Draw = Callable[[Ids, Eps, RandomBits], Ids]


def draw_by_record(
    ids: Ids, eps: Eps, bits: RandomBits, records: Ints, draw: Draw
) -> Ids:
    """Draw each distinct word of a record once, with its first occurrence's bits.

    The arrays ids, eps and records, non-decreasing, are (n,), with one row of bits for
    each word. Returns the drawn words (n,).
    """
    # Word and record in one number. Unknown words are -1, so ids are shifted by 1.
    pairs = records * (int(ids.max(initial=0)) + 2) + ids + 1
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first)
    positions = first[order]
    drawn = np.empty(len(first), np.int32)
    drawn[order] = draw(ids[positions], eps[positions], bits.take(positions))
    return drawn[which]


class RunTable:
    """A run's draws for each vocabulary word, made on demand."""

    def __init__(self, size: int, randomness: Randomness) -> None:
        nonce = randomness.run_nonce
        # One row for each word, and the last, -1, for unknown words.
        self._bits = randomness.bits([nonce], np.zeros(size + 1, np.int64))
        self._drawn = np.full(size + 1, -1, np.int32)

    def draw(self, ids: Ids, eps: Eps, draw: Draw) -> Ids:
        """Return the drawn words for ids; a draw depends only on the word's row."""
        rows = np.where(ids < 0, len(self._drawn) - 1, ids).astype(np.int64)
        new, first = np.unique(rows, return_index=True)
        missing = self._drawn[new] < 0
        new, first = new[missing], first[missing]
        if len(new):
            self._drawn[new] = draw(ids[first], eps[first], self._bits.take(new))
        return self._drawn[rows]
