"""Multivariate Laplace noise: a random direction, a Gamma(d, 1/eps) length.

Drawn as sqrt(2 G) / eps times a standard normal vector, G ~ Gamma((d + 1) / 2, 1).
Calibrated to the lexicon's own distance, the noise is longer by the exact Lipschitz
constant of the space: the same family with epsilon counted in another unit.

Guarantee: epsilon * d (metric DP) for each word, d the Euclidean distance in the space
or, calibrated, that of the lexicon's vectors, whatever mapping follows.
Known as: CMP (with mapping nearest), MADLIB, MLDP.
Source: Feyisetan et al., WSDM 2020, algorithm 1, arXiv:1910.08902;
docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; of a word only the word is released,
never the noisy vector (dptext embed releases vectors, rounded to a grid).
Example: dptext sanitize reviews.jsonl --field text --mechanism laplace --epsilon 50
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dptext import mechanisms, noise
from dptext.geometry import distances_by_id
from dptext.mechanisms import Aim, Family, NoiseMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space
from dptext.types import Constant, Eps, Floats, Guarantee, Ids, Inputs, MetricKind


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of Laplace noise."""

    family: ClassVar[Family] = Family.NOISE

    #: The distance that epsilon counts, that of the space or of the lexicon's vectors.
    metric: Literal["space", "lexicon"] = "space"

    def prepare(self, space: Space, aim: Aim) -> Laplace:
        """Read the space, and its Lipschitz constant if it calibrates the noise."""
        if self.metric == "space":
            return Laplace(self, space, space, 1.0)
        # If all vectors coincide there is nothing to hide, but noise must not be 0.
        stretch = space.lipschitz.over(Inputs.WORDS) or 1.0
        return Laplace(self, space, space.original, stretch)


@dataclass(frozen=True, eq=False)
class RadialNoise(NoiseMechanism):
    """Noise z with density ~ exp(-eps |w(z)| / stretch), w a linear map."""

    #: The space of the distance that epsilon counts.
    measured: Space
    #: By how much the noise is longer than that for the distance of the space.
    stretch: float

    def whitened(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """Apply w to rows, (n, d), in their precision."""
        return rows

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP between words."""
        return self.guarantee_over(Inputs.WORDS, epsilon)

    def noise(self, eps: Eps, bits: RandomBits) -> Floats:
        """Return noise: eps (n,) -> (n, d)."""
        return noise.radial(bits, self.space.vectors.shape[1], eps) * self.stretch

    def spread(self, epsilon: float) -> float:
        """Return the spread, stretch sqrt(d + 1) / epsilon."""
        return self.stretch * math.sqrt(self.space.vectors.shape[1] + 1) / epsilon

    def standard_noise(
        self, ids: Ids, points: NDArray[np.float32], eps: Eps
    ) -> tuple[Floats, Floats, float]:
        """Return the noise as unit directions and Gamma(d) amounts."""
        drawn = points.astype(np.float64) - self.space.vectors[ids]
        wide = np.asarray(self.whitened(drawn), np.float64)
        directions, lengths = noise.split_directions(wide / self.stretch)
        return directions, eps * lengths, float(drawn.shape[1])

    def log_density(
        self, observed: NDArray[np.floating], eps: Eps, words: Ids
    ) -> NDArray[np.floating]:
        """Return -eps |w(z - v)| / stretch for each point z and word v: (n, m)."""
        centres = self.space.vectors[words].astype(observed.dtype)
        squares = noise.squared_distances(
            self.whitened(observed), self.whitened(centres)
        )
        return noise.apply_rates(np.sqrt(squares, out=squares), eps / self.stretch)


@dataclass(frozen=True, eq=False)
class Laplace(RadialNoise):
    """Laplace noise in the space's distance, or calibrated to another distance."""

    source: ClassVar[str] = "Feyisetan et al. 2020, algorithm 1"

    def constant(self, inputs: Inputs) -> Constant:
        """Return the largest ratio of distances after and before the transform."""
        if self.measured is self.space:
            return Constant(1.0, Inputs.VECTORS)
        return self.space.lipschitz

    def factor(self, inputs: Inputs) -> float:
        """Return the multiple of input distance that epsilon refers to, at least 1."""
        return max(1.0, self.constant(inputs).over(inputs) / self.stretch)

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP in the distance that epsilon refers to.

        Means are no farther apart than words.
        """
        times, metric = self.factor(inputs), self.measured.distance
        if times > 1.0:
            name = f"{math.ceil(times * 1e4) / 1e4:.4f} times the {metric.name}"
            identity = f"{metric.identity} times {times!r}"
            metric = replace(
                metric, kind=MetricKind.OTHER, name=name, identity=identity
            )
        # Whether the metric is a multiple of the distance of the space.
        multiple = self.measured is self.space or inputs is Inputs.VECTORS
        stretch = times if multiple else math.inf
        diameter = self.measured.geometry.diameter * times
        return Guarantee.metric_dp(metric, diameter, self.source, stretch)

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return epsilon d for pairs of inputs: (n,) nats."""
        return epsilon * distances_by_id(self.measured, a, b)

    @property
    def geometry(self) -> Geometry:
        """Return nearest, median and largest distance in the guarantee's metric."""
        return self.measured.geometry
