"""What is done with a batch of records, in whatever process: privatize and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dptext.engines.tally import Counted, Meters
from dptext.metrics import Batch
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.joining import Joined
from dptext.types import Eps, Ids, Record, Words


class Done(NamedTuple):
    """A finished batch: the new texts of each record, and what is counted in all."""

    texts: list[tuple[str, ...]]
    counted: Counted


class Worker:
    """Privatizes batches by one pipeline and one run key, which decide every draw."""

    def __init__(self, pipeline: Pipeline, key: RunKey, meters: Meters) -> None:
        self._pipeline = pipeline
        self._randomness = pipeline.randomness(key)
        self._meters = meters

    def __call__(self, records: Sequence[Record], first_text: int) -> Done:
        """Privatize a batch; first_text is how many texts of the run come before it."""
        counted: list[Counted] = []

        def observe(words: Words, drawn: Ids, joined: Joined, eps: Eps) -> None:
            batch = Batch(words, joined.written, joined.spelled, eps, first_text)
            counted.append(self._meters.observe(batch))

        texts = self._pipeline.privatize(records, self._randomness, observe)
        return Done(texts, *counted)
