"""What is done with a batch of records, in whatever process: privatize and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dptext.engines.tally import Counted, Meters
from dptext.metrics import Batch
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.joining import Joined
from dptext.types import Eps, Ids, Record, Words


class Done(NamedTuple):
    """A finished batch: the new texts of each record, and what is counted in all.

    replaced says how many words of each text were replaced.
    """

    texts: list[tuple[str, ...]]
    counted: Counted
    replaced: list[int]


class Worker:
    """Privatizes batches by one pipeline and one run key, which decide every draw."""

    def __init__(self, pipeline: Pipeline, key: RunKey, meters: Meters) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._meters = meters

    def __call__(self, records: Sequence[Record], first_text: int) -> Done:
        """Privatize a batch; first_text is how many texts of the run come before it."""
        counted: list[Counted] = []
        replaced: list[int] = []

        def observe(words: Words, drawn: Ids, joined: Joined, eps: Eps) -> None:
            batch = Batch(words, joined.written, joined.spelled, eps, first_text)
            counted.append(self._meters.observe(batch))
            counts = np.bincount(words.texts, minlength=len(words.ends))
            replaced.extend(counts.tolist())

        texts = self._pipeline.privatize(records, self._randomness, observe)
        return Done(texts, counted[0], replaced)
