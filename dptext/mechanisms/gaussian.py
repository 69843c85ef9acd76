"""Gaussian noise on clipped vectors, calibrated by the exact (epsilon, delta) formula.

c(x) = v min(1, C / |v|); z = c(x) + N(0, sigma^2 I); the mapping looks for the nearest
c(w). Two words at distance D = |c(x) - c(x')| differ by mu = D / sigma (Gaussian DP),
and delta(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
sigma is the least for which this is at most delta at the largest D over V.

Guarantee: (epsilon, delta)-LDP over all of V and unknown words, and mu-Gaussian DP with
mu = (largest D) / sigma. n words that may all differ: mu sqrt(n); in general
sqrt(sum of D^2) / sigma. No amplification by sampling is claimed: a text's own release
hides neither who takes part nor which output is whose.
Source: Balle and Wang 2018, theorem 8, arXiv:1805.06530; Dong, Roth and Su 2019,
arXiv:1905.02383; docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; only the word is released, never the
noisy vector. The sensitivity of clipped vectors is up to 2 C, not the C of published
clipping layers.
Example: dptext sanitize reviews.jsonl --mechanism gaussian --epsilon 8
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.mechanisms import _noise
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space, geometry_of
from dptext.types import ONE, Eps, Guarantee, Ids, Notion, Points

FAMILY = "noise"


@dataclass(frozen=True, slots=True)
class Params:
    """clip: C; delta: the chance left over, for each word.

    sensitivity: the largest distance of clipped vectors, exact over the "vocabulary"
    or, whatever the vocabulary, the "worst" case 2 C.
    """

    clip: Annotated[float, Meta(ge=1e-9, le=1e9)] = 1.0
    # Normals of 52-bit uniforms end at 8.6 sigma: a smaller delta is not kept.
    delta: Annotated[float, Meta(ge=1e-12, lt=1)] = 1e-5
    sensitivity: Literal["vocabulary", "worst"] = "vocabulary"


@dataclass(frozen=True)
class State:
    """clipped (V + 1, d) float32: c of every row."""

    params: Params
    space: Space
    clipped: NDArray[np.float32] = field(repr=False)

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances over V of the clipped vectors."""
        return geometry_of(
            self.space, lambda: self.clipped, "gaussian", float(self.params.clip)
        )

    @cached_property
    def sensitivity(self) -> float:
        """Return the largest distance that the noise must hide, rounded up."""
        if self.params.sensitivity == "worst":
            # Clipped vectors are rounded to float32.
            return 2.0 * self.params.clip * (1.0 + 2.0**-22)
        return self.geometry.diameter * (1.0 + 1e-12)


def prepare(params: Params, space: Space) -> State:
    """Clip every vector."""
    wide = space.vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    wide /= np.maximum(1.0, lengths / params.clip)
    return State(params, space, wide.astype(np.float32))


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return (epsilon, delta)-LDP over the whole vocabulary."""
    delta = state.params.delta
    return Guarantee(
        notion=Notion.APPROXIMATE,
        metric=ONE,
        unit="nats",
        max_distance=1.0,
        source="Balle and Wang 2018, theorem 8",
        delta=delta,
        mu=mu_of(epsilon, delta),
    )


def positions(state: State) -> NDArray[np.float32]:
    """Return where the words lie for a mapping: the clipped vectors, (V + 1, d)."""
    return state.clipped


def sigma_of(state: State, epsilon: float) -> float:
    """Return the standard deviation of the noise in each coordinate."""
    return state.sensitivity / mu_of(epsilon, state.params.delta)


def perturb(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
    """Move each word's clipped vector: ids (n,), eps (n,) nats -> (n, d) float32."""
    width = state.clipped.shape[1]
    sigma = _sigmas(state, eps)[:, None]
    return _noise.moved(state.clipped[ids], bits.normal(0, width) * sigma)


def _sigmas(state: State, eps: Eps) -> NDArray[np.float64]:
    """Return the standard deviation of each epsilon: (n,)."""
    values, which = np.unique(eps, return_inverse=True)
    return np.array([sigma_of(state, float(value)) for value in values])[which]


def standard(
    state: State, ids: Ids, points: Points, eps: Eps
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the noise as unit directions and Gamma(d/2) amounts |z|^2 / 2 sigma^2."""
    bits = points.astype(np.float64) - state.clipped[ids]
    directions, lengths = _noise.directed(bits / _sigmas(state, eps)[:, None])
    return directions, lengths**2 / 2.0, bits.shape[1] / 2.0


def log_density(
    state: State, points: NDArray[np.floating], eps: Eps, words: Ids
) -> NDArray[np.floating]:
    """Return -|z - c(v)|^2 / (2 sigma^2) of each point at each word: (n, m)."""
    found = _noise.squared_distances(points, state.clipped[words])
    with np.errstate(divide="ignore"):
        return _noise.fallen(found, 0.5 / _sigmas(state, eps) ** 2)


@lru_cache(maxsize=4096)
def mu_of(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta(epsilon; mu) <= delta, by bisection."""
    low, high = 0.0, 1.0
    while delta_of(epsilon, high) <= delta:
        low, high = high, 2.0 * high
    middle = (low + high) / 2.0
    while low < middle < high:
        if delta_of(epsilon, middle) <= delta:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2.0
    # Rounded down by more than the error of the formula.
    return low * (1.0 - 1e-12) - 1e-15


def delta_of(epsilon: float, mu: float) -> float:
    """Return the exact delta at epsilon of two normal laws mu apart.

    With a = epsilon/mu - mu/2 and b = epsilon/mu + mu/2, e^epsilon phi(b) = phi(a), so
    that delta = phi(a) (R(a) - R(b)), R(t) = Phi(-t) / phi(t): nothing overflows.
    """
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    density = math.exp(-(near**2) / 2.0) / math.sqrt(2.0 * math.pi)
    if near < 0.0:
        return _upper(near) - density * mills(far)
    return density * (mills(near) - mills(far))


def _upper(value: float) -> float:
    """Return Phi(-value), the chance of a standard normal beyond value."""
    return math.erfc(value / math.sqrt(2.0)) / 2.0


def mills(value: float) -> float:
    """Return the chance beyond value >= 0 over the density there."""
    if value < 5.0:
        return _upper(value) * math.sqrt(2.0 * math.pi) * math.exp(value**2 / 2.0)
    # Laplace's continued fraction 1 / (t + 1 / (t + 2 / (t + ...))), from its end.
    tail = value
    for step in range(160, 0, -1):
        tail = value + step / tail
    return 1.0 / tail
