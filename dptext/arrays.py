"""Numeric helpers over arrays, for mechanisms of all kinds.

Functions of epsilon at many epsilons, rows of weights and of tables, and the best
inputs of each output.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dptext.types import Eps, Floats, Ids, Ints

# Pairs that `Likeliest` collects before it chooses the best of each output again.
_WAITING = 2**22


def evaluate_each(curve: Callable[[float], float], eps: Eps) -> Floats:
    """Return the value of a function at each epsilon; equal ones are computed once."""
    values, which = np.unique(eps, return_inverse=True)
    return np.array([curve(value) for value in values.tolist()])[which]


def log_normalised(log_weights: Floats) -> Floats:
    """Normalise log weights in place so that each row's weights sum to 1: (n, V)."""
    log_weights -= log_weights.max(axis=1, keepdims=True)
    log_weights -= np.log(np.exp(log_weights).sum(axis=1, keepdims=True))
    return log_weights


def count_at_most(table: Floats, rows: Ints, targets: Floats) -> Ints:
    """Count the entries of a table row that are at most each target: (n,).

    Rows of table (m, k) are sorted in ascending order; rows (n,) selects one for each
    of the targets (n,).
    """
    counts, width = np.zeros(len(rows), np.int64), table.shape[1]
    # Most words stay unchanged: few targets reach the first entry. For the others a
    # binary search, all at once: each step tries to add a power of 2.
    reached = np.flatnonzero(table[rows, 0] <= targets)
    rows, targets = rows[reached], targets[reached]
    ends = np.ones(len(reached), np.int64)
    for power in reversed(range(width.bit_length())):
        further = np.minimum(ends + (1 << power), width)
        ends = np.where(table[rows, further - 1] <= targets, further, ends)
    counts[reached] = ends
    return counts


def draw_columns(weights: Floats, uniform: Floats) -> Ints:
    """Draw a weighted column for each row, in place: uniform (n, m), weights (n, V)."""
    # One rounding for each sum, in the order of columns.
    sums = np.cumsum(weights, axis=1, out=weights)
    # The product may be rounded up to the total, which no column exceeds.
    target = np.minimum(uniform * sums[:, -1], np.nextafter(sums[:, -1], 0.0))
    return np.asarray((sums <= target[:, None]).sum(axis=1))


class Likeliest:
    """Collects the most likely inputs for each output y, by prior(x) P(y|x)."""

    def __init__(self, size: int, count: int) -> None:
        """Prepare for `size` outputs and the `count` best inputs of each."""
        self._size, self._count = size, count
        # The worth of the last of the best of each output: less cannot be among them.
        self._least = np.full(size, -np.inf)
        none = np.empty(0)
        self._pairs = [(none.astype(np.int64), none.astype(np.int64), none, none)]
        self._waiting = 0

    def add(self, rows: Ints, prior: Floats, log_probs: Floats) -> None:
        """Add inputs with row numbers (n,), prior (n,) > 0 and log_probs (n, size)."""
        worth = log_probs + np.log(prior)[:, None]
        inputs, outputs = np.nonzero(worth > self._least)
        self.add_pairs(
            outputs, rows[inputs], worth[inputs, outputs], log_probs[inputs, outputs]
        )

    def add_pairs(
        self, outputs: Ints, rows: Ints, worth: Floats, log_probs: Floats
    ) -> None:
        """Add (output, input) pairs (m,); worth is ln prior(x) P(y|x)."""
        self._pairs.append((outputs, rows, worth, log_probs))
        self._waiting += len(outputs)
        if self._waiting >= _WAITING:
            self._choose()

    def result(self) -> tuple[Ids, Floats]:
        """Return rows (size, count) int32, best first, and their log_probs."""
        position = self._choose()
        outputs, rows, _, log_probs = self._pairs[0]
        table = np.zeros((self._size, self._count), np.int32)
        logs = np.full((self._size, self._count), -np.inf)
        table[outputs, position] = rows
        logs[outputs, position] = log_probs
        return table, logs

    def _choose(self) -> Ints:
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
