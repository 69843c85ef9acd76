"""SanText: the exponential mechanism over the vocabulary, P(y|x) ~ exp(-eps d / 2).

Guarantee: epsilon * d (metric DP) for every pair of words, d the Euclidean distance in
the space; epsilon * diameter LDP over V.
Source: Yue et al., Findings of ACL 2021, algorithm 1, arXiv:2106.01221.
Known gaps: none in the law. Unknown words are covered here by one public vector, not
kept or drawn from private words as in the published code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import _by_distance
from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Uneven

FAMILY = "choice"
METRIC_LAW = True


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters: the budget alone sets the law."""


State = _by_distance.Near


def prepare(params: Params, space: Space) -> State:
    """Take the space's nearest words."""
    return _by_distance.Near.of(space)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the space's distance."""
    reach = state.space.geometry.diameter
    return Guarantee(
        notion="metric-DP",
        metric=state.space.metric,
        unit="1/distance",
        reach=reach,
        source="Yue et al. 2021, algorithm 1",
        uneven=Uneven(word=reach, total=reach, drift=reach / 2.0),
    )


def _score(
    distances: NDArray[np.float64], eps: NDArray[np.float64]
) -> NDArray[np.float64]:
    return distances * -0.5


def choose(state: State, ids: Ids, eps: Eps, noise: Noise) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    return _by_distance.choose(state, ids, eps, _score, noise)


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return -eps d(x, y) / 2 for all outputs: (n, V) float64."""
    return _by_distance.log_weights(state.space, ids, eps, _score)


def resolution(state: State, epsilon: float) -> float:
    """Return the nats that finite uniforms may add to the loss."""
    return _by_distance.resolution(state, epsilon * state.space.geometry.diameter)
