"""SanText: the exponential mechanism over the vocabulary, P(y|x) ~ exp(-eps d / 2).

Guarantee: epsilon * d (metric DP) for every pair of words, d the Euclidean distance in
the space; epsilon * diameter LDP over V. With recalibrate the law has a larger scale in
place of epsilon, found so that the exact losses of all pairs keep this.
Source: Yue et al., Findings of ACL 2021, algorithm 1, arXiv:2106.01221.
Known gaps: none in the law. Unknown words are covered here by one public vector, not
kept or drawn from private words as in the published code.
Example: dptext sanitize reviews.jsonl --mechanism santext --epsilon 13
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import _by_distance, _rough, _tiles
from dptext.mechanisms._recalibration import Scales, told
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Notion, VaryingEpsilon

FAMILY = "choice"
METRIC_LAW = True


@dataclass(frozen=True, slots=True)
class Params:
    """recalibrate raises the scale of the law as far as the exact losses allow.

    It looks at all pairs of words, for each epsilon once: minutes for 45 000 words.
    """

    recalibrate: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The nearest words of the space, and the raised scales where they are asked for.

    scales is None where epsilon itself is the scale.
    """

    near: _by_distance.Near
    scales: Scales | None

    def scaled(self, eps: Eps) -> Eps:
        """Return the scale of the law at each epsilon: (n,)."""
        if self.scales is None:
            return eps
        values, kind = np.unique(eps, return_inverse=True)
        found: Eps = np.array([self.scales.at(value) for value in values])[kind]
        return found


def wants_one_epsilon(params: Params) -> bool:
    """Tell whether public work must be done for each epsilon."""
    return params.recalibrate


def prepare(params: Params, space: Space) -> State:
    """Take the space's nearest words."""
    scales = Scales(space) if params.recalibrate else None
    return State(_by_distance.Near.of(space), scales)


def check(state: State, epsilon: float) -> None:
    """Raise UsageError at an epsilon that cannot be recalibrated."""
    if state.scales is not None:
        state.scales.check(epsilon)


def law_scale(state: State, epsilon: float) -> float:
    """Return eta: the law is exp(-eta d / 2), the claim epsilon d."""
    return epsilon if state.scales is None else state.scales.at(epsilon)


def metric(
    state: State, epsilon: float, ids: NDArray[np.int64], begin: int, end: int
) -> NDArray[np.float64]:
    """Return d from inputs to the words begin to end: (n, end - begin)."""
    return _by_distance.distances(state.near.space, ids, begin, end)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the space's distance."""
    space = state.near.space
    max_distance = space.geometry.diameter
    raised = state.scales is not None
    return Guarantee(
        notion=Notion.METRIC,
        metric=space.distance,
        unit="1/distance",
        max_distance=max_distance,
        source="Yue et al. 2021, algorithm 1" + (", recalibrated" if raised else ""),
        gaps=(told(epsilon, law_scale(state, epsilon)),) if raised else (),
        # Raised scales of two epsilons may lie apart more than these do.
        varying_epsilon=None
        if raised
        else VaryingEpsilon(
            word=max_distance, total=max_distance, drift=max_distance / 2.0
        ),
        stretch=1.0,
    )


def claimed(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return epsilon d for pairs of inputs, (n,) nats."""
    return epsilon * _by_distance.of_pairs(state.near.space, a, b)


def _score(
    distances: NDArray[np.float64], eps: NDArray[np.float64]
) -> NDArray[np.float64]:
    return distances * -0.5


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    return _by_distance.choose(state.near, ids, state.scaled(eps), _score, bits)


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return -eta d(x, y) / 2 for all outputs, eta as in law_scale: (n, V) float64."""
    return _by_distance.log_weights(state.near.space, ids, state.scaled(eps), _score)


def _law(state: State, epsilon: float) -> _tiles.Law:
    size = state.near.space.size
    return _tiles.Law(state.near, np.full(size, law_scale(state, epsilon) / 2.0))


def best_guesses(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V)."""
    return _tiles.best(_law(state, epsilon), prior, bands)


def risk_estimate(state: State, prior: NDArray[np.float64]) -> _rough.RiskEstimate:
    """Return an estimate of the Bayes risk at any epsilon, to search by."""
    return _rough.RiskEstimate(lambda epsilon: _law(state, epsilon), prior)


def numerical_slack(state: State, epsilon: float) -> float:
    """Return the nats that finite uniforms may add to the loss."""
    max_distance = state.near.space.geometry.diameter
    return _by_distance.numerical_slack(
        state.near, law_scale(state, epsilon) * max_distance
    )
