"""Known words: of the words of texts, the share that the lexicon holds.

Numbers and identifiers are no words here.
"""

from __future__ import annotations

import numpy as np

from dptext.tokens import kinds
from dptext.types import Words

_WORDS = (kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN)


class KnownWords:
    """Count words, and those in the lexicon."""

    def __init__(self) -> None:
        self._known = self._words = 0

    def add(self, words: Words) -> None:
        """Take in a batch."""
        counted = np.isin(words.flags[words.positions] & kinds.KIND, _WORDS)
        self._words += int(np.count_nonzero(counted))
        self._known += int(np.count_nonzero(words.ids[counted] >= 0))

    def result(self) -> float | None:
        """Return the share, null without words."""
        return self._known / self._words if self._words else None
