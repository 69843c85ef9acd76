"""PP: the share of words whose spelling changed, ignoring case.

Only words that the policy replaces count. Two known words are compared by row; two
numbers of one element, and two unknown words, by spelling.

By chance: the share if the written words of the first 2,000 texts were shuffled
across them; numbers and unknown words count as changed.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.tokens import numbers
from dptext.types import Lexicon

NAME = "PP"
_TEXTS = 2_000


class ChangeCounts(NamedTuple):
    """Counts of all words and of unchanged words."""

    words: int
    #: Unchanged words.
    same: int
    #: Words of the first texts.
    first: int
    #: Of these, known words before, by rows of the vocabulary.
    before: Counter[int]
    #: Of these, known words after.
    after: Counter[int]


class Meter(metrics.Meter[ChangeCounts]):
    """Counts words and changed words."""

    def __init__(self, lexicon: Lexicon) -> None:
        # By row; the last one stands for every unknown word.
        self._one_word = np.append(np.ones(len(lexicon.words), bool), False)
        self._one_word[numbers.rows(lexicon)] = False

    def observe(self, batch: Batch) -> ChangeCounts:
        """Measure a batch."""
        ids, positions = batch.words.ids, batch.words.positions
        equal = np.flatnonzero(batch.written == ids)
        by_row = self._one_word[ids[equal]]
        same = int(np.count_nonzero(by_row))
        for index in equal[~by_row].tolist():
            before = batch.words.pieces[positions[index]]
            same += _letters(before) == _letters(batch.spelled[index])
        texts = max(_TEXTS - batch.first_text, 0)
        end = int(np.searchsorted(batch.words.texts, texts))
        before, after = (
            Counter(rows[self._one_word[rows]].tolist())
            for rows in (ids[:end], batch.written[:end])
        )
        return ChangeCounts(
            words=len(ids), same=same, first=end, before=before, after=after
        )

    def merge(self, one: ChangeCounts, other: ChangeCounts) -> ChangeCounts:
        """Combine two counts."""
        words, same = one.words + other.words, one.same + other.same
        if not other.first:  # as in all batches after the first texts
            return one._replace(words=words, same=same)
        before, after = one.before + other.before, one.after + other.after
        first = one.first + other.first
        return ChangeCounts(
            words=words, same=same, first=first, before=before, after=after
        )

    def result(self, total: ChangeCounts) -> Figures:
        """Return the share of changed words, None if there are no words."""
        share = by_chance = None
        if total.words:
            share = 1.0 - total.same / total.words
        if total.first:
            same = sum(n * total.after[row] for row, n in total.before.items())
            by_chance = 1.0 - float(same) / float(total.first) ** 2
        return {"share_changed": share, "by_chance": by_chance, "words": total.words}


def _letters(piece: str) -> str:
    return piece.strip(" ").lower()
