"""Nearest and farthest words by matrix products, in blocks on all processors.

Products are in single precision and only propose words; callers verify in float64.
Each thread has separate blocks, so memory does not grow with the vocabulary, and a
block's result does not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dptext import progress
from dptext.types import Floats, Ints, Rows, Singles, Vectors, blocks

Block = Callable[[slice], None]

# Scores are rounded to this, so that the last bits of a product decide nothing.
GRID = 2.0**20
_ROWS = 1024
_HOPEFUL = 1024  # words by which a lower bound on the farthest is set
_TOP = 8
# Numbers that are held at once, so that they stay in a cache of the processor.
_HELD = 2**16
_ALL = slice(None)
# Pairs of rows that are measured at once.
_PAIRS = 1024


def in_blocks(phase: str, count: int, work: Block, rows: int = _ROWS) -> None:
    """Call `work` on each block of `count` rows, on as many threads as faiss may use.

    OMP_NUM_THREADS limits them. Errors of `work` propagate. phase names the work if it
    takes long.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    import faiss

    def alone(block: slice) -> int:
        # Threads that each compute whole products never wait for one another.
        faiss.omp_set_num_threads(1)
        work(block)
        return int(block.stop - block.start)

    with ThreadPoolExecutor(faiss.omp_get_max_threads()) as pool:
        tasks = [pool.submit(alone, block) for block in blocks(count, rows)]
        try:
            for done in accumulate(task.result() for task in as_completed(tasks)):
                progress.share(phase, done / count)
        finally:
            pool.shutdown(cancel_futures=True)


def best(points: Singles, table: Singles, width: int) -> tuple[Ints, Floats]:
    """Return the `width` rows of a table (V, d) with the largest products.

    points (b, d) give rows (b, width), unordered, and their least score (b,); width <=
    V.
    """
    import faiss

    # By matrix products, whatever d: for short rows faiss would take ten times as long.
    faiss.cvar.distance_compute_blas_threshold = 1
    scores, words = faiss.knn(points, table, width, metric=faiss.METRIC_INNER_PRODUCT)
    return words, scores[:, -1].astype(np.float64)


