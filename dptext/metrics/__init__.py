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
texts only goes by their number in the run (`Batch.first_text`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from dptext.types import Eps, Ids, Lexicon, Words

# What a meter counts in some texts: small, and such that pickle can pass it on.
Partial = TypeVar("Partial")
Figure = int | float | str | None
# The figures of a metric; the first one is shown wherever there is room for one only.
Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts of a run, one after the other, and what was drawn for their words.

    drawn (n,) rows of the vocabulary, and eps (n,) nats, for the n words that were
    replaced; first_text is how many texts of the run come before these.
    """

    words: Words
    drawn: Ids
    eps: Eps
    first_text: int


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
