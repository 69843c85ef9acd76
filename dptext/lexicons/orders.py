"""Public orders: for each word its best replacements, and what lies beyond them.

An order lists the word itself, then other words by ascending Euclidean distance; of
equals the smaller id comes first. Only words are listed, never the row of unknown
words. The vectors and these rules are public, so an order holds nothing of any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError

# Candidates beyond the listed ones, so that float32 search decides nothing.
_SPARE = 32
_BLOCK = 1024
_PART = 64  # rows whose candidates are gathered at once
# Scores held at once, and columns by which a cut through them is chosen.
_SCORES, _SAMPLED = 2**25, 2048
_SEED = 20240
_PAIRS = 1_000_000
# Squared lengths and products of such coordinates are numbers in single precision.
_LEAST, _MOST = 1e-9, 1e9


def check_coordinates(vectors: NDArray[np.floating], what: str) -> None:
    """Refuse vectors whose distances are no exact numbers in single precision.

    what names them. Raises LexiconError unless the largest coordinate lies between
    1e-9 and 1e9, or all are 0.
    """
    most = max(float(vectors.max(initial=0)), -float(vectors.min(initial=0)))
    if most == 0.0 or _LEAST <= most <= _MOST:
        return
    msg = (
        f"{what}: the largest coordinate is {most:.3g}, and distances can be trusted "
        f"for {_LEAST:g} to {_MOST:g}; multiply all vectors by one factor"
    )
    raise LexiconError(msg)


def build_orders(
    vectors: NDArray[np.floating],
    listed: int,
    inputs: int | None = None,
    outputs: int | None = None,
    barred: Sequence[int] = (),
) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
    """Return orders (V + 1, listed) and far (V + 1,) of vectors (V + 1, d).

    With inputs, only those of the first rows: (inputs, listed) and (inputs,). The last
    row of vectors is an input (every unknown word) and never listed. orders is uint16
    where V < 65536, else uint32. far[x] is at most the distance from x to any word that
    is not in orders[x], inf where all are. A lexicon with fewer words than listed has
    orders of V entries. With outputs, only the first so many words are listed, and far
    speaks of them alone. barred words come last in every order but first in their own.
    """
    size = len(vectors) - 1 if outputs is None else outputs
    listed = min(listed, size)
    last = np.zeros(size, bool)
    last[list(barred)] = True
    inputs = len(vectors) if inputs is None else inputs
    orders = np.empty((inputs, listed), np.uint16 if size < 2**16 else np.uint32)
    far = np.empty(inputs, np.float32)
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    width = min(listed + _SPARE + len(barred), size)
    for begin, nearest, beyond in _search(rows, size, inputs, width):
        part = slice(begin, begin + len(nearest))
        orders[part], far[part] = _ordered(rows, last, begin, nearest, beyond, listed)
    return orders, far


def far_of(
    vectors: NDArray[np.floating], row: int, listed: NDArray[np.integer]
) -> float:
    """Return a bound on the distance from a row to every word that is not listed."""
    distances = _distances(np.asarray(vectors), row, np.arange(len(vectors) - 1))
    distances[listed.astype(np.int64)] = np.inf
    return _down(float(distances.min()))


def far_of_all(
    vectors: NDArray[np.floating], orders: NDArray[np.integer]
) -> NDArray[np.float32]:
    """Return for orders (V + 1, k) of any kind the bound far that build_orders gives.

    Of each row the nearest words are looked at until some are not listed.
    """
    size, listed = len(vectors) - 1, orders.shape[1]
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    far = np.empty(size + 1, np.float32)
    width = min(listed + _SPARE, size)
    for begin, nearest, beyond in _search(rows, size, size + 1, width):
        for position, ids in enumerate(nearest):
            rest = np.setdiff1d(ids, orders[begin + position])
            near = _distances(rows, begin + position, rest).min(initial=np.inf)
            far[begin + position] = _down(min(float(near), float(beyond[position])))
    return far


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return rows of length 1, those without a length as they are: (V + 1, d)."""
    rows = np.array(vectors, dtype=np.float32)
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        block /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return rows


