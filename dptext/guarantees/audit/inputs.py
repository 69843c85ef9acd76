"""Which inputs an audit looks at: words of all kinds, and those that stand out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import Mechanism
from dptext.types import Ids

_SEED = 1


def all_inputs(mechanism: Mechanism) -> Ids:
    """Return all words and, last, the unknown word: (V + 1,)."""
    return np.append(np.arange(mechanism.space.size), -1).astype(np.int32)


def chosen(mechanism: Mechanism, count: int) -> Ids:
    """Choose inputs: the unknown word, frequent, random, rare and near words."""
    size = mechanism.space.size
    if size + 1 <= count:
        return all_inputs(mechanism)
    rng = np.random.default_rng(_SEED)
    quarter = count // 4
    picked = [-1, *range(quarter), *rng.choice(size, quarter, replace=False).tolist()]
    near = mechanism.space.lexicon.orders[np.array(picked[: 2 * quarter]), 1]
    last = size - 1 - np.arange(count - 3 * quarter - 1)
    rows = np.concatenate((picked, near.astype(np.int64), last))
    return np.unique(rows).astype(np.int32)


def shuffled(
    count: int, times: int, batch: int, rng: np.random.Generator
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the positions of all inputs so many times, in batches: (turn, (m,))."""
    for turn in range(times):
        order = rng.permutation(count)
        for begin in range(0, count, batch):
            yield turn, order[begin : begin + batch]
