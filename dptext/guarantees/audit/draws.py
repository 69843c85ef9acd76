"""How an audit draws: the program itself, by the path that a release takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.types import Eps, Ids, Points

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
    what each of so many records (or runs) writes for the words; strategy, its name.
    """

    words: DrawWords
    points: DrawPoints | None
    released: Callable[[Ids, float, int], Ids] | None = None
    strategy: str = "token"


def points_of(draw: DrawPoints, row: int, epsilon: float, count: int) -> Points:
    """Draw so many points of one word."""
    ids, eps = np.full(count, row, np.int32), np.full(count, epsilon)
    return np.concatenate([points for _, points in draw(ids, eps)])
