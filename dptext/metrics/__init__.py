"""Metrics: what a run did to its texts, one file each.

A metric module holds `NAME`, the heading of its figures in the report, and `Meter`, a
class like the one here. Every metric that the registry knows, those of other packages
among them (entry points `dptext.metrics`), measures every run that has a report, and
stands in it; there is no list of them. Metrics see the private text, so their figures
go into the internal report only.

A meter keeps nothing of the texts: what it counts in a batch it returns, and such
partial results are added up. Batches are measured in several processes and divided
differently from run to run, but the figures have to be the same to the last digit:
count in integers, or keep values until the end, and use `math.fsum`. A figure of some
texts only goes by their number (`Batch.first_text`), and looks at none from FIRST_TEXTS
on, where numbers are not exact.

`evaluate` and `compare` measure by the same meters, from the texts before and after.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext.types import Eps, Ids, Lexicon, Words

# So many texts are counted one by one; of later ones it is known that they are later.
FIRST_TEXTS = 2**12
# What a meter counts in some texts: small, and such that pickle can pass it on.
Partial = TypeVar("Partial")
Figure = int | float | str | None
# The figures of a metric; the first one is shown wherever there is room for one only.
Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts, one after the other, and what is written for their words.

    Of the n words that were replaced: written (n,) rows of the vocabulary as they stand
    in the texts after, -1 for a word that is none of it (which no run writes); spelled
    (n,) str, each as it is written, perhaps with a space in front; eps (n,) nats, NaN
    where only the texts are known (`evaluate`). first_text is how many texts come
    before these, or FIRST_TEXTS where they are as many or more.
    """

    words: Words
    written: Ids
    spelled: NDArray[np.object_]
    eps: Eps
    first_text: int

    @classmethod
    def empty(cls) -> Batch:
        """Return a batch without texts."""
        ids, positions = np.empty(0, np.int32), np.empty(0, np.int64)
        flags = np.empty(0, np.uint8)
        words = Words([], flags, positions, positions, positions, ids)
        return cls(words, ids, np.empty(0, object), np.empty(0), 0)


class Meter(ABC, Generic[Partial]):
    """Measures batches and adds up; made once in each process, from public data."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Get ready for texts in the words of a lexicon."""

    @abstractmethod
    def observe(self, batch: Batch) -> Partial:
        """Count a batch, which may be empty."""

    @abstractmethod
    def merge(self, one: Partial, other: Partial) -> Partial:
        """Count the texts of both; those of one come first."""

    @abstractmethod
    def result(self, total: Partial) -> Figures:
        """Return the figures of all texts; None where there is nothing to measure."""
