"""Public orders: the best replacements for each word, and a bound on the rest.

An order by distance lists the word itself, then other words by ascending Euclidean
distance. An order by cosine lists the most frequent words that best replace
it, by cosine, less how near y is to all words (hubness; Dinu, Lazaridou and
Baroni 2015, arXiv:1412.6568), less how much rarer y is than x. Ties go to the smaller
id. Only words are listed, never the row of unknown words. Vectors, counts and
these rules are public, so an order reveals nothing of any text, in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons import search
from dptext.lexicons.search import Nearest, in_blocks, lengths_from
from dptext.tokens import names
from dptext.types import PARTS, Floats, Lexicon, Mask, Rows, Singles, Vectors, blocks

ORDERING = "ordering words"  # the phase
# Candidates beyond the listed ones, so that float32 search decides nothing.
_SPARE = 32
_BLOCK = 1024
_PART = 64  # rows; candidates are gathered for so many at once
# Up to this many words all are asked for their nearest, of more so many.
_EVERY, _ASKED = 2**16, 2**13
_SEED = 20240
_PAIRS = 1_000_000
# Squared lengths and products of such coordinates are numbers in single precision.
_LEAST, _MOST = 1e-9, 1e9
# What hubness counts, and each nat by which y is rarer.
_HUB, _RARER = 0.7, 0.2
_NEAR = 10  # neighbours; their mean cosine is the hubness of a word
_MORE = 16  # proposed beyond the listed ones, so that single precision decides little
_ROWS, _FEW = 512, 16
NEVER = -100.0  # the score of a word that must not be listed


def check_coordinates(vectors: Vectors, name: str) -> None:
    """Raise LexiconError if distances are not exact in single precision.

    Errors refer to vectors by `name`. The largest coordinate must be
    between 1e-9 and 1e9, or all must be 0.
    """
    if vectors.dtype == np.float16:
        return  # its numbers that are not 0 lie between 6e-8 and 65,504
    most = max(float(vectors.max(initial=0)), -float(vectors.min(initial=0)))
    if most == 0.0 or _LEAST <= most <= _MOST:
        return
    raise LexiconError(
        f"{name}: the largest coordinate is {most:.3g}, but distances are only "
        f"accurate from {_LEAST:g} to {_MOST:g}; multiply all vectors by a common "
        "factor"
    )


def build_orders(
    vectors: Vectors,
    listed: int,
    inputs: int | None = None,
    outputs: int | None = None,
    barred: Sequence[int] = (),
) -> tuple[Rows, Singles]:
    """Return orders (V + 1, listed) and far (V + 1,) of vectors (V + 1, d).

    With inputs, only for the first rows: (inputs, listed) and (inputs,). The last
    row of vectors is an input (every unknown word) and never listed. orders is uint16
    if V < 65536, else uint32. far[x] is at most the distance from x to any word that
    is not in orders[x], inf if all are. A lexicon with fewer words than listed has
    orders of V entries. With outputs, only the first so many words are listed, and far
    refers to them only. barred words come last in every order but first in their own.
    """
    size = len(vectors) - 1 if outputs is None else outputs
    listed = min(listed, size)
    last = np.zeros(size, bool)
    last[list(barred)] = True
    inputs = len(vectors) if inputs is None else inputs
    orders = empty_orders(inputs, listed, size)
    far = np.empty(inputs, np.float32)
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    width = min(listed + _SPARE + len(barred), size)
    near = Nearest(rows, size)

    def work(block: slice) -> None:
        nearest, bound = near.query(block, width)
        ids_of_rows = np.arange(block.start, block.start + len(nearest))
        # Each word is among its own, where too many others coincide with it.
        missing = (ids_of_rows < size) & ~(nearest == ids_of_rows[:, None]).any(axis=1)
        nearest[missing, -1] = ids_of_rows[missing]
        known = np.sort(nearest, axis=1)
        keys = np.empty(known.shape)
        for part in range(0, len(nearest), _PART):
            ids = known[part : part + _PART]
            x = ids_of_rows[part : part + _PART, None]
            gap = rows[ids].astype(np.float64) - rows[x].astype(np.float64)
            keys[part : part + _PART] = np.sqrt(np.einsum("bij,bij->bi", gap, gap))
        itself = known == ids_of_rows[:, None]
        keys[itself] = -1.0
        ranked = np.where(last[known] & ~itself, np.inf, keys)
        order = np.argsort(ranked, axis=1, kind="stable")  # known is sorted: ties by id
        if known.shape[1] > listed:
            rest = np.take_along_axis(keys, order[:, listed:], axis=1)
            bound = np.minimum(bound, rest.min(axis=1))
        orders[block] = np.take_along_axis(known, order[:, :listed], axis=1)
        far[block] = [rounded_down(float(one)) for one in bound]

    in_blocks(ORDERING, inputs, work)
    return orders, far


def empty_orders(rows: int, listed: int, words: int) -> Rows:
    """Allocate orders for this many words: (rows, listed) uint16 or uint32."""
    return np.empty((rows, listed), np.uint16 if words < 2**16 else np.uint32)


def far_bound(vectors: Vectors, row: int, listed: Rows) -> float:
    """Return a lower bound on the distance from a row to every unlisted word."""
    distances = lengths_from(vectors, row, slice(len(vectors) - 1))
    distances[listed.astype(np.int64)] = np.inf
    return rounded_down(float(distances.min()))


def unit(vectors: Vectors) -> Singles:
    """Return rows scaled to length 1; zero rows stay unchanged: (V + 1, d)."""
    rows = np.array(vectors, dtype=np.float32)
    for part in blocks(len(rows), _BLOCK):
        lengths = search.row_lengths(rows[part])
        rows[part] /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return rows


def measure(vectors: Vectors) -> dict[str, float]:
    """Return public statistics of vectors (V + 1, d), in their unit of distance.

    nearest_min, nearest_median: distance of a word to the nearest other word, minimum
    and median over the V words; median: of a million pairs drawn with a fixed seed;
    diameter: the largest distance of any pair, including the row of unknown words.

    With more than 65,536 words, 8,192 drawn with a fixed seed are used for the
    median, and nearest_min is absent: the median is their 53% quantile, which half of
    the vocabulary is below except with probability 1e-6 (binomial, 4.9 standard
    errors).
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    size = len(rows) - 1
    every = size <= _EVERY
    rng = np.random.default_rng(_SEED)
    asked = np.arange(size) if every else rng.choice(size, _ASKED, replace=False)
    nearest = _nearest(rows[:-1], np.sort(asked))
    quantile = 0.5 if every else 0.5 + 4.9 / (2.0 * np.sqrt(_ASKED))
    least = {"nearest_min": float(nearest.min())} if every else {}
    pairs = np.random.default_rng(_SEED).integers(0, size, (_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    distances = _distances(rows, pairs, size)
    return {
        **least,
        "nearest_median": float(np.quantile(nearest, quantile)),
        "median": float(np.median(distances)) if len(distances) else 0.0,
        "diameter": search.diameter(rows),
    }


def _distances(rows: Singles, pairs: NDArray[np.int64], size: int) -> Floats:
    """Return the distances of pairs (m, 2) of words: (m,), computing each once."""
    if 2 * size**2 > len(pairs):
        return search.distances_of_pairs(rows, pairs[:, 0], pairs[:, 1])
    every = np.arange(size**2)
    table = search.distances_of_pairs(rows, every // size, every % size)
    distances: Floats = table[pairs[:, 0] * size + pairs[:, 1]]
    return distances


def rounded_down(bound: float) -> float:
    """Round down to float32, by a bit more than the error of float64 sums."""
    safe = bound * (1.0 - 1e-12)
    near = float(np.float32(safe))
    if near > safe:
        near = float(np.nextafter(np.float32(safe), np.float32(-np.inf)))
    return max(near, 0.0)


def _nearest(rows: Singles, asked: NDArray[np.intp]) -> Floats:
    """Return the distance of words to their nearest other word: (m,) float64."""
    if len(rows) < 2:
        return np.zeros(len(rows))
    nearest = np.empty(len(asked))
    near = Nearest(rows, len(rows))

    def work(block: slice) -> None:
        words, _ = near.query(asked[block], min(16, len(rows)))
        nearest[block] = [
            lengths_from(rows, int(x), ids[ids != x]).min()
            for x, ids in zip(asked[block], words, strict=True)
        ]

    in_blocks("measuring the nearest words", len(asked), work)
    return nearest


class _Scoring:
    """Unit vectors of the outputs with a score bonus each; log counts (V,)."""

    def __init__(
        self, vectors: Vectors, logs: Floats, outputs: int, barred: Sequence[int]
    ) -> None:
        words = unit(vectors[:outputs])
        self._wide, self._logs = words.astype(np.float64), logs[:outputs]
        self._worth = -_HUB * hubs(self._wide, barred)
        self._worth[list(barred)] = 2 * NEVER
        self._table = np.column_stack((words, self._worth)).astype(np.float32)

    def rank_for_outputs(
        self, points: Singles, rows: NDArray[np.intp], listed: int
    ) -> NDArray[np.intp]:
        """Rank the best outputs for words that are outputs, the word itself last."""
        scores = points.astype(np.float64) @ self._wide.T + self._worth
        rarer = self._logs[rows][:, None] - self._logs
        scores -= _RARER * np.maximum(rarer, 0.0, out=rarer)
        scores[np.arange(len(rows)), rows] = 2 * NEVER
        return search.largest(scores, listed)

    def rank_for_rarer_words(self, points: Singles, listed: int) -> NDArray[np.intp]:
        """Rank the best outputs for words rarer than all outputs: (b, listed)."""
        if not len(points):
            return np.empty((0, listed), np.intp)
        ones = np.ones((len(points), 1), np.float32)
        width = min(listed + _MORE, len(self._wide))
        words, _ = search.best(np.hstack((points, ones)), self._table, width)
        scores = self._worth[words]
        for part in blocks(len(points), _FEW):
            wide = points[part, :, None].astype(np.float64)
            scores[part] += (self._wide[words[part]] @ wide)[:, :, 0]
        order = np.lexsort((words, -np.rint(scores * search.GRID)), axis=1)
        return np.take_along_axis(words, order, axis=1)[:, :listed].astype(np.intp)


def hubs(vectors: Floats, barred: Sequence[int]) -> Floats:
    """Return each output's mean cosine with its nearest others: (outputs,).

    barred words never count as neighbours.
    """
    outputs = len(vectors)
    hubness = np.zeros(outputs)
    near = min(_NEAR, outputs - 1 - len(barred))

    def work(block: slice) -> None:
        cosines = vectors[block] @ vectors.T
        cosines[np.arange(len(cosines)), np.arange(outputs)[block]] = -2.0
        cosines[:, list(barred)] = -2.0
        top = -np.partition(-cosines, near - 1, axis=1)[:, :near]
        hubness[block] = top.mean(axis=1)

    if near > 0:
        in_blocks(ORDERING, outputs, work, _ROWS)
    return hubness


def orders_of_others(
    outputs: Vectors, others: Vectors, listed: int, barred: Sequence[int] = ()
) -> NDArray[np.intp]:
    """Return the best replacements of words outside the outputs (m, d).

    others (n, d) are rarer than all outputs. Returns rows of the outputs: (n, listed).
    """
    scoring = _Scoring(outputs, np.zeros(len(outputs)), len(outputs), barred)
    return scoring.rank_for_rarer_words(unit(others), listed)


def orders_by_cosine(
    vectors: Vectors,
    counts: Floats,
    outputs: int,
    listed: int,
    barred: Sequence[int] = (),
) -> Rows:
    """Return each word followed by its best outputs: (V + 1, listed).

    vectors (V + 1, d), the last row for unknown words, which lists only outputs;
    counts (V,) descending; only the first `outputs` words are listed, none of them
    barred. listed <= outputs - len(barred). uint16 if V < 65536, else uint32. Ties
    are sorted by id.
    """
    size = len(counts)
    orders_of_rows = empty_orders(size + 1, listed, size)
    scoring = _Scoring(vectors, np.log(counts), outputs, barred)

    def work(block: slice) -> None:
        rows = np.arange(block.start, block.stop)
        points = unit(vectors[block])
        few = max(0, min(outputs, block.stop) - block.start)
        others = np.empty((len(rows), listed), np.intp)
        others[:few] = scoring.rank_for_outputs(points[:few], rows[:few], listed)
        others[few:] = scoring.rank_for_rarer_words(points[few:], listed)
        orders_of_rows[block, 0], orders_of_rows[block, 1:] = rows, others[:, :-1]
        if block.stop > size:
            orders_of_rows[size] = others[-1]

    in_blocks(ORDERING, size + 1, work, _ROWS)
    return orders_of_rows


def rows_of_names(lexicon: Lexicon) -> Mask:
    """Return a mask of the names that share one order and are one input: (V,).

    Empty if meta names no word of that order (dptext.tokens.names).
    """
    size, row = len(lexicon.words), names.name_row(lexicon)
    if row < 0:
        return np.zeros(size, bool)
    orders, outputs = lexicon.orders, int(lexicon.meta.get("outputs", size))
    # A word that is no output stands in front of its order, where rank leaves it out.
    shared = orders[row, :-1]
    alike = np.empty(size, bool)
    alike[:outputs] = (orders[:outputs, :-1] == shared).all(axis=1)
    alike[outputs:] = (orders[outputs:size, 1:] == shared).all(axis=1)
    return alike


def inherit(base: Lexicon, rows: Rows, content: Floats | float) -> dict[str, Any]:
    """Return the optional arrays for words, some of which a base may know.

    rows (V,): rows of words in the base, -1 if missing; content: the information
    content of missing words, which have no synonyms.
    """
    known, arrays = rows >= 0, dict[str, Any]()
    if base.synonym_ends is not None and base.synonyms is not None:
        here = np.full(len(base.words), -1)
        here[rows[known]] = np.flatnonzero(known)
        sets = [*np.split(base.synonyms, base.synonym_ends[:-1]), []]
        alike = [here[sets[row]] for row in rows.tolist()]
        synonyms = [others[others >= 0] for others in alike]
        arrays["synonym_ends"] = np.cumsum([*map(len, synonyms)]).astype(np.int32)
        arrays["synonyms"] = np.concatenate(synonyms).astype(np.int32)
    if base.information_content is not None:
        contents = np.where(known, base.information_content[rows], content)
        arrays["information_content"] = contents.astype(np.float32)
    if base.parts is not None:
        parts = np.where(known, base.parts[rows], PARTS.index("other"))
        arrays["parts"] = parts.astype(np.uint8)
    return arrays
