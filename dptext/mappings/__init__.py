"""Mappings: from a noisy vector to a word, one file each.

A file holds `Params`, a frozen dataclass and subclass of `mappings.Params`: the
settings in a profile. Their `prepare` returns a `Mapping`. It sees noisy points and
public vectors only, never the input word: post-processing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from dptext.mappings._index import Index as Index
from dptext.randomness import RandomBits
from dptext.settings import Prepared
from dptext.types import Ids, Points


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a mapping.

    device: where words are sought, by torch's name; cpu is numpy. It changes no word.
    """

    device: str = field(default="cpu", kw_only=True)

    @abstractmethod
    def prepare(self, index: Index) -> Mapping:
        """Make the mapping ready for the words of an index."""


class Mapping(Prepared, ABC):
    """A mapping made ready."""

    __slots__ = ()

    @abstractmethod
    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return the word of each point: (n, d) -> (n,) int32."""
