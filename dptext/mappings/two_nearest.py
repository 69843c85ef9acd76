"""Vickrey's rule over the full vocabulary: the nearest or second nearest word.

With d1, d2 their distances to the noisy point, the nearest is taken with probability
(1 - t) d2 / (t d1 + (1 - t) d2). Both are sought in all of V, the input word included,
so this is post-processing (the published rule leaves out the input word, and is not).
Source: Xu et al. 2021, algorithm 1, arXiv:2104.11838; docs/guarantees.md, 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext import mappings
from dptext.mappings import Index
from dptext.randomness import RandomBits
from dptext.types import Ids, Points


@dataclass(frozen=True, slots=True)
class Params(mappings.Params):
    """Settings of the mapping."""

    #: 0 always takes the nearest word, 1 always the second nearest.
    t: Annotated[float, Meta(ge=0, le=1)] = 0.5

    def prepare(self, index: Index) -> TwoNearest:
        """Build the mapping for the words."""
        return TwoNearest(index.on(self.device), self.t)


@dataclass(frozen=True, slots=True)
class TwoNearest(mappings.Mapping):
    """Maps each point to one of its two nearest words at random."""

    #: The words.
    index: Index
    t: float

    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return one of each point's two nearest words."""
        pair = self.index.nearest(points, 2)
        first = self.index.chance_of_first(points, pair, self.t)
        second = bits.uniform(0)[:, 0] >= first
        return np.where(second, pair[:, -1], pair[:, 0]).astype(np.int32)
