"""TEM: the exponential mechanism of the truncated distance min(d, gamma).

The published two-step form (near words, one far element) is this law; see
docs/guarantees.md, 3. P(y|x) ~ exp(-eps min(d(x, y), gamma) / 2).

Guarantee: epsilon * min(d, gamma) (metric DP); epsilon * gamma LDP over V. With
recalibrate the law has a larger scale in place of epsilon, at the same gamma, found so
that the exact losses of all pairs keep this.
Source: Carvalho et al. 2021, algorithm 1, arXiv:2107.07928.
Known gaps: none in the law.
Example: dptext sanitize reviews.jsonl --mechanism tem --epsilon 13
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
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
    """gamma in distance units; when absent it follows from beta and epsilon.

    beta bounds the probability of an output farther than gamma. recalibrate raises the
    scale of the law as far as the exact losses allow; it looks at all pairs of words,
    for each epsilon once: minutes for 45 000 words.
    """

    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    recalibrate: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The nearest words of the space, and gamma or what gives it.

    scales is None where epsilon itself is the scale of the law.
    """

    near: _by_distance.Near
    gamma: float | None
    product: float
    scales: Scales | None

    def score(
        self, distances: NDArray[np.float64], eps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return -min(d, gamma) / 2, times eta / epsilon, by the epsilon of each row.

        The law is exp(epsilon * score).
        """
        gamma = self.product / eps if self.gamma is None else self.gamma
        factor: NDArray[np.float64] | float = -0.5
        if self.scales is not None:
            values, kind = np.unique(eps, return_inverse=True)
            raised = [law_scale(self, value) / value for value in values.tolist()]
            factor = -0.5 * np.array(raised)[kind].reshape(eps.shape)
        return np.minimum(distances, gamma) * factor


def wants_one_epsilon(params: Params) -> bool:
    """Tell whether public work must be done for each epsilon."""
    return params.recalibrate


def prepare(params: Params, space: Space) -> State:
    """Take the space's nearest words and fix gamma, or epsilon * gamma.

    gamma = (2 / eps) ln((1 - beta)(V - 1) / beta), so that an output farther than gamma
    has probability at most beta.
    """
    odds = (1.0 - params.beta) * (space.size - 1) / params.beta
    product = 2.0 * math.log(max(odds, 1.0 + 1e-9))
    scales = Scales(space) if params.recalibrate else None
    return State(_by_distance.Near.of(space), params.gamma, product, scales)


def check(state: State, epsilon: float) -> None:
    """Raise UsageError at an epsilon that cannot be recalibrated."""
    if state.scales is not None:
        state.scales.check(epsilon)


def law_scale(state: State, epsilon: float) -> float:
    """Return eta: the law is exp(-eta min(d, gamma) / 2), the claim epsilon min."""
    if state.scales is None:
        return epsilon
    return state.scales.at(epsilon, gamma_of(state, epsilon))


def gamma_of(state: State, epsilon: float) -> float:
    """Return gamma at an epsilon."""
    return state.product / epsilon if state.gamma is None else state.gamma


def metric(
    state: State, epsilon: float, ids: NDArray[np.int64], begin: int, end: int
) -> NDArray[np.float64]:
    """Return min(d, gamma) from inputs to the words begin to end: (n, end - begin)."""
    apart = _by_distance.distances(state.near.space, ids, begin, end)
    return np.minimum(apart, gamma_of(state, epsilon), out=apart)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the truncated distance."""
    space = state.near.space
    fixed, raised = state.gamma is not None, state.scales is not None
    max_distance = space.geometry.diameter
    if state.gamma is not None:
        max_distance = min(state.gamma, max_distance)
    # With gamma from beta, epsilon times gamma is the same for every epsilon.
    most = math.inf if fixed else state.product
    varying_epsilon = VaryingEpsilon(
        word=max_distance, total=max_distance, drift=max_distance / 2.0, most=most / 2.0
    )
    return Guarantee(
        notion=Notion.METRIC,
        metric=replace(space.distance, cut=state.gamma),
        unit="1/distance",
        max_distance=max_distance,
        source="Carvalho et al. 2021, algorithm 1"
        + (", recalibrated" if raised else ""),
        gaps=(told(epsilon, law_scale(state, epsilon)),) if raised else (),
        # Raised scales of two epsilons may lie apart more than these do.
        varying_epsilon=None if raised else varying_epsilon,
        max_loss=most,
        stretch=1.0,
    )


def claimed(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return epsilon min(d, gamma) for pairs of inputs, (n,) nats."""
    apart = _by_distance.of_pairs(state.near.space, a, b)
    return epsilon * np.minimum(apart, gamma_of(state, epsilon))


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    return _by_distance.choose(state.near, ids, eps, state.score, bits)


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return -eta min(d, gamma) / 2 for all outputs, eta epsilon or raised: (n, V)."""
    return _by_distance.log_weights(state.near.space, ids, eps, state.score)


def _law(state: State, epsilon: float) -> _tiles.Law:
    rate = np.full(state.near.space.size, law_scale(state, epsilon) / 2.0)
    return _tiles.Law(state.near, rate, gamma_of(state, epsilon))


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
    max_distance = min(gamma_of(state, epsilon), state.near.space.geometry.diameter)
    return _by_distance.numerical_slack(
        state.near, law_scale(state, epsilon) * max_distance
    )
