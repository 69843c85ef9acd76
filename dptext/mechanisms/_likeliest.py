"""The likeliest inputs of each output, kept while pairs of them come in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext.types import Eps, Ids

# Pairs that wait before the best of each output are chosen again.
_WAITING = 2**22


def by_rows(
    log_probs: Callable[[Ids, Eps], NDArray[np.float64]],
    prior: NDArray[np.float64],
    eps: Eps,
    count: int,
) -> tuple[Ids, NDArray[np.float64]]:
    """Return what `Mechanism.likeliest_inputs` says, from rows of ln P(y|x)."""
    size = len(prior) - 1
    likeliest = Likeliest(size, min(count, len(prior)))
    block = max(1, 2**20 // size)
    for start in range(0, len(prior), block):
        rows = np.arange(start, min(start + block, len(prior)))
        rows = rows[prior[rows] > 0.0]
        ids = np.where(rows < size, rows, -1).astype(np.int32)
        likeliest.add(rows, prior[rows], log_probs(ids, eps[rows]))
    return likeliest.result()


class Likeliest:
    """The count inputs of largest prior(x) P(y|x) of each output y below size."""

    def __init__(self, size: int, count: int) -> None:
        self._size, self._count = size, count
        self._least = np.full(size, -np.inf)
        none = np.empty(0)
        self._pairs = [(none.astype(np.int64), none.astype(np.int64), none, none)]
        self._waiting = 0

    def add(
        self,
        rows: NDArray[np.int64],
        prior: NDArray[np.float64],
        log_probs: NDArray[np.float64],
    ) -> None:
        """Take in inputs: rows (n,), prior (n,) > 0, log_probs (n, size)."""
        worth = log_probs + np.log(prior)[:, None]
        inputs, outputs = np.nonzero(worth > self._least)
        self.add_pairs(
            outputs, rows[inputs], worth[inputs, outputs], log_probs[inputs, outputs]
        )

    def add_pairs(
        self,
        outputs: NDArray[np.int64],
        rows: NDArray[np.int64],
        worth: NDArray[np.float64],
        log_probs: NDArray[np.float64],
    ) -> None:
        """Take in pairs (m,) of output and input, worth ln prior(x) P(y|x)."""
        self._pairs.append((outputs, rows, worth, log_probs))
        self._waiting += len(outputs)
        if self._waiting >= _WAITING:
            self._choose()

    def result(self) -> tuple[Ids, NDArray[np.float64]]:
        """Return rows (size, count) int32 by falling worth, and their log_probs."""
        position = self._choose()
        outputs, rows, _, log_probs = self._pairs[0]
        table = np.zeros((self._size, self._count), np.int32)
        logs = np.full((self._size, self._count), -np.inf)
        table[outputs, position] = rows
        logs[outputs, position] = log_probs
        return table, logs

    def _choose(self) -> NDArray[np.int64]:
        """Keep the best pairs of each output; return the position of each, best 0."""
        parts = zip(*self._pairs, strict=True)
        outputs, rows, worth, log_probs = (np.concatenate(part) for part in parts)
        order = np.lexsort((rows, -worth, outputs))
        ordered = outputs[order]
        position = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        best = position < self._count
        order, position = order[best], position[best]
        kept = (outputs[order], rows[order], worth[order], log_probs[order])
        last = position == self._count - 1
        self._least[kept[0][last]] = kept[2][last]
        self._pairs, self._waiting = [kept], 0
        return position
