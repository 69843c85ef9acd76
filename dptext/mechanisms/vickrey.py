"""Vickrey, as published: no guarantee, for comparison only.

The word's vector with multivariate Laplace noise; then the nearest word but for the
input word, or the second nearest but for it, with probabilities from their distances
d1, d2 to the noisy point: the nearest with (1 - t) d2 / (t d1 + (1 - t) d2).

Guarantee: none. Leaving the input word out looks at it again: it is never written for
itself and may be written for every other word, so that an output rules out one input
for sure, and the loss of every pair is infinite at every epsilon. Use laplace with
mapping two-nearest instead: the same rule over the full vocabulary.
Source: Xu et al., PrivateNLP 2021, algorithm 1, arXiv:2104.11838.
Known gaps: as above. Unknown words are not in the vocabulary, so nothing is left out
for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.mechanisms import laplace
from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids

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
    noise: laplace.State
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
    return Guarantee(
        notion="none",
        metric="none",
        unit="1/distance",
        reach=float("inf"),
        source="Xu et al. 2021, algorithm 1, arXiv:2104.11838",
        reason=(
            "the input word is left out of the search, so that it is never written for "
            "itself but may be written for any other word: every output rules out one "
            "input for sure, at every epsilon. Use laplace with mapping two-nearest "
            "instead."
        ),
    )


def least_loss(state: State) -> float:
    """Return a proven lower bound on the loss of every pair, at every epsilon: inf."""
    return float("inf")


def choose(state: State, ids: Ids, eps: Eps, noise: Noise) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    drawn = np.empty(len(ids), np.int32)
    for begin in range(0, len(ids), _CHUNK):
        part = np.arange(begin, min(begin + _CHUNK, len(ids)))
        drawn[part] = _draw(state, ids[part], eps[part], noise.take(part))
    return drawn


def _draw(state: State, ids: Ids, eps: Eps, noise: Noise) -> NDArray[np.int64]:
    t, index = state.params.t, state.index()
    points = laplace.perturb(state.noise, ids, eps, noise)
    three = index.nearest(points, 3)
    # The two places left when the input word, if it is among the three, is taken out.
    others = three != ids[:, None]
    others[others.all(axis=1), 2] = False
    pair = three[others].reshape(-1, 2)
    far = (1.0 - t) * index.distances(points, pair[:, 1])
    both = t * index.distances(points, pair[:, 0]) + far
    first = np.divide(far, both, out=np.ones_like(far), where=both > 0)
    second = noise.uniform(_LANE)[:, 0] >= first
    drawn: NDArray[np.int64] = np.where(second, pair[:, 1], pair[:, 0])
    return drawn


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Raise UsageError: the law is an integral over the cells of pairs of words."""
    msg = "the law of vickrey has no closed form; it can only be sampled"
    raise UsageError(msg)
