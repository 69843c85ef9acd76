"""Maps to the nearest word: with laplace noise this is CMP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext import mappings
from dptext.mappings import Index
from dptext.randomness import RandomBits
from dptext.types import Ids, Points


@dataclass(frozen=True, slots=True)
class Params(mappings.Params):
    """Settings of the mapping, without any additional ones."""

    def prepare(self, index: Index) -> NearestWord:
        """Build the mapping for the words."""
        return NearestWord(index.on(self.device))


@dataclass(frozen=True, slots=True)
class NearestWord(mappings.Mapping):
    """Maps each point to its nearest word."""

    #: The words.
    index: Index

    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return the nearest word of each point."""
        return self.index.nearest(points, 1)[:, 0].astype(np.int32)
