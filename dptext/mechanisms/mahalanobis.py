"""Regularised Mahalanobis noise: Laplace noise stretched along the words' spread.

M = lam S + (1 - lam) I, S the public covariance of the V word vectors scaled to trace
d; z = v + r M^(1/2) u, r ~ Gamma(d, 1 / eps), u a uniform direction.

Guarantee: epsilon * d_RM (metric DP) for each word, whatever mapping follows, with
d_RM(x, x') = sqrt((v - v')' M^-1 (v - v')). In the Euclidean distance epsilon counts
max d_RM / d_2 times, at most 1 / sqrt(1 - lam).
Source: Xu et al. 2020, algorithm 1, arXiv:2010.11947; docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; only the word is released, never the
noisy vector. An epsilon here and the same epsilon of laplace speak of two metrics.
Example: dptext sanitize reviews.jsonl --mechanism mahalanobis --epsilon 50
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache
from dptext.mechanisms import _noise
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space, _lipschitz, geometry_of, stretched
from dptext.types import Eps, Guarantee, Ids, Metric, MetricKind, Notion, Points

FAMILY = "noise"
_BLOCK = 4096
# With more rows than this, the Euclidean factor is bounded by M's least eigenvalue.
_PAIRED = 2**16


@dataclass(frozen=True, slots=True)
class Params:
    """lam: 0 is Laplace noise, towards 1 the noise follows the words' covariance."""

    lam: Annotated[float, Meta(ge=0, lt=1)] = 0.2


@dataclass(frozen=True)
class State:
    """root (d, d) is M^(1/2), inverse (d, d) M^(-1/2); least M's least eigenvalue."""

    space: Space
    lam: float
    root: NDArray[np.float64] = field(repr=False)
    inverse: NDArray[np.float64] = field(repr=False)
    least: float

    @property
    def key(self) -> tuple[object, ...]:
        """Return what decides the metric besides lexicon and space."""
        return ("mahalanobis", self.lam)

    def whitened(self) -> NDArray[np.float64]:
        """Return the vectors whose Euclidean distance is d_RM: (V + 1, d)."""
        vectors = self.space.vectors
        out = np.empty(vectors.shape)
        for begin in range(0, len(vectors), _BLOCK):
            part = vectors[begin : begin + _BLOCK].astype(np.float64)
            out[begin : begin + _BLOCK] = part @ self.inverse
        return out

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances over V in d_RM, the diameter rounded up."""
        found = geometry_of(
            self.space, lambda: self.whitened().astype(np.float32), *self.key
        )
        # Whitened vectors are measured in single precision.
        longest = np.linalg.norm(self.space.vectors, axis=1).max()
        slack = 2.0**-22 * float(longest) / math.sqrt(self.least)
        return Geometry(found.nearest, found.median, found.diameter + slack)

    @cached_property
    def euclidean(self) -> float:
        """Return max d_RM / d_2 over all pairs, rounded up."""
        vectors = self.space.vectors
        if len(vectors) > _PAIRED:
            return (1.0 + 1e-9) / math.sqrt(self.least)

        def compute() -> dict[str, float]:
            return {"factor": _lipschitz.constant(vectors, self.whitened())}

        def holds(kept: cache.Numbers) -> bool:
            most = float(kept["factor"])
            return stretched(vectors, self.whitened()) <= most

        digest, identity = self.space.lexicon.digest, self.space.identity
        key = cache.key_of("euclidean", digest, identity, *self.key)
        return float(cache.numbers(key, compute, holds)["factor"])


def prepare(params: Params, space: Space) -> State:
    """Take the covariance of the V word vectors and the roots of M."""
    width = space.vectors.shape[1]
    spread = covariance(space.vectors[: space.size])
    trace = float(np.trace(spread))
    # Words that all coincide spread nowhere: no direction is preferred.
    scaled = spread * (width / trace) if trace > 0.0 else np.eye(width)
    mixed = params.lam * scaled + (1.0 - params.lam) * np.eye(width)
    values, axes = np.linalg.eigh(mixed)
    # The scaled covariance has no negative eigenvalue, but for rounding.
    values = np.maximum(values, 1.0 - params.lam)
    root = (axes * np.sqrt(values)) @ axes.T
    inverse = (axes / np.sqrt(values)) @ axes.T
    return State(space, params.lam, root, inverse, float(values.min()))


def covariance(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the covariance of the rows, (n, d) -> (d, d), in float64."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    total = np.zeros((len(mean), len(mean)))
    for begin in range(0, len(vectors), _BLOCK):
        part = vectors[begin : begin + _BLOCK] - mean
        total += part.T @ part
    return total / len(vectors)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the Mahalanobis distance, with its Euclidean factor."""
    factor = math.ceil(state.euclidean * 1e4) / 1e4
    return Guarantee(
        notion=Notion.METRIC,
        metric=Metric(
            MetricKind.MAHALANOBIS,
            f"regularised Mahalanobis distance (lambda {state.lam:g}), which is at "
            f"most {factor:.4f} times the {state.space.metric}",
            f"{state.space.identity}, lambda {state.lam!r}",
        ),
        unit="1/distance",
        max_distance=state.geometry.diameter,
        source="Xu et al. 2020, algorithm 1",
        stretch=factor,
    )


def geometry(state: State, epsilon: float) -> Geometry:
    """Return nearest, median and largest distance in the guarantee's own metric."""
    return state.geometry


def euclidean_factor(state: State) -> float:
    """Return what epsilon counts in the Euclidean distance of the space, rounded up.

    The largest d_RM / d_2 over all pairs; 1 / sqrt of the least eigenvalue of M for
    vocabularies of more than 65 535 words.
    """
    return state.euclidean


def perturb(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
    """Move each word's vector: ids (n,), eps (n,) 1/distance -> (n, d) float32."""
    vectors = state.space.vectors
    drawn = _noise.radial(bits, vectors.shape[1], eps)
    return _noise.moved(vectors[ids], _noise.product(drawn, state.root))


def standard(
    state: State, ids: Ids, points: Points, eps: Eps
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the noise as unit directions and Gamma(d) amounts, for audits."""
    bits = (points.astype(np.float64) - state.space.vectors[ids]) @ state.inverse
    directions, lengths = _noise.directed(bits)
    return directions, eps * lengths, float(bits.shape[1])


def log_density(
    state: State, points: NDArray[np.floating], eps: Eps, words: Ids
) -> NDArray[np.floating]:
    """Return -eps d_RM(z, v) of each point at each of the words: (n, m)."""
    inverse = state.inverse.astype(points.dtype)
    positions = state.space.vectors[words] @ inverse
    found = _noise.squared_distances(points @ inverse, positions)
    return _noise.fallen(np.sqrt(found, out=found), eps)
