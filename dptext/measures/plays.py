"""Plays of a guessing game: words and noise that are public, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.types import Ids

Bands = Sequence[tuple[int, int]]
# Words by descending frequency: the 100 most frequent, the next 900, the rest.
_EDGES = (100, 1000)


@dataclass(frozen=True, slots=True)
class Plays:
    """Words drawn from the prior, (n,), and the bits for their noise."""

    ids: Ids
    bits: RandomBits

    def take(self, positions: NDArray[np.int64]) -> Plays:
        """Return some of the plays, with the same bits."""
        return Plays(self.ids[positions], self.bits.take(positions))


def plays(prior: NDArray[np.float64], count: int, name: str) -> Plays:
    """Draw words from the prior by public randomness; each name is another sample."""
    alone = np.zeros(count, np.int64)

    def public_bits(purpose: str) -> RandomBits:
        public = Randomness(RunKey.from_seed(0), f"ruler/{name}/{purpose}")
        return public.of([bytes(16)], alone)

    steps = np.cumsum(prior)
    target = public_bits("words").uniform(0)[:, 0] * steps[-1]
    ids = np.searchsorted(steps, target, side="right")
    last = np.flatnonzero(prior)[-1]
    return Plays(np.minimum(ids, last).astype(np.int32), public_bits("noise"))


def bands_of(size: int) -> list[tuple[int, int]]:
    """Return begin and end of each frequency band that a vocabulary of V words has."""
    edges = [0, *(edge for edge in _EDGES if edge < size), size]
    return list(pairwise(edges))
