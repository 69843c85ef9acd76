"""Multivariate Laplace noise: a random direction, a Gamma(d, 1/eps) length.

Drawn as sqrt(2 G) / eps times a standard normal vector, G ~ Gamma((d + 1) / 2, 1).
Calibrated to the lexicon's own distance, the noise is longer by the exact Lipschitz
constant of the space: the same family with epsilon counted in another unit.

Guarantee: epsilon * d (metric DP) for each word, d the Euclidean distance in the space
or, calibrated, that of the lexicon's vectors, whatever mapping follows.
Source: Feyisetan et al., WSDM 2020, algorithm 1, arXiv:1910.08902 (CMP, with mapping
nearest); docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; only the word is released, never the
noisy vector.
Example: dptext sanitize reviews.jsonl --mechanism laplace --epsilon 50
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import _by_distance, _noise
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space
from dptext.types import Eps, Guarantee, Ids, Notion, Points

FAMILY = "noise"


@dataclass(frozen=True, slots=True)
class Params:
    """metric: the distance that epsilon counts, the space's or the lexicon's own."""

    metric: Literal["space", "lexicon"] = "space"


@dataclass(frozen=True, slots=True)
class State:
    """measured: the space whose distance epsilon counts; stretch of the noise.

    in_space tells whether that is the space of the vectors, or the lexicon's own.
    """

    measured: Space
    vectors: NDArray[np.float32] = field(repr=False)
    stretch: float
    in_space: bool


def prepare(params: Params, space: Space) -> State:
    """Take the space, and its Lipschitz constant where the noise is calibrated."""
    if params.metric == "space":
        return State(space, space.vectors, 1.0, True)
    return State(space.original, space.vectors, space.lipschitz, False)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the distance that epsilon counts."""
    return Guarantee(
        notion=Notion.METRIC,
        metric=state.measured.distance,
        unit="1/distance",
        max_distance=state.measured.geometry.diameter,
        source="Feyisetan et al. 2020, algorithm 1",
        stretch=1.0 if state.in_space else math.inf,
    )


def claimed(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return epsilon d for pairs of inputs, (n,) nats."""
    return epsilon * _by_distance.of_pairs(state.measured, a, b)


def geometry(state: State, epsilon: float) -> Geometry:
    """Return nearest, median and largest distance in the guarantee's own metric."""
    return state.measured.geometry


def perturb(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
    """Move each word's vector: ids (n,), eps (n,) 1/distance -> (n, d) float32."""
    drawn = _noise.radial(bits, state.vectors.shape[1], eps)
    return _noise.moved(state.vectors[ids], drawn * state.stretch)


def standard(
    state: State, ids: Ids, points: Points, eps: Eps
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the noise as unit directions and Gamma(d) amounts, for audits."""
    bits = (points.astype(np.float64) - state.vectors[ids]) / state.stretch
    directions, lengths = _noise.directed(bits)
    return directions, eps * lengths, float(bits.shape[1])


def log_density(
    state: State, points: NDArray[np.floating], eps: Eps, words: Ids
) -> NDArray[np.floating]:
    """Return -eps |z - v| / stretch of each point at each of the words: (n, m)."""
    found = _noise.squared_distances(points, state.vectors[words])
    return _noise.fallen(np.sqrt(found, out=found), eps / state.stretch)
