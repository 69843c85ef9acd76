"""Exact draws from P(y|x) proportional to exp(eps * score(d(x, y))).

The score is a non-increasing function of the distance. No row over the whole vocabulary
is needed: the nearest k words of x are listed, and every other word is at least far[x]
away. With c = exp(eps * score(far[x])) the weights divide into

    w(y) = max(w(y) - c, 0)   on the listed words,  plus
           min(w(y), c)       on all of V, drawn by proposing a uniform word and
                              accepting it with probability min(w(y), c) / c.

A refused proposal starts the draw anew, so the law is exactly w / sum(w), with relative
accuracy also for rare words, for any epsilon per word, without a row over V per word.
Distances and weights are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Ids

# score(distances (m, j), eps (m, 1)) -> (m, j), non-increasing along distances
Score = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_CHUNK = 1024
_TRIES = 64
_STEP = 32
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Lists:
    """The nearest words of some rows, with distances that are filled in as needed.

    listed (m, k) words; far (m,) no other word is nearer; distances (m, k).
    """

    vectors: NDArray[np.float32] = field(repr=False)
    listed: NDArray[Any]
    far: NDArray[np.float64]
    distances: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(
        cls, vectors: NDArray[np.float32], listed: NDArray[Any], far: NDArray[Any]
    ) -> Lists:
        """Take lists; no distance is computed yet."""
        # np.empty takes no memory before it is written to.
        distances = np.empty(listed.shape)
        known = np.zeros(len(far), bool)
        return cls(vectors, listed, np.asarray(far, np.float64), distances, known)

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances to the listed words, (j, k); ids (j,) >= 0."""
        new = np.unique(ids[~self.known[ids]])
        for begin in range(0, len(new), 64):
            part = new[begin : begin + 64]
            vectors = self.vectors[part].astype(np.float64)
            others = self.vectors[self.listed[part]].astype(np.float64)
            others -= vectors[:, None, :]
            self.distances[part] = np.sqrt(np.einsum("mkd,mkd->mk", others, others))
            self.known[part] = True
        return self.distances[ids]


@dataclass(frozen=True)
class Near:
    """The lists of all inputs, and longer ones of the most frequent words.

    Which list serves a word depends on the lexicon alone, so that draws do not depend
    on the batch.
    """

    space: Space
    every: Lists
    squares: NDArray[np.float64] = field(repr=False)
    # The last sums of weights that the Bayes risk asked for (dptext.mechanisms._tiles).
    kept: dict[Any, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, space: Space) -> Near:
        """Take the space's neighbours."""
        squares = np.einsum(
            "vd,vd->v", space.vectors, space.vectors, dtype=np.float64, casting="safe"
        )
        return cls(space, Lists.of(space.vectors, *space.neighbours), squares)

    @cached_property
    def frequent(self) -> Lists:
        """Return the longer lists."""
        return Lists.of(self.space.vectors, *self.space.wide_neighbours)


