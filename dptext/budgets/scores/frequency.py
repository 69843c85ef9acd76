"""Surprisal of a word under the public unigram prior: rare words tell more.

-ln of the word's share of the lexicon's counts, in nats. An unknown word counts as
rare as the rarest of the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.types import Lexicon, Words


@dataclass(frozen=True, slots=True)
class Params:
    """Nothing to set."""


@dataclass(frozen=True, slots=True)
class State:
    """surprisal of each row, (V + 1,) float64, the last that of an unknown word."""

    surprisal: NDArray[np.float64]
    lexicon: str


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Turn counts into nats."""
    surprisal = -np.log(lexicon.prior)
    return State(np.append(surprisal, surprisal.max()), lexicon.name)


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return the surprisal of each word."""
    return np.asarray(state.surprisal[words.ids])


def describe(state: State) -> str:
    """Name the counts."""
    return f"surprisal under the word counts of the lexicon {state.lexicon}"
