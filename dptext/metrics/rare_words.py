"""LOW: of the 1000 least frequent original words, the share still present.

The original words are the distinct vocabulary words of the whole input, by how often
they occur in it (ties by vocabulary order, the rarer in the lexicon first). Unknown
words are left out, since no mechanism writes them, and so are numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dptext.tokens import numbers
from dptext.types import Ids, Lexicon, Words

NAME = "LOW"
_RARE = 1000


class Meter:
    """Count each vocabulary word before and after."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._before = np.zeros(len(lexicon.words), np.int64)
        self._after = np.zeros(len(lexicon.words), np.int64)
        self._numbers = numbers.rows(lexicon)

    def add(self, words: Words, drawn: Ids) -> None:
        """Take in a batch."""
        size = len(self._before)
        self._before += np.bincount(words.ids[words.ids >= 0], minlength=size)
        self._after += np.bincount(drawn, minlength=size)

    def result(self) -> dict[str, Any]:
        """Return the share of the rarest words that remain, null without words."""
        self._before[self._numbers] = 0
        seen = np.flatnonzero(self._before)[::-1]
        rare = seen[np.argsort(self._before[seen], kind="stable")][:_RARE]
        share = float((self._after[rare] > 0).mean()) if len(rare) else None
        return {"share_present": share, "words": len(rare)}
