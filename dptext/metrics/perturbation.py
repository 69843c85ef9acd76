"""PP: the share of words for which another word was drawn.

Only words that the mechanism replaced count; an unknown word always counts as changed,
and so does a number, unless an element for this very number was drawn ("7").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dptext.tokens import numbers
from dptext.types import Ids, Lexicon, Words

NAME = "PP"


class Meter:
    """Count words and changes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._numbers = numbers.Numbers(lexicon)
        self._words = 0
        self._same = 0

    def add(self, words: Words, drawn: Ids) -> None:
        """Take in a batch."""
        self._words += len(drawn)
        same = drawn == words.ids
        same[self._numbers.vague(drawn)] = False
        self._same += int(np.count_nonzero(same))

    def result(self) -> dict[str, Any]:
        """Return the share of changed words, null without words."""
        share = 1.0 - self._same / self._words if self._words else None
        return {"share_changed": share, "words": self._words}