def choose(near: Near, ids: Ids, eps: Eps, score: Score, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    rows = ids.astype(np.int64) % (near.space.size + 1)
    drawn = np.empty(len(ids), np.int32)
    wide = rows < len(near.frequent.known)
    for lists, positions in (
        (near.frequent, np.flatnonzero(wide)),
        (near.every, np.flatnonzero(~wide)),
    ):
        if len(positions):
            table = _Table.of(near, lists, rows[positions], eps[positions], score)
            drawn[positions] = _draw(table, bits.take(positions))
    return drawn


def _draw(table: _Table, bits: RandomBits) -> NDArray[np.int64]:
    """Attempt until every word is drawn: (n,)."""
    drawn = np.empty(len(bits), np.int64)
    left = np.arange(len(bits))
    lane = 0
    while len(left):
        # Few words left: several attempts of each at once; the first accepted counts,
        # so the draw does not depend on how many are made together.
        tries = int(np.clip(_CHUNK // len(left), 1, _TRIES))
        integers = bits.take(left).integers(lane, 2 * tries).reshape(-1, 4)
        found = table.attempt(np.repeat(table.kind[left], tries), integers)
        found = found.reshape(len(left), tries)
        accepted = found >= 0
        first = accepted.argmax(axis=1)
        done = accepted[np.arange(len(left)), first]
        drawn[left[done]] = found[done, first[done]]
        left = left[~done]
        lane += 2 * tries
    return drawn


@dataclass(frozen=True, slots=True)
class _Table:
    """What a batch needs for each distinct pair of word and epsilon (m of them).

    kind (n,) the pair of each word; ids, eps (m,); ceiling (m,) ln c; cumulative (m, k)
    weights of the listed words in excess of c, over the largest weight of the pair;
    total (m,) with the floor.
    """

    near: Near
    lists: Lists
    score: Score
    kind: NDArray[np.intp]
    ids: NDArray[np.int64]
    eps: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    total: NDArray[np.float64]

    @classmethod
    def of(
        cls, near: Near, lists: Lists, ids: NDArray[np.int64], eps: Eps, score: Score
    ) -> _Table:
        """Find the distinct pairs and their weights."""
        rows, values, kind = _pairs(ids, eps, near.space.size + 1)
        wide = values[:, None]
        distances = lists.rows(rows)
        # With all of V listed any c serves; infinity is no distance.
        far = np.minimum(lists.far[rows], distances.max(axis=1))[:, None]
        ceiling = wide * score(far, wide)
        weights = wide * score(distances, wide)
        # Divided by the largest, so that no weight overflows.
        top = np.maximum(weights.max(axis=1, keepdims=True), ceiling)
        floor = np.exp(ceiling - top)
        weights -= top
        np.exp(weights, out=weights)
        weights -= floor
        np.maximum(weights, 0.0, out=weights)
        cumulative = np.cumsum(weights, axis=1, out=weights)
        total = cumulative[:, -1] + near.space.size * floor[:, 0]
        return cls(
            near, lists, score, kind, rows, values, ceiling[:, 0], cumulative, total
        )

    def attempt(
        self, kind: NDArray[np.intp], integers: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Make one attempt for each row of bits (m, 4): a word, or -1 if refused."""
        target = RandomBits.unit(integers[:, 0]) * self.total[kind]
        inside = target < self.cumulative[kind, -1]
        words = RandomBits.below(integers[:, 1], self.near.space.size)
        beyond = np.flatnonzero(~inside)
        taken = self._accepts(
            kind[beyond], words[beyond], RandomBits.unit(integers[beyond, 2])
        )
        words[beyond[~taken]] = -1
        listed = np.flatnonzero(inside)
        ranks = _count(self.cumulative, kind[listed], target[listed])
        words[listed] = self.lists.listed[self.ids[kind[listed]], ranks]
        return words

    def _accepts(
        self,
        kind: NDArray[np.intp],
        words: NDArray[np.int64],
        uniform: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Tell which proposals are taken: uniform < min(w(y), c) / c, exactly.

        Single precision decides where its error bound leaves no doubt, float64
        elsewhere.
        """
        space = self.near.space
        ids = self.ids[kind]
        squared = _squared(space, ids, words)
        lengths = self.near.squares[ids] + self.near.squares[words]
        error = space.vectors.shape[1] * 2.0**-21 * lengths + 1e-12
        surely = uniform < self._chance(kind, np.sqrt(squared + error))
        perhaps = uniform < self._chance(kind, np.sqrt(np.maximum(squared - error, 0)))
        doubt = np.flatnonzero(perhaps & ~surely)
        exact = _between(space, ids[doubt], words[doubt])
        surely[doubt] = uniform[doubt] < self._chance(kind[doubt], exact)
        return surely

    def _chance(
        self, kind: NDArray[np.intp], distance: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        wide = self.eps[kind][:, None]
        excess = (wide * self.score(distance[:, None], wide))[:, 0]
        excess -= self.ceiling[kind]
        chance: NDArray[np.float64] = np.exp(np.minimum(excess, 0.0))
        return chance


def _count(
    cumulative: NDArray[np.float64],
    which: NDArray[np.intp],
    target: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the entries of each word's row that are at most its target: (n,).

    First in steps of _STEP entries, then within the step. Each target is below its
    row's last entry.
    """
    steps = cumulative[:, _STEP - 1 :: _STEP]
    padded = cumulative.shape[1] - _STEP
    ranks = np.zeros(len(which), np.int64)
    inner = np.arange(_STEP)
    for begin in range(0, len(which), _CHUNK):
        rows, wanted = (
            which[begin : begin + _CHUNK],
            target[begin : begin + _CHUNK, None],
        )
        if padded <= 0:
            ranks[begin : begin + _CHUNK] = (cumulative[rows] <= wanted).sum(axis=1)
            continue
        start = np.minimum((steps[rows] <= wanted).sum(axis=1) * _STEP, padded)
        part = cumulative[rows[:, None], start[:, None] + inner]
        ranks[begin : begin + _CHUNK] = start + (part <= wanted).sum(axis=1)
    return ranks


def _pairs(
    ids: NDArray[np.int64], eps: Eps, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct (row, epsilon) pairs and the pair of each word."""
    values, code = np.unique(eps, return_inverse=True)
    keys = code.astype(np.int64) * rows + ids
    if len(values) * rows <= 64 * len(ids) + 2**20:
        used = np.zeros(len(values) * rows, bool)
        used[keys] = True
        found = np.flatnonzero(used)
        kind = (np.cumsum(used) - 1)[keys]
    else:
        found, kind = np.unique(keys, return_inverse=True)
    return found % rows, values[found // rows], kind


def log_weights(space: Space, ids: Ids, eps: Eps, score: Score) -> NDArray[np.float64]:
    """Return eps * score(d(x, y)) for all of V: (n, V) float64."""
    eps_of = eps[:, None]
    distance = distances(space, ids.astype(np.int64), 0, space.size)
    law: NDArray[np.float64] = eps_of * score(distance, eps_of)
    return law


def distances(
    space: Space, ids: NDArray[np.int64], begin: int, end: int
) -> NDArray[np.float64]:
    """Return the distances of some rows to the words begin to end: (n, end - begin)."""
    vectors, squares = space.precise
    distance: NDArray[np.float64] = (-2.0 * vectors[ids]) @ vectors[begin:end].T
    distance += squares[None, begin:end]
    distance += squares[ids][:, None]
    # Tiny distances are lost in the sums of squares: those by direct differences.
    rows, words = np.nonzero(distance < _TINY * float(squares.max()))
    np.maximum(distance, 0.0, out=distance)
    np.sqrt(distance, out=distance)
    distance[rows, words] = _between(space, ids[rows], begin + words)
    return distance


def of_pairs(space: Space, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return the distances of pairs of inputs, -1 the unknown word: (n,) float64."""
    rows = space.size + 1
    return _between(space, a.astype(np.int64) % rows, b.astype(np.int64) % rows)


def _squared(
    space: Space, ids: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the squared distances of pairs of rows, in single precision: (m,)."""
    width = space.vectors.shape[1]
    out = np.empty(len(ids))
    left, right = np.empty((2, min(_CHUNK, len(ids)), width), np.float32)
    for begin in range(0, len(ids), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        count = len(ids[part])
        np.take(space.vectors, ids[part], axis=0, out=left[:count], mode="clip")
        np.take(space.vectors, others[part], axis=0, out=right[:count], mode="clip")
        left[:count] -= right[:count]
        out[part] = np.einsum("md,md->m", left[:count], left[:count])
    return out


def _between(
    space: Space, ids: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the distances of pairs of rows, (m,) float64."""
    out = np.empty(len(ids))
    for begin in range(0, len(ids), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        gap = space.vectors[ids[part]].astype(np.float64)
        gap -= space.vectors[others[part]]
        out[part] = np.sqrt(np.einsum("md,md->m", gap, gap))
    return out


def numerical_slack(near: Near, loss: float) -> float:
    """Return how far 52-bit uniforms may take a loss above its bound, in nats.

    loss is the bound at the diameter; the rarest output has probability at least
    exp(-loss / 2) / V, the borders between outputs are exact to the length of the
    longest list times 2^-52 (rounded sums), and a loss has two sides.
    """
    rounded = (near.frequent.listed.shape[1] + 8) * 2.0**-51
    return float(rounded * near.space.size * np.exp(min(loss, 600.0) / 2.0))