def measure(vectors: NDArray[np.floating]) -> dict[str, float]:
    """Return the public geometry of vectors (V + 1, d), in their unit of distance.

    nearest_min, nearest_median: distance of a word to the nearest other word, minimum
    and median over the V words; median: of a million pairs drawn with a fixed seed;
    diameter: the largest distance of all pairs, the row of unknown words included.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    nearest = _nearest(rows[:-1])
    return {
        "nearest_min": float(nearest.min()),
        "nearest_median": float(np.median(nearest)),
        "median": _median(rows[:-1]),
        "diameter": _diameter(rows),
    }


def _search(
    rows: NDArray[np.float32], size: int, inputs: int, width: int
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
    """Yield (first row, nearest words (b, width), bound on all others (b,))."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    longest = float(lengths[:size].max())
    # argmin |v - w| = argmax <v, w> - |w|^2 / 2
    halves = (lengths[:size, None] ** 2 / -2.0).astype(np.float32)
    table = np.hstack((rows[:size], halves)).T
    step = int(np.clip(_SCORES // size, 16, _BLOCK))
    for begin in range(0, inputs, step):
        block = rows[begin : min(begin + step, inputs)]
        ones = np.ones((len(block), 1), np.float32)
        nearest, least = _largest(np.hstack((block, ones)) @ table, width)
        of_block = lengths[begin : begin + len(block)]
        error = _error(rows.shape[1], of_block + longest)
        beyond = np.sqrt(np.maximum(of_block**2 - 2.0 * least - error, 0.0))
        if width == size:
            beyond[:] = np.inf
        yield begin, nearest, beyond


def _largest(
    scores: NDArray[np.float32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns of the width largest of each row, and the least of them.

    A sample of the columns says above which value about twice as many lie: few are left
    to be sorted. Rows where it says too much are sorted as they are.
    """
    count, size = scores.shape
    if width == size:
        every = np.tile(np.arange(size), (count, 1))
        return every, scores.min(axis=1).astype(np.float64)
    sample = scores[:, :: max(1, size // _SAMPLED)]
    share = 1.5 * width / size * sample.shape[1] + 8.0
    last = max(0, sample.shape[1] - int(share))
    cut = np.partition(sample, last, axis=1)[:, last]
    mask = scores >= cut[:, None]
    # A cut that leaves too few is lowered to leave all.
    mask[np.count_nonzero(mask, axis=1) < width] = True
    row, column = _positions(mask)
    many = np.bincount(row, minlength=count)
    position = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    left = np.full((count, int(many.max())), -np.inf, np.float32)
    ids = np.zeros(left.shape, np.int64)
    left[row, position], ids[row, position] = scores[row, column], column
    best = np.argpartition(-left, width - 1, axis=1)[:, :width]
    least = np.take_along_axis(left, best, axis=1).min(axis=1)
    return np.take_along_axis(ids, best, axis=1), least.astype(np.float64)


def _positions(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows and columns of a mask of few True values, like np.nonzero."""
    packed = np.packbits(mask, axis=1)
    locations = np.flatnonzero(packed)
    hit, bit = np.nonzero(np.unpackbits(packed.ravel()[locations][:, None], axis=1))
    row, byte = np.divmod(locations[hit], packed.shape[1])
    return row, byte * 8 + bit


def _error(dimensions: int, max_distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound the error of a squared distance in float32, by either of its formulas."""
    return (2.0 * dimensions + 16.0) * 2.0**-24 * max_distance**2


def _ordered(
    rows: NDArray[np.float32],
    last: NDArray[np.bool_],
    begin: int,
    nearest: NDArray[np.int64],
    beyond: NDArray[np.float64],
    listed: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Order a block of rows: (b, listed) ids and bounds (b,).

    last (size,) says which words come last.
    """
    known = np.sort(_with_itself(nearest, begin, len(last)), axis=1)
    inputs = np.arange(begin, begin + len(nearest))[:, None]
    keys = np.empty(known.shape)
    for part in range(0, len(nearest), _PART):
        ids, x = known[part : part + _PART], inputs[part : part + _PART]
        gap = rows[ids].astype(np.float64) - rows[x].astype(np.float64)
        keys[part : part + _PART] = np.sqrt(np.einsum("bij,bij->bi", gap, gap))
    keys[known == inputs] = -1.0
    ranked = np.where(last[known] & (known != inputs), np.inf, keys)
    best = np.argsort(ranked, axis=1, kind="stable")  # known is sorted: ties go by id
    bound = beyond
    if known.shape[1] > listed:
        rest = np.take_along_axis(keys, best[:, listed:], axis=1)
        bound = np.minimum(beyond, rest.min(axis=1))
    far = np.array([_down(float(one)) for one in bound])
    return np.take_along_axis(known, best[:, :listed], axis=1), far


def _with_itself(ids: NDArray[np.int64], begin: int, size: int) -> NDArray[np.int64]:
    """Put each word among its ids, where too many others coincide with it."""
    ids = ids.copy()
    inputs = np.arange(begin, begin + len(ids))
    lost = (inputs < size) & ~(ids == inputs[:, None]).any(axis=1)
    ids[lost, -1] = inputs[lost]
    return ids


def _distances(
    rows: NDArray[np.floating], x: int, others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return distances in float64 by direct differences: (len(others),)."""
    gaps = rows[others].astype(np.float64) - rows[x].astype(np.float64)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", gaps, gaps)))


def _down(bound: float) -> float:
    """Round down to a float32, a little further than the error of float64 sums."""
    safe = bound * (1.0 - 1e-12)
    near = float(np.float32(safe))
    if near > safe:
        near = float(np.nextafter(np.float32(safe), np.float32(-np.inf)))
    return max(near, 0.0)


def _nearest(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the distance of each word to the nearest other word: (V,) float64."""
    size = len(rows)
    nearest = np.full(size, np.inf)
    if size < 2:
        return np.zeros(size)
    for begin, candidates, _ in _search(rows, size, size, min(16, size)):
        for position, ids in enumerate(candidates):
            x = begin + position
            nearest[x] = _distances(rows, x, ids[ids != x]).min()
    return nearest


def _median(rows: NDArray[np.float32]) -> float:
    rng = np.random.default_rng(_SEED)
    pairs = rng.integers(0, len(rows), (_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return 0.0
    distances = np.empty(len(pairs))
    for begin in range(0, len(pairs), 100_000):
        part = pairs[begin : begin + 100_000]
        gap = rows[part[:, 0]].astype(np.float64) - rows[part[:, 1]]
        distances[begin : begin + 100_000] = np.sqrt(np.einsum("ij,ij->i", gap, gap))
    return float(np.median(distances))


def _diameter(rows: NDArray[np.float32]) -> float:
    """Find the largest distance: float32 products, then float64 where it may be."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    squares = (lengths**2).astype(np.float32)
    tops = np.zeros(len(rows))
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        # Each pair once: only the columns from this block on.
        scores = block @ rows[begin:].T
        scores *= -2.0
        scores += squares[begin:]
        tops[begin : begin + len(block)] = scores.max(axis=1)
    tops += lengths**2
    slack = 2.0 * _error(rows.shape[1], lengths + lengths.max()).max()
    everyone = np.arange(len(rows))
    candidates = np.flatnonzero(tops >= tops.max() - slack)
    return max(float(_distances(rows, int(x), everyone).max()) for x in candidates)
