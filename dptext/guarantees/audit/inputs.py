"""The inputs that an audit looks at, and its draws with the program itself.

Which inputs an audit looks at: words of all kinds, and those that stand out.

How an audit draws: the program itself, by the path that a release takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import Mechanism
from dptext.types import Eps, Ids, Points

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


# Words in a batch, as many as in a batch of a release.
BATCH = 2**17
DrawWords = Callable[[Ids, Eps], Ids]
# Noisy vectors, with the positions in the batch that they are of.
DrawPoints = Callable[[Ids, Eps], Iterator[tuple[NDArray[np.int64], Points]]]
# Tells people what is being done.
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Draws:
    """Public randomness for a mechanism; every call draws anew, as one batch.

    words: ids (n,), eps (n,) -> (n,) words written; points, of noise mechanisms;
    released, of a strategy that draws equal words once: ids (n,), count -> (count, n),
    what each of so many records (or runs) writes for the words; strategy, its name;
    batches, how many were drawn so far.
    """

    words: DrawWords
    points: DrawPoints | None
    released: Callable[[Ids, float, int], Ids] | None = None
    strategy: str = "token"
    batches: Callable[[], int] = lambda: 0


def points_of(draw: DrawPoints, row: int, epsilon: float, count: int) -> Points:
    """Draw so many points of one word."""
    ids, eps = np.full(count, row, np.int32), np.full(count, epsilon)
    return np.concatenate([points for _, points in draw(ids, eps)])
