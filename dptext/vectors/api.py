"""Vectors for Python programs: arrays, and the report of their promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext import pipeline
from dptext.randomness import RunKey
from dptext.report import build
from dptext.report.document import Document
from dptext.types import Record, Selection
from dptext.vectors import release
from dptext.vectors.release import Release
from dptext.vectors.settings import Pool, Settings

_RECORDS = 1024
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Vectors:
    """Released vectors; values is what a program works with.

    values: of a text (m,), of several (r, m) float32; with pool="word" of a text (n,
    m), n its words, and of several a list of such.
    """

    values: Array | list[Array]
    release: Release
    key: str

    @cached_property
    def report(self) -> Document:
        """Draw up the public report, which looks at no text."""
        shape = build.layout(Selection(), {"text"})
        return build.stated_vectors(self.release, self.key, shape)


def of(
    texts: Iterable[str], settings: Settings, key: RunKey, *, alone: bool
) -> Vectors:
    """Release the vectors of texts, each a record; alone: there is one, by itself."""
    ready = release.of(settings)
    values = released(ready, texts, key)
    first = values[0] if alone else values
    return Vectors(first, ready, key.origin)


def released(ready: Release, texts: Iterable[str], key: RunKey) -> Array | list[Array]:
    """Return the vectors of texts: (r, m), or a list of (n, m) for words."""
    records = (Record(number, (text,), None) for number, text in enumerate(texts))
    randomness = ready.randomness(key)
    blocks: list[Array] = [np.empty((0, ready.dimensions), np.float32)]
    counts: list[int] = []
    for batch in pipeline.batches(records, _RECORDS):
        rows = ready.rows(batch, randomness)
        blocks.append(rows.vectors)
        within = rows.records - batch[0].ordinal
        counts += np.bincount(within, minlength=len(batch)).tolist()
    vectors = np.concatenate(blocks)
    if ready.pool is not Pool.WORD:
        return vectors
    return np.split(vectors, np.cumsum(counts)[:-1]) if counts else []
