"""Budgets: how epsilon is spread over the words of a text, one file each.

A budget module holds
- `Params`, a frozen dataclass: the schema of its settings in a profile;
- `EXAMPLE`, settings as a profile gives them, for help and tests;
- `prepare(params, lexicon) -> state`, public work done once; without it the parameters
  are the state;
- `describe(state) -> BudgetDescription`, all that a statement must know;
- `spread(state, words, noise) -> (n,) float64 > 0`, the epsilon of each word, or
  `release(state, words, noise, draw) -> (ids, eps)` where an epsilon looks at what was
  drawn before: draw(places, eps) draws the words at these places, (m,) int64.

Where its settings name files, it also holds `content(state)`, their digests by setting
(dptext.content).

A budget's own random bits come from lane BUDGET_LANE upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, Eps, Ids, Lexicon, Words

# Far above the lanes of any mechanism or mapping, below those of the joiner.
BUDGET_LANE = 1 << 28
Draw = Callable[[NDArray[np.int64], Eps], Ids]


class Budget(Protocol):
    """What every file in this folder defines."""

    Params: type
    EXAMPLE: Mapping[str, Any]

    def describe(self, state: Any) -> BudgetDescription:
        """Say how epsilon is spent."""

    def spread(self, state: Any, words: Words, bits: RandomBits) -> Eps:
        """Return the epsilon of each word."""


def prepare(module: Any, params: Any, lexicon: Lexicon) -> Any:
    """Do a budget's public work."""
    made = getattr(module, "prepare", None)
    return made(params, lexicon) if made else params


def positions_in_text(words: Words) -> NDArray[np.int64]:
    """Return the place of each word among the replaced words of its text, from 0."""
    first = np.searchsorted(words.texts, words.texts, side="left")
    return np.arange(len(words.texts)) - first
