"""PP: the share of words for which another word was drawn.

Only words that the mechanism replaced count; an unknown word always counts as changed,
and so does a number, unless an element for this very number was drawn ("7").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dptext import metrics
from dptext.metrics import Batch, Figures
from dptext.tokens import numbers
from dptext.types import Lexicon

NAME = "PP"


class Counts(NamedTuple):
    """How many words there are, and for how many the same word was drawn."""

    words: int
    same: int


class Meter(metrics.Meter[Counts]):
    """Count words and changes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._numbers = numbers.Numbers(lexicon)

    def observe(self, batch: Batch) -> Counts:
        """Count the words of a batch."""
        same = batch.drawn == batch.words.ids
        same[self._numbers.vague(batch.drawn)] = False
        return Counts(len(same), int(np.count_nonzero(same)))

    def merge(self, one: Counts, other: Counts) -> Counts:
        """Add up."""
        return Counts(one.words + other.words, one.same + other.same)

    def result(self, total: Counts) -> Figures:
        """Return the share of changed words, None without words."""
        share = 1.0 - total.same / total.words if total.words else None
        return {"share_changed": share, "words": total.words}
