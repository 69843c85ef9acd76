"""The nearest word: with laplace noise this is CMP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext import mappings
from dptext.mappings import Index
from dptext.randomness import RandomBits
from dptext.types import Ids, Points


@dataclass(frozen=True, slots=True)
class Params(mappings.Params):
    """Settings of the mapping: the common ones alone."""

    def prepare(self, index: Index) -> NearestWord:
        """Take the words."""
        return NearestWord(index.on(self.device))


@dataclass(frozen=True, slots=True)
class NearestWord(mappings.Mapping):
    """The mapping."""

    #: The words.
    index: Index

    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return the nearest word of each point."""
        return self.index.nearest(points, 1)[:, 0].astype(np.int32)
