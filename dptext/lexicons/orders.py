"""Public orders: for each word its best replacements, and what lies beyond them.

An order lists the word itself, then other words by ascending Euclidean distance; of
equals the smaller id comes first. Only words are listed, never the row of unknown
words. The vectors and these rules are public, so an order holds nothing of any text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons.search import (
    Nearest,
    Progress,
    diameter,
    in_blocks,
    lengths_of,
    silent,
)

# Candidates beyond the listed ones, so that float32 search decides nothing.
_SPARE = 32
_BLOCK = 1024
_PART = 64  # rows whose candidates are gathered at once
# Up to this many words all are asked for their nearest, of more so many.
_EVERY, _ASKED = 2**16, 2**13
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
    progress: Progress = silent,
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
    near = Nearest(rows, size)

    def work(block: slice) -> None:
        proposed = near.of(block, width)
        orders[block], far[block] = _ordered(rows, last, block.start, *proposed, listed)

    in_blocks(inputs, work, progress)
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
    near = Nearest(rows, size)

    def work(block: slice) -> None:
        nearest, beyond = near.of(block, min(listed + _SPARE, size))
        for row, ids, bound in zip(
            range(size + 1)[block], nearest, beyond, strict=True
        ):
            rest = np.setdiff1d(ids, orders[row])
            closest = _distances(rows, row, rest).min(initial=np.inf)
            far[row] = _down(min(float(closest), float(bound)))

    in_blocks(size + 1, work)
    return far


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return rows of length 1, those without a length as they are: (V + 1, d)."""
    rows = np.array(vectors, dtype=np.float32)
    for begin in range(0, len(rows), _BLOCK):
        block = rows[begin : begin + _BLOCK]
        lengths = lengths_of(block)
        block /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return rows


def measure(
    vectors: NDArray[np.floating], progress: Progress = silent
) -> dict[str, float]:
    """Return the public geometry of vectors (V + 1, d), in their unit of distance.

    nearest_min, nearest_median: distance of a word to the nearest other word, minimum
    and median over the V words; median: of a million pairs drawn with a fixed seed;
    diameter: the largest distance of all pairs, the row of unknown words included.

    Of more than 65,536 words, 8,192 drawn with a fixed seed are looked at for the
    median, and nearest_min is absent: their 53% quantile stands for it, which half of
    the vocabulary is below but for a chance of 1e-6 (binomial, 4.9 standard errors).
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    size = len(rows) - 1
    every = size <= _EVERY
    rng = np.random.default_rng(_SEED)
    asked = np.arange(size) if every else rng.choice(size, _ASKED, replace=False)
    nearest = _nearest(rows[:-1], np.sort(asked), lambda share: progress(share / 2))
    quantile = 0.5 if every else 0.5 + 4.9 / (2.0 * np.sqrt(_ASKED))
    least = {"nearest_min": float(nearest.min())} if every else {}
    return {
        **least,
        "nearest_median": float(np.quantile(nearest, quantile)),
        "median": _median(rows[:-1]),
        "diameter": diameter(rows, lambda share: progress(0.5 + share / 2)),
    }


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


def _nearest(
    rows: NDArray[np.float32], asked: NDArray[np.intp], progress: Progress
) -> NDArray[np.float64]:
    """Return the distance of some words to the nearest other word: (m,) float64."""
    if len(rows) < 2:
        return np.zeros(len(rows))
    nearest = np.empty(len(asked))
    near = Nearest(rows, len(rows))

    def work(block: slice) -> None:
        words, _ = near.of(asked[block], min(16, len(rows)))
        nearest[block] = [
            _distances(rows, int(x), ids[ids != x]).min()
            for x, ids in zip(asked[block], words, strict=True)
        ]

    in_blocks(len(asked), work, progress)
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
