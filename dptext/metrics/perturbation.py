"""PP: the share of words that are spelled otherwise after than before, capitals apart.

Only words that the policy replaces count. Of two known words their rows tell; of two
numbers of one element, and of two unknown words, their letters.

By chance: the share if the written words of the first 2,000 texts stood in random order
over all of them; numbers and unknown words count as changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.tokens import numbers
from dptext.types import Ids, Ints, Lexicon

NAME = "PP"
_TEXTS = 2_000


class Occurrences(NamedTuple):
    """Rows of the vocabulary, ascending, and how often each occurs: (k,) int64 both."""

    rows: Ints
    times: Ints

    @classmethod
    def of(cls, rows: Ids) -> Occurrences:
        """Count rows of the vocabulary."""
        return cls(*np.unique(rows.astype(np.int64), return_counts=True))

    def merged(self, other: Occurrences) -> Occurrences:
        """Count the words of both."""
        if not len(other.rows):  # as in all batches after the first texts
            return self
        rows, which = np.unique(
            np.concatenate((self.rows, other.rows)), return_inverse=True
        )
        times = np.zeros(len(rows), np.int64)
        np.add.at(times, which, np.concatenate((self.times, other.times)))
        return Occurrences(rows, times)


class ChangeCounts(NamedTuple):
    """How many words there are, and how many stand as they stood.

    first, how many words the first texts have; before and after count those of them
    that are one word each.
    """

    words: int
    same: int
    first: int
    before: Occurrences
    after: Occurrences


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
        texts = max(_TEXTS - batch.first_text, 0)
        end = int(np.searchsorted(batch.words.texts, texts))
        before, after = (
            Occurrences.of(rows[self._one_word[rows]])
            for rows in (ids[:end], batch.written[:end])
        )
        return ChangeCounts(len(ids), same, end, before, after)

    def merge(self, one: ChangeCounts, other: ChangeCounts) -> ChangeCounts:
        """Add up."""
        return ChangeCounts(
            one.words + other.words,
            one.same + other.same,
            one.first + other.first,
            one.before.merged(other.before),
            one.after.merged(other.after),
        )

    def result(self, total: ChangeCounts) -> Figures:
        """Return the share of changed words, None without words."""
        share = by_chance = None
        if total.words:
            share = 1.0 - total.same / total.words
        if total.first:
            before, after = total.before, total.after
            _, one, other = np.intersect1d(
                before.rows, after.rows, assume_unique=True, return_indices=True
            )
            same = sum(
                times * later
                for times, later in zip(
                    before.times[one].tolist(), after.times[other].tolist(), strict=True
                )
            )
            by_chance = 1.0 - float(same) / float(total.first) ** 2
        return {"share_changed": share, "by_chance": by_chance, "words": total.words}


def _letters(piece: str) -> str:
    return piece.strip(" ").lower()
