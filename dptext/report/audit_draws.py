"""Public draws of a pipeline for audits, by the path that a release takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.findings import BATCH, AuditDraws
from dptext.mechanisms import NoiseMechanism
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.types import Eps, Ids, Points, Record, Strategy


def of(pipeline: Pipeline) -> AuditDraws:
    """Return draws by public randomness: every call another record, or run."""
    randomness = pipeline.randomness(RunKey.from_seed(0))
    numbers, batches = count(), 0

    def nonce(randomness: Randomness) -> bytes:
        return randomness.nonce(Record(next(numbers), (), None))

    def begin() -> None:
        nonlocal batches
        batches += 1

    def words(ids: Ids, eps: Eps) -> Ids:
        bits = randomness.of([nonce(randomness)], np.zeros(len(ids), np.int64))
        begin()
        return pipeline.draw(ids, eps, bits)

    def points(ids: Ids, eps: Eps) -> Iterator[tuple[NDArray[np.int64], Points]]:
        bits = randomness.of([nonce(randomness)], np.zeros(len(ids), np.int64))
        begin()
        return pipeline.points(ids, eps, bits)

    def released(ids: Ids, epsilon: float, times: int) -> Ids:
        if pipeline.profile.strategy is Strategy.DATA_SET:
            runs = (RunKey.from_seed(next(numbers)) for _ in range(times))
            streams = [pipeline.randomness(key) for key in runs]
            return np.stack([_records(each, ids, epsilon, 1)[0] for each in streams])
        step = max(1, BATCH // (2 * len(ids)))
        parts = [min(step, times - begin) for begin in range(0, times, step)]
        return np.concatenate(
            [_records(randomness, ids, epsilon, part) for part in parts]
        )

    def _records(stream: Randomness, ids: Ids, epsilon: float, times: int) -> Ids:
        """Draw for records that hold each word twice; return its second outputs."""
        texts = np.tile(np.tile(ids, 2), times)
        records = np.repeat(np.arange(times), 2 * len(ids))
        bits = stream.of([nonce(stream) for _ in range(times)], records)
        eps = np.full(len(texts), float(epsilon))
        begin()
        drawn = pipeline.replace(texts, eps, bits, records, stream)
        return drawn.reshape(times, 2, len(ids))[:, 1]

    noisy = isinstance(pipeline.mechanism, NoiseMechanism)
    strategy = pipeline.profile.strategy
    return AuditDraws(
        words,
        points if noisy else None,
        None if strategy is Strategy.TOKEN or noisy else released,
        strategy,
        lambda: batches,
    )
