"""PP: the share of words that are spelled otherwise after than before, capitals apart.

Only words that the policy replaces count. Of two known words their rows tell; of two
numbers of one element, and of two unknown words, their letters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.tokens import numbers
from dptext.types import Lexicon

NAME = "PP"


class ChangeCounts(NamedTuple):
    """How many words there are, and how many stand as they stood."""

    words: int
    same: int


class Meter(metrics.Meter[ChangeCounts]):
    """Count words and changes."""

    def __init__(self, lexicon: Lexicon) -> None:
        # By row; the last one stands for every unknown word.
        self._one_word = np.append(np.ones(len(lexicon.words), bool), False)
        self._one_word[numbers.rows(lexicon)] = False

    def observe(self, batch: Batch) -> ChangeCounts:
        """Count the words of a batch."""
        ids, positions = batch.words.ids, batch.words.positions
        equal = np.flatnonzero(batch.written == ids)
        by_row = self._one_word[ids[equal]]
        same = int(np.count_nonzero(by_row))
        for index in equal[~by_row].tolist():
            before = batch.words.pieces[positions[index]]
            same += _letters(before) == _letters(batch.spelled[index])
        return ChangeCounts(len(ids), same)

    def merge(self, one: ChangeCounts, other: ChangeCounts) -> ChangeCounts:
        """Add up."""
        return ChangeCounts(one.words + other.words, one.same + other.same)

    def result(self, total: ChangeCounts) -> Figures:
        """Return the share of changed words, None without words."""
        share = 1.0 - total.same / total.words if total.words else None
        return {"share_changed": share, "words": total.words}


def _letters(piece: str) -> str:
    return piece.strip(" ").lower()