def largest(scores: Floats, width: int) -> NDArray[np.intp]:
    """Return the columns of the largest scores; ties go to the first: (b, width).

    scores (b, n), of absolute values below 1,000, are rounded; n < 2^17.
    """
    # One whole number for score and column, so that a partition meets no ties.
    ranked = np.rint(scores * -GRID) * 2.0**17 + np.arange(scores.shape[1])
    best = np.argpartition(ranked, width - 1, axis=1)[:, :width]
    order = np.argsort(np.take_along_axis(ranked, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


class Nearest:
    """Nearest words among a table's first `size` rows; table (V + 1, d)."""

    def __init__(self, rows: Singles, size: int) -> None:
        self.lengths = row_lengths(rows)
        self._longest = float(self.lengths[:size].max())
        # argmin |v - w| = argmax <v, w> - |w|^2 / 2
        halves = (self.lengths[:size, None] ** 2 / -2.0).astype(np.float32)
        self._table = np.hstack((rows[:size], halves))
        self._rows = rows

    def query(self, block: slice | NDArray[np.intp], width: int) -> tuple[Ints, Floats]:
        """Return `width` words per row, (b, width), and a bound on all others (b,).

        No other word is nearer than the bound; inf if all words are returned.
        """
        points, lengths = self._rows[block], self.lengths[block]
        ones = np.ones((len(points), 1), np.float32)
        words, least = best(np.hstack((points, ones)), self._table, width)
        if width == len(self._table):
            return words, np.full(len(points), np.inf)
        error = squared_error(points.shape[1], lengths + self._longest)
        return words, np.sqrt(np.maximum(lengths**2 - 2.0 * least - error, 0.0))


def farthest(rows: Vectors, size: int) -> Floats:
    """Return each row's distance to the farthest of the first `size`: (m,) float64.

    Most words are so near the centre that they can be skipped.
    """
    far = _Farthest(rows, size)
    distances = np.empty(len(rows))

    def work(block: slice) -> None:
        ids = far.outermost[block]
        distances[ids] = far.distances(ids)

    in_blocks("measuring", len(rows), work)
    return distances


def diameter(rows: Vectors) -> float:
    """Return the largest distance between two rows, in float64.

    Rows are visited by descending distance to the centre, as long as they may be
    in a pair farther apart than any so far, each with the rows after it.
    """
    far = _Farthest(rows, len(rows))
    seen = [float(far.distances(far.outermost[:1])[0])]

    def work(block: slice) -> None:
        most, ids = max(seen), far.outermost[block]
        ids = ids[2.0 * far.radii[ids] >= most]
        if len(ids):
            seen.append(float(far.distances(ids, most, block.start).max()))

    in_blocks("measuring the largest distance", len(rows), work)
    return max(seen)


class _Farthest:
    """Words by descending distance to the centre, so the farthest come early.

    |x - y| <= |x - c| + |y - c|: if that is less than a distance already found, y is
    not the farthest of x.
    """

    def __init__(self, rows: Vectors, size: int) -> None:
        self._rows = rows
        self._middle = rows[:size].mean(axis=0, dtype=np.float64)
        self.radii = np.empty(len(rows))  # rounded up
        for block in blocks(len(rows), _ROWS):
            self.radii[block] = row_lengths(self._relative(block)) * (1.0 + 1e-6)
        self.outermost = np.argsort(-self.radii, kind="stable")
        self._words = self.outermost[self.outermost < size]
        self._inner = -self.radii[self._words]  # ascending
        self._table = np.empty((size, rows.shape[1] + 1), np.float32)
        for block in blocks(size, _ROWS):
            words = self._relative(self._words[block])
            self._table[block, :-1] = -words
            self._table[block, -1] = row_lengths(words) ** 2 / 2.0

    def distances(
        self, ids: NDArray[np.intp], least: float = 0.0, first: int = 0
    ) -> Floats:
        """Return the distance from each row to its farthest word: (n,) float64.

        If it is below least, any value below least may be returned. The outermost words
        before `first` are skipped.
        """
        points = np.hstack((self._relative(ids), np.ones((len(ids), 1), np.float32)))
        radii = self.radii[ids]
        few = min(_HOPEFUL, len(self._table))
        most = self._exact(ids, best(points, self._table[:few], 1)[0])
        needed = np.maximum(most, least) - radii
        reached = int(np.searchsorted(self._inner, -needed.min(), "right"))
        end = max(first + 1, few, reached)
        width = min(_TOP, end - first)
        words, scores = best(points, self._table[first:end], width)
        most = np.maximum(most, self._exact(ids, first + words))
        if width == end - first:
            return most
        # Where the last one proposed, too, may be the farthest, all are looked at.
        slack = squared_error(points.shape[1], radii + self.radii[self._words[0]])
        doubtful = radii**2 + 2.0 * scores + slack >= np.maximum(most, least) ** 2
        for row in np.flatnonzero(doubtful):
            for part in blocks(end, _ROWS, first):
                others = np.arange(part.start, part.stop)[None]
                one = self._exact(ids[row : row + 1], others)[0]
                most[row] = max(float(most[row]), float(one))
        return most

    def _relative(self, ids: slice | NDArray[np.intp]) -> Singles:
        return np.asarray((self._rows[ids] - self._middle).astype(np.float32))

    def _exact(self, ids: NDArray[np.intp], words: Rows) -> Floats:
        """Return the largest distance from each row to its words (n, w): (n,)."""
        most = np.empty(len(ids))
        for row, (x, others) in enumerate(zip(ids, words, strict=True)):
            gap = self._rows[self._words[others]].astype(np.float64) - self._rows[x]
            most[row] = np.sqrt(np.einsum("md,md->m", gap, gap).max())
        return most


def row_lengths(rows: Vectors) -> Floats:
    """Return the Euclidean norms of rows: (n,) float64."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))


def lengths_from(vectors: Vectors, row: int, others: slice | Ints = _ALL) -> Floats:
    """Return distances from a row to others by direct differences: (n,) float64."""
    rows, point = vectors[others], vectors[row].astype(np.float64)
    squares = np.empty(len(rows))
    count = max(1, _HELD // len(point))
    gaps = np.empty((min(count, len(rows)), len(point)))
    for part in blocks(len(rows), count):
        gap = gaps[: part.stop - part.start]
        np.subtract(rows[part], point, out=gap, dtype=np.float64)
        np.einsum("nd,nd->n", gap, gap, out=squares[part])
    return np.sqrt(squares, out=squares)


def distances_of_pairs(vectors: Vectors, a: Rows, b: Rows) -> Floats:
    """Return distances between pairs of rows by direct differences: (m,) float64."""
    squares = np.empty(len(a))
    for part in blocks(len(a), _PAIRS):
        gap = vectors[a[part]].astype(np.float64)
        gap -= vectors[b[part]]
        np.einsum("md,md->m", gap, gap, out=squares[part])
    return np.sqrt(squares, out=squares)


def squared_error(dimensions: int, sums: Floats) -> Floats:
    """Bound the float32 error of squared distances, given sums of norms (n,)."""
    return (2.0 * dimensions + 16.0) * 2.0**-24 * sums**2
