"""What a run counts; everything here is a function of the private text.

Each batch is measured where it is privatized, in whatever process; what comes back is
small and is added up here. Nothing that is counted depends on how texts were grouped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import metrics, registry
from dptext.engines.epsilons import EpsilonHistogram, Spent
from dptext.errors import ComponentError, UsageError
from dptext.metrics import Batch, Figure
from dptext.tokens import kinds
from dptext.types import Eps, Ids, Lexicon, Words

_NO_WORDS = Words(
    pieces=[],
    flags=np.empty(0, np.uint8),
    ends=np.empty(0, np.int64),
    positions=np.empty(0, np.int64),
    texts=np.empty(0, np.int64),
    ids=np.empty(0, np.int32),
)


class Counted(NamedTuple):
    """What is counted in some texts.

    tokens (8,) int64 by kind; words, how many were replaced; metrics, what each meter
    counts, in the order of the meters.
    """

    tokens: NDArray[np.int64]
    words: int
    epsilons: Spent
    metrics: tuple[Any, ...]


class Meters:
    """All that measures a run: one in each process, made from public data."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.epsilons = EpsilonHistogram(lexicon)
        self._metrics: dict[str, metrics.Meter[Any]] = {}
        for name in registry.names("metrics"):
            module = registry.find("metrics", name)
            if module.NAME in self._metrics:
                msg = (
                    f"metric {name!r}: another one has the heading {module.NAME!r} in "
                    "the report; remove the package that brings it"
                )
                raise UsageError(msg)
            self._metrics[module.NAME] = module.Meter(lexicon)

    def observe(self, batch: Batch) -> Counted:
        """Count a batch."""
        words = batch.words
        return Counted(
            tokens=np.bincount(words.flags & kinds.KIND, minlength=8),
            words=len(batch.drawn),
            epsilons=self.epsilons.observe(batch),
            metrics=tuple(meter.observe(batch) for meter in self._metrics.values()),
        )

    @property
    def nothing(self) -> Counted:
        """Return what is counted where there is no text."""
        return self.observe(Batch(_NO_WORDS, _NO_WORDS.ids, np.empty(0), 0))

    def merge(self, one: Counted, other: Counted) -> Counted:
        """Count the texts of both; those of one come first."""
        pairs = zip(self._metrics.values(), one.metrics, other.metrics, strict=True)
        return Counted(
            tokens=one.tokens + other.tokens,
            words=one.words + other.words,
            epsilons=self.epsilons.merge(one.epsilons, other.epsilons),
            metrics=tuple(meter.merge(mine, more) for meter, mine, more in pairs),
        )

    def results(self, total: Counted) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric by its heading.

        Raises ComponentError for what a report cannot hold.
        """
        results = {}
        for (name, meter), partial in zip(
            self._metrics.items(), total.metrics, strict=True
        ):
            results[name] = dict(meter.result(partial))
            for value in results[name].values():
                if type(value) not in (int, float, str, bool, type(None)):
                    msg = (
                        f"metric {name!r} has a figure of the type "
                        f"{type(value).__name__}, which no report can hold; report "
                        "this line to its authors"
                    )
                    raise ComponentError(msg)
        return results


@dataclass(slots=True)
class Tally:
    """Counts the texts and records of a run, which may have several jobs."""

    meters: Meters
    counted: Counted
    records: int = 0
    faults: int = 0
    seconds: float = 0.0
    # In how many records each selected field is, null or not.
    fields: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, lexicon: Lexicon) -> Tally:
        """Start all metrics of a run."""
        meters = Meters(lexicon)
        return cls(meters, meters.nothing)

    @property
    def texts(self) -> int:
        """Return how many texts were counted."""
        return self.counted.epsilons.texts

    def add(self, counted: Counted) -> None:
        """Add what was counted in the texts that come next."""
        self.counted = self.meters.merge(self.counted, counted)

    def observe(self, words: Words, drawn: Ids, eps: Eps) -> None:
        """Count the texts that come next."""
        self.add(self.meters.observe(Batch(words, drawn, eps, self.texts)))
