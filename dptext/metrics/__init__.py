"""Metrics: the changes that a run made to its texts, one file each.

A metric module defines `NAME`, the heading of its figures in the report, and `Meter`, a
class like the one here. Every registered metric, including those of other packages
(entry points `dptext.metrics`), measures every run that has a report, and appears in
it; there is no list of metrics. Metrics see the private text, so their figures go into
the internal report only.

A meter keeps no texts: it returns the counts of a batch, and such partial
results are added up. Batches are measured in several processes and divided
differently from run to run, but the figures have to be the same to the last digit:
count in integers, or keep values until the end, and use `math.fsum`. A figure on some
texts only selects them by number (`Batch.first_text`), below FIRST_TEXTS,
from where on numbers are not exact.

`evaluate` and `compare` use the same meters, on the texts before and after.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import registry
from dptext.errors import ComponentError, UsageError
from dptext.types import Eps, Ids, Lexicon, Words

# The first texts are counted one by one; all later ones have this number.
FIRST_TEXTS = 2**12
# The counts of some texts: small, and such that pickle can pass them on.
Partial = TypeVar("Partial")
Figure = int | float | str | None
# The figures of a metric; the first one is shown wherever there is room for one only.
Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive texts, and the n words written for replaced ones."""

    words: Words
    #: (n,) rows of the vocabulary in the texts after; -1 = unknown, never by a run.
    written: Ids
    #: (n,) str, the spelled words, with a space before them if there is one.
    spelled: NDArray[np.object_]
    #: (n,) nats; NaN where only the texts are known (`evaluate`).
    eps: Eps
    #: The number of texts before these, at most FIRST_TEXTS.
    first_text: int

    @classmethod
    def empty(cls) -> Batch:
        """Return a batch without texts."""
        ids, positions = np.empty(0, np.int32), np.empty(0, np.int64)
        flags = np.empty(0, np.uint8)
        words = Words(
            pieces=[],
            flags=flags,
            ends=positions,
            positions=positions,
            texts=positions,
            ids=ids,
        )
        return cls(
            words=words,
            written=ids,
            spelled=np.empty(0, object),
            eps=np.empty(0),
            first_text=0,
        )


class Meter(ABC, Generic[Partial]):
    """Measures batches and combines results; one instance per process."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Prepare for texts with the words of a lexicon."""

    @abstractmethod
    def observe(self, batch: Batch) -> Partial:
        """Measure a batch, which may be empty."""

    @abstractmethod
    def merge(self, one: Partial, other: Partial) -> Partial:
        """Combine the results of two consecutive groups of texts."""

    @abstractmethod
    def result(self, total: Partial) -> Figures:
        """Return the figures for all texts; None if there is nothing to measure."""


# The counts of each meter, in the order of the meters; only the meter knows the type.
Partials = tuple[object, ...]


class AllMetrics:
    """A meter for every metric; one instance per process, from public data.

    Raises UsageError if two metrics have the same heading.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._meters: dict[str, Meter[object]] = {}
        for name in registry.names("metrics"):
            module = registry.find("metrics", name)
            if module.NAME in self._meters:
                raise UsageError(
                    f"metric {name!r}: another metric already has the heading "
                    f"{module.NAME!r} in the report; remove its package"
                )
            self._meters[module.NAME] = module.Meter(lexicon)

    def observe(self, batch: Batch) -> Partials:
        """Measure a batch."""
        return tuple(meter.observe(batch) for meter in self._meters.values())

    def merge(self, one: Partials, other: Partials) -> Partials:
        """Combine the results of two consecutive groups of texts."""
        pairs = zip(self._meters.values(), one, other, strict=True)
        return tuple(meter.merge(first, second) for meter, first, second in pairs)

    def results(self, total: Partials) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric under its heading.

        Raises ComponentError for a figure of a type that reports cannot represent.
        """
        results = {}
        for (name, meter), partial in zip(self._meters.items(), total, strict=True):
            results[name] = dict(meter.result(partial))
            types = {type(value) for value in results[name].values()}
            for odd in types - {int, float, str, bool, type(None)}:
                raise ComponentError(
                    f"metric {name!r} has a figure of the type {odd.__name__}, which "
                    "reports cannot represent; report this line to its authors"
                )
        return results
