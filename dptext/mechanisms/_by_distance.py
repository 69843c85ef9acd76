"""Exact draws from P(y|x) proportional to exp(eps * score(d(x, y))).

The score is a non-increasing function of the distance. No row over the whole vocabulary
is needed: the nearest k words of x are listed, and every other word is at least far[x]
away. With c = exp(eps * score(far[x])) the weights divide into

    w(y) = max(w(y) - c, 0)   on the listed words,  plus
           min(w(y), c)       on all of V, drawn by proposing a uniform word and
                              accepting it with probability min(w(y), c) / c.

A refused proposal starts the draw anew, so the law is exactly w / sum(w), with relative
accuracy also for rare words (GUARANTEES, section 8: accept or reject), for any epsilon
per word, in memory that does not grow with V. Distances and weights are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Ids

# score(distances (m, j), eps (m, 1)) -> (m, j), non-increasing along distances
Score = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Near:
    """The listed words of each input, with distances that are filled in as needed."""

    space: Space
    listed: NDArray[Any]
    far: NDArray[np.float64]
    distances: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(cls, space: Space) -> Near:
        """Take the space's neighbours; no distance is computed yet."""
        listed, far = space.neighbours
        # np.empty takes no memory before it is written to.
        distances = np.empty(listed.shape)
        return cls(
            space, listed, np.asarray(far, np.float64), distances, np.zeros(len(far), bool)
        )

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances to the listed words, (m, k); ids (m,) may hold -1."""
        ids = ids % len(self.known)
        new = np.unique(ids[~self.known[ids]])
        for begin in range(0, len(new), 256):
            part = new[begin : begin + 256]
            vectors = self.space.vectors[part].astype(np.float64)
            others = self.space.vectors[self.listed[part]].astype(np.float64)
            others -= vectors[:, None, :]
            self.distances[part] = np.sqrt(np.einsum("mkd,mkd->mk", others, others))
            self.known[part] = True
        return self.distances[ids]


def choose(near: Near, ids: Ids, eps: Eps, score: Score, noise: Noise) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    pairs = np.stack((ids.astype(np.float64), eps))
    kinds, which = np.unique(pairs, axis=1, return_inverse=True)
    which = which.ravel()
    of_kind = kinds[0].astype(np.int64)
    eps_of = kinds[1][:, None]
    ceiling = eps_of * score(near.far[of_kind][:, None], eps_of)
    # All weights of a kind are divided by its c.
    listed = np.exp(eps_of * score(near.rows(of_kind), eps_of) - ceiling)
    cumulative = np.cumsum(np.maximum(listed - 1.0, 0.0), axis=1)
    size = near.space.size
    drawn = np.empty(len(ids), np.int32)
    left = np.arange(len(ids))
    lane = 0
    while len(left):
        bits = noise.take(left).bits(lane, 2)
        kind = which[left]
        target = _unit(bits[:, 0]) * (cumulative[kind, -1] + size)
        ranks = _count(cumulative, kind, target)
        words = noise.below(bits[:, 1], size).astype(np.int32)
        done = ranks < cumulative.shape[1]
        drawn[left[done]] = near.listed[of_kind[kind[done]], ranks[done]]
        rest = np.flatnonzero(~done)
        distance = _between(near.space, of_kind[kind[rest]], words[rest])
        wide = eps_of[kind[rest]]
        accept = np.exp(
            wide * score(distance[:, None], wide) - ceiling[kind[rest]]
        ).ravel()
        taken = _unit(bits[rest, 2]) < accept
        drawn[left[rest[taken]]] = words[rest[taken]]
        left = left[rest[~taken]]
        lane += 2
    return drawn


def log_weights(space: Space, ids: Ids, eps: Eps, score: Score) -> NDArray[np.float64]:
    """Return eps * score(d(x, y)) for all of V: (n, V) float64."""
    wide = space.vectors[: space.size].astype(np.float64)
    rows = space.vectors[ids].astype(np.float64)
    squares = np.einsum("vd,vd->v", wide, wide)
    own = np.einsum("nd,nd->n", rows, rows)
    distance = np.maximum(own[:, None] + squares[None, :] - 2.0 * (rows @ wide.T), 0.0)
    np.sqrt(distance, out=distance)
    eps_of = eps[:, None]
    law: NDArray[np.float64] = eps_of * score(distance, eps_of)
    return law


def _unit(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    uniform: NDArray[np.float64] = (
        (bits >> np.uint64(12)).astype(np.float64) + 0.5
    ) * 2.0**-52
    return uniform


def _count(
    cumulative: NDArray[np.float64],
    which: NDArray[np.intp],
    target: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the entries of each word's row that are at most its target: (n,)."""
    ranks = np.full(len(which), cumulative.shape[1], np.int64)
    inside = np.flatnonzero(target < cumulative[which, -1])
    for begin in range(0, len(inside), _CHUNK):
        part = inside[begin : begin + _CHUNK]
        rows = cumulative[which[part]]
        ranks[part] = (rows <= target[part, None]).sum(axis=1)
    return ranks


def _between(
    space: Space, ids: NDArray[np.int64], others: Ids
) -> NDArray[np.float64]:
    """Return the distances of pairs of rows, (m,) float64."""
    out = np.empty(len(ids))
    for begin in range(0, len(ids), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        gap = space.vectors[ids[part]].astype(np.float64)
        gap -= space.vectors[others[part]]
        out[part] = np.sqrt(np.einsum("md,md->m", gap, gap))
    return out
