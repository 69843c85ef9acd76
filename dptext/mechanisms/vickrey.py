"""Vickrey, as published: no guarantee, for comparison only.

The word's vector with multivariate Laplace noise; then the nearest word but for the
input word, or the second nearest but for it, with probabilities from their distances
d1, d2 to the noisy point: the nearest with (1 - t) d2 / (t d1 + (1 - t) d2).

Guarantee: none. Leaving the input word out looks at it again: it is never written for
itself and may be written for every other word, so that an output rules out one input
for sure, and the loss of every pair is infinite at every epsilon.
Instead: laplace with mapping two-nearest, the same rule over the full vocabulary: it
looks at the noisy vector alone, so that the epsilon * d of the noise holds.
Source: Xu et al., PrivateNLP 2021, algorithm 1, arXiv:2104.11838.
Known gaps: as above. Unknown words are not in the vocabulary, so nothing is left out
for them.
Example: dptext sanitize reviews.jsonl --mechanism vickrey --epsilon 50
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.mechanisms import _by_distance, laplace
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Points

if TYPE_CHECKING:
    from dptext.mappings import Index

FAMILY = "choice"
# log_weights is not to be asked: the law has no closed form.
EXACT = False
_CHUNK = 4096
# Above the lanes of laplace.
_LANE = 1 << 29


@dataclass(frozen=True, slots=True)
class Params:
    """t: 0 takes the nearest always, 1 the second nearest always."""

    t: Annotated[float, Meta(ge=0, le=1)] = 0.5


@dataclass(frozen=True, slots=True)
class State:
    """The space, ready for laplace; its index is built when it is first asked for."""

    params: Params
    space: Space
    bits: laplace.State
    kept: list[Any] = field(default_factory=list, repr=False)

    def index(self) -> Index:
        """Return the exact nearest-word index of the space."""
        if not self.kept:
            from dptext.mappings import Index

            self.kept.append(Index(self.space.vectors, self.space.size))
        found: Index = self.kept[0]
        return found


def prepare(params: Params, space: Space) -> State:
    """Take the space; UsageError where too few words are left without the input."""
    if space.size < 3:
        msg = (
            "mechanism vickrey: needs at least three words; use laplace with mapping "
            "two-nearest instead"
        )
        raise UsageError(msg)
    return State(params, space, laplace.prepare(laplace.Params(), space))


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return none, with the reason."""
    return Guarantee.nothing(
        (
            "the input word is left out of the search, so that it is never written for "
            "itself but may be written for any other word: every output rules out one "
            "input for sure, at every epsilon. Use laplace with mapping two-nearest "
            "instead."
        ),
        source="Xu et al. 2021, algorithm 1, arXiv:2104.11838",
        unit="1/distance",
    )


def least_loss(state: State) -> float:
    """Return a proven lower bound on the loss of every pair, at every epsilon: inf."""
    return float("inf")


def least_pair(state: State) -> tuple[int, int]:
    """Return two words x, x' whose loss, by the output x, least_loss bounds.

    Any two: x' may become x, x never does.
    """
    return 1, 0


def published(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what the paper claims of pairs of words, epsilon d: (n,) nats.

    inf for the unknown word, of which it says nothing.
    """
    bound = epsilon * _by_distance.of_pairs(state.space, a, b)
    return np.where((a < 0) | (b < 0), np.inf, bound)


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    drawn = np.empty(len(ids), np.int32)
    for begin in range(0, len(ids), _CHUNK):
        part = np.arange(begin, min(begin + _CHUNK, len(ids)))
        drawn[part] = _draw(state, ids[part], eps[part], bits.take(part))
    return drawn


def _draw(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> NDArray[np.int64]:
    points = laplace.perturb(state.bits, ids, eps, bits)
    return _written(state, ids, points, state.index().nearest(points, 3), bits)


def _written(
    state: State,
    ids: Ids,
    points: Points,
    three: NDArray[np.int64],
    bits: RandomBits,
) -> NDArray[np.int64]:
    """Choose between the two nearest words but for the input: (n,)."""
    # The two places left when the input word, if it is among the three, is taken out.
    others = three != ids[:, None]
    others[others.all(axis=1), 2] = False
    pair = three[others].reshape(-1, 2)
    second = bits.uniform(_LANE)[:, 0] >= _first(state, points, pair)
    drawn: NDArray[np.int64] = np.where(second, pair[:, 1], pair[:, 0])
    return drawn


def _first(
    state: State, points: Points, pair: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the probability of the first of two words at each point: (n,)."""
    t, index = state.params.t, state.index()
    far = (1.0 - t) * index.distances(points, pair[:, 1])
    both = t * index.distances(points, pair[:, 0]) + far
    return np.divide(far, both, out=np.ones_like(far), where=both > 0)


def reveal(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> NDArray[np.float32]:
    """Return the noisy vector, and what the word y written there says: (n, d + 5).

    Appended are the nearest and the second nearest word's rows, exact in float32, and
    ln P(y | the vector, x) for x the nearest, the second nearest, any other word.
    """
    points = laplace.perturb(state.bits, ids, eps, bits)
    three = state.index().nearest(points, 3)
    written = _written(state, ids, points, three, bits)
    told: list[NDArray[Any]] = [points, three[:, :2]]
    for positions in ([1, 2], [0, 2], [0, 1]):
        pair = three[:, positions]
        first = _first(state, points, pair)
        chance = np.where(written == pair[:, 0], first, 0.0)
        chance += np.where(written == pair[:, 1], 1.0 - first, 0.0)
        with np.errstate(divide="ignore"):
            told.append(np.log(chance)[:, None])
    return np.hstack(told).astype(np.float32)


def log_density(
    state: State, points: NDArray[np.floating], eps: Eps, words: Ids
) -> NDArray[np.floating]:
    """Return ln of the density of what `reveal` gave, for each of the words: (n, m)."""
    near, second, if_near, if_second, other = points[:, -5:].T
    found = laplace.log_density(state.bits, points[:, :-5], eps, words)
    rows, columns, values = [], [], []
    order = np.argsort(words)
    for excluded, chance in ((near, if_near), (second, if_second)):
        at = np.minimum(np.searchsorted(words, excluded, sorter=order), len(words) - 1)
        here = np.flatnonzero(words[order[at]] == excluded)
        rows.append(here)
        columns.append(order[at[here]])
        values.append(found[here, columns[-1]] + chance[here])
    found += other[:, None]
    found[np.concatenate(rows), np.concatenate(columns)] = np.concatenate(values)
    return found


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Raise UsageError: the law is an integral over the cells of pairs of words."""
    msg = "the law of vickrey has no closed form; it can only be sampled"
    raise UsageError(msg)
