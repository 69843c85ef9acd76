"""PP: the share of words for which another word was drawn.

Only words that the mechanism replaced count; an unknown word or a number always counts
as changed, since its own form is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dptext.types import NUMBER, Ids, Lexicon, Words

NAME = "PP"


class Meter:
    """Count words and changes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._number = lexicon.words.index(NUMBER)
        self._words = 0
        self._same = 0

    def add(self, words: Words, drawn: Ids) -> None:
        """Take in a batch."""
        self._words += len(drawn)
        same = (drawn == words.ids) & (drawn != self._number)
        self._same += int(np.count_nonzero(same))

    def result(self) -> dict[str, Any]:
        """Return the share of changed words, null without words."""
        share = 1.0 - self._same / self._words if self._words else None
        return {"share_changed": share, "words": self._words}
