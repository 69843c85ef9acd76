"""Vickrey's rule over the full vocabulary: the nearest word or the second nearest.

With d1, d2 their distances to the noisy point, the nearest is taken with probability
(1 - t) d2 / (t d1 + (1 - t) d2). Both are sought in all of V, the input word included,
so this is post-processing (the published rule leaves the input word out and is not).
Source: Xu et al. 2021, algorithm 1, arXiv:2104.11838; docs/guarantees.md, 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.mappings import Index
from dptext.randomness import RandomBits
from dptext.types import Ids, Points

# Above the lanes of any noise mechanism, below those of the joiner.
_LANE = 1 << 29


@dataclass(frozen=True, slots=True)
class Params:
    """t: 0 takes the nearest always, 1 the second nearest always."""

    t: Annotated[float, Meta(ge=0, le=1)] = 0.5


def find(params: Params, index: Index, points: Points, bits: RandomBits) -> Ids:
    """Return one of the two nearest words of each point: (n, d) -> (n,)."""
    pair = index.nearest(points, 2)
    far = (1.0 - params.t) * index.distances(points, pair[:, -1])
    both = params.t * index.distances(points, pair[:, 0]) + far
    first = np.divide(far, both, out=np.ones_like(far), where=both > 0)
    second = bits.uniform(_LANE)[:, 0] >= first
    chosen = np.where(second, pair[:, -1], pair[:, 0])
    return chosen.astype(np.int32)
