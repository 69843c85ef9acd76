"""Multivariate Laplace noise: a random direction, a Gamma(d, 1/eps) length.

Drawn as sqrt(2 G) / eps times a standard normal vector, G ~ Gamma((d + 1) / 2, 1).

Guarantee: epsilon * d (metric DP) for each word, d the Euclidean distance in the space,
whatever mapping follows.
Source: Feyisetan et al., WSDM 2020, algorithm 1, arXiv:1910.08902 (CMP, with mapping
nearest); docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; only the word is released, never the
noisy vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Points

FAMILY = "noise"
# No coordinate needs to be larger; its products with vectors still fit a float32.
_FAR = 1e15


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters: the budget alone sets the scale."""


State = Space


def prepare(params: Params, space: Space) -> State:
    """Return the space: nothing else is needed."""
    return space


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the space's distance."""
    return Guarantee(
        notion="metric-DP",
        metric=state.metric,
        unit="1/distance",
        reach=state.geometry.diameter,
        source="Feyisetan et al. 2020, algorithm 1",
    )


def perturb(state: State, ids: Ids, eps: Eps, noise: Noise) -> Points:
    """Move each word's vector: ids (n,), eps (n,) 1/distance -> (n, d) float32."""
    width = state.vectors.shape[1]
    half = (width + 1) // 2
    # One more normal than coordinates: Gamma(1/2) is half a squared normal.
    normal = noise.normal(0, width + 1)
    lanes = (half + 1) // 2
    exponential = -np.log(noise.uniform(width, lanes)[:, :half])
    if width % 2:
        gamma = exponential.sum(axis=1)
    else:
        gamma = exponential[:, : width // 2].sum(axis=1) + normal[:, -1] ** 2 / 2.0
    scale = np.sqrt(2.0 * gamma) / eps
    moved = state.vectors[ids] + normal[:, :width] * scale[:, None]
    if np.max(scale, initial=0.0) > _FAR / 1e3:
        # Post-processing, so that an absurdly small epsilon still finds a word.
        np.clip(moved, -_FAR, _FAR, out=moved)
    points: Points = moved.astype(np.float32)
    return points
