"""The nearest word: with laplace noise this is CMP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.mappings import Index
from dptext.randomness import RandomBits
from dptext.types import Ids, Points


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters."""


def find(params: Params, index: Index, points: Points, bits: RandomBits) -> Ids:
    """Return the nearest word of each point: (n, d) -> (n,)."""
    return index.nearest(points, 1)[:, 0].astype(np.int32)
