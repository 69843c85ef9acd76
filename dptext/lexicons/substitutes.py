"""Words as substitutes: cosine less hubness and frequency, and orders from it.

Orders by cosine, of the most frequent words: which of them stand best for each word.

How well y stands for x: their cosine, less how near y is to everybody (hubness; Dinu,
Lazaridou and Baroni 2015, arXiv:1412.6568), less what y is rarer than x. Nothing but
vectors and counts is asked, so this serves any language.

How well outputs stand for words: cosine less hubness and frequency.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.orders import unit
from dptext.lexicons.search import Progress, best, in_blocks, silent

# What hubness counts, and each nat by which y is rarer.
_HUB, _RARER = 0.7, 0.2
_NEAR = 10  # neighbours whose mean cosine says how much everybody's neighbour a word is
_SPARE = 16  # proposed beyond the listed ones, so that single precision decides little
ROWS, _PART = 512, 16
_NEVER = -100.0
# Scores are rounded to this, so that the last bits of a product decide nothing.
_GRID = 2.0**20


class Scoring:
    """Unit vectors of the outputs and what each is worth; logs of counts (V,)."""

    def __init__(
        self,
        vectors: NDArray[np.floating],
        logs: NDArray[np.float64],
        outputs: int,
        barred: Sequence[int],
    ) -> None:
        words = unit(vectors[:outputs])
        self._wide, self._logs = words.astype(np.float64), logs[:outputs]
        self._worth = -_HUB * _hubs(self._wide, list(barred))
        self._worth[list(barred)] = 2 * _NEVER
        self._table = np.column_stack((words, self._worth)).astype(np.float32)

    def of_outputs(
        self, points: NDArray[np.float32], rows: NDArray[np.intp], listed: int
    ) -> NDArray[np.intp]:
        """Return the best outputs for some that are outputs, themselves last."""
        scores = points.astype(np.float64) @ self._wide.T + self._worth
        rarer = self._logs[rows][:, None] - self._logs
        scores -= _RARER * np.maximum(rarer, 0.0, out=rarer)
        scores[np.arange(len(rows)), rows] = 2 * _NEVER
        width = min(listed + _SPARE, len(self._wide)) - 1
        words = np.argpartition(-scores, width, axis=1)[:, : width + 1]
        return _sorted(words, np.take_along_axis(scores, words, axis=1))[:, :listed]

    def of_others(self, points: NDArray[np.float32], listed: int) -> NDArray[np.intp]:
        """Return the best outputs for words rarer than all of them: (b, listed)."""
        if not len(points):
            return np.empty((0, listed), np.intp)
        ones = np.ones((len(points), 1), np.float32)
        width = min(listed + _SPARE, len(self._wide))
        words, _ = best(np.hstack((points, ones)), self._table, width)
        scores = self._worth[words]
        for begin in range(0, len(points), _PART):
            part = slice(begin, begin + _PART)
            wide = points[part, :, None].astype(np.float64)
            scores[part] += (self._wide[words[part]] @ wide)[:, :, 0]
        return _sorted(words, scores)[:, :listed]


def _sorted(
    words: NDArray[np.integer], scores: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Put the words of each row by descending score, of equals the smaller id first."""
    order = np.lexsort((words, -np.rint(scores * _GRID)), axis=1)
    return np.take_along_axis(words, order, axis=1).astype(np.intp)


def _hubs(vectors: NDArray[np.float64], barred: list[int]) -> NDArray[np.float64]:
    """Return the mean cosine of each output with its nearest others: (outputs,).

    barred words are nobody's neighbours.
    """
    outputs = len(vectors)
    hubs = np.zeros(outputs)
    near = min(_NEAR, outputs - 1 - len(barred))

    def work(block: slice) -> None:
        cosines = vectors[block] @ vectors.T
        cosines[np.arange(len(cosines)), np.arange(outputs)[block]] = -2.0
        cosines[:, barred] = -2.0
        top = -np.partition(-cosines, near - 1, axis=1)[:, :near]
        hubs[block] = top.mean(axis=1)

    if near > 0:
        in_blocks(outputs, work, rows=ROWS)
    return hubs


def orders_by_cosine(
    vectors: NDArray[np.floating],
    counts: NDArray[np.float64],
    outputs: int,
    listed: int,
    barred: Sequence[int] = (),
    progress: Progress = silent,
) -> NDArray[np.integer]:
    """Return for each word itself, then the outputs that stand best: (V + 1, listed).

    vectors (V + 1, d), the last row for unknown words, whose order is of outputs alone;
    counts (V,) descending; only the first `outputs` words are listed, none of them
    barred. listed <= outputs - len(barred). uint16 where V < 65536, else uint32. Equals
    stand by id.
    """
    size = len(counts)
    orders_of_rows = np.empty(
        (size + 1, listed), np.uint16 if size < 2**16 else np.uint32
    )
    scoring = Scoring(vectors, np.log(counts), outputs, barred)

    def work(block: slice) -> None:
        rows = np.arange(block.start, block.stop)
        points = unit(vectors[block])
        few = max(0, min(outputs, block.stop) - block.start)
        others = np.empty((len(rows), listed), np.intp)
        others[:few] = scoring.of_outputs(points[:few], rows[:few], listed)
        others[few:] = scoring.of_others(points[few:], listed)
        orders_of_rows[block, 0], orders_of_rows[block, 1:] = rows, others[:, :-1]
        if block.stop > size:
            orders_of_rows[size] = others[-1]

    in_blocks(size + 1, work, progress, ROWS)
    return orders_of_rows
