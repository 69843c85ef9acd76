"""Scores: how much a word tells in its text, one file each; more is more to protect.

A score module holds
- `Params`, a frozen dataclass: the schema of its settings in a profile;
- `prepare(params, lexicon) -> state`, public and quick: it finds models and data or
  raises UsageError with the command that fetches them, but loads no model;
- `score(state, words) -> (n,) float64 >= 0`, one value for each of words.places, which
  follows from the word's own text and public data alone: no other text of the batch and
  no batch size has a part in it;
- `describe(state) -> str`, what it rests on, for reports;
- `content(state)`, where it reads models or data: their digests (dptext.content);
- `MULTIPLIES = True` where it is a factor on the mean of the others (1: no change).

Another package adds one by the entry point group `dptext.scores`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.types import Lexicon, Words


class Score(Protocol):
    """What every file in this folder defines."""

    Params: type

    def prepare(self, params: Any, lexicon: Lexicon) -> Any:
        """Find what is needed."""

    def score(self, state: Any, words: Words) -> NDArray[np.float64]:
        """Return the score of each word."""

    def describe(self, state: Any) -> str:
        """Say what the score rests on."""
