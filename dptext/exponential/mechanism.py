"""Mechanisms that draw from an exponential distribution over (truncated) distances.

Mechanisms that draw from an exponential distribution over distances.

Mechanisms that draw by a distance no more of which counts than a truncation.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext import geometry
from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.lists import Lists
from dptext.exponential.losses import Scales, describe
from dptext.exponential.risk import DistanceEstimate, best_guesses
from dptext.exponential.sampling import Sampler
from dptext.mechanisms import Bands, ExponentialMechanism, WordMechanism, log_normalised
from dptext.randomness import RandomBits
from dptext.types import Eps, Guarantee, Ids


@dataclass(frozen=True, eq=False)
class DistanceMechanism(WordMechanism):
    """All that follows from the distribution alone."""

    @property
    @abstractmethod
    def distribution(self) -> DistanceDistribution:
        """Return what words are drawn from."""

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.distribution)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word, exactly."""
        return self._sampler.sample(ids, eps, bits)

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x) of all outputs: (n, V)."""
        return log_normalised(self.distribution.log_weights(ids, eps))

    def best_guesses(
        self, prior: NDArray[np.float64], epsilon: float, bands: Bands
    ) -> NDArray[np.float64]:
        """Return max of prior(x) P(y|x) over the x of each band: (bands, V)."""
        return best_guesses(self.distribution.at(epsilon), prior, bands)

    def risk_estimate(self, prior: NDArray[np.float64]) -> DistanceEstimate:
        """Return an estimate of the Bayes risk at any epsilon, to search by."""
        return DistanceEstimate(self.distribution, prior)


@dataclass(frozen=True, eq=False)
class TruncatedMetricMechanism(DistanceMechanism, ExponentialMechanism):
    """P(y|x) ~ exp(-scale t / 2) with t = min(d, truncation); the claim is epsilon t.

    lists are those of every input; scales raise the scale above epsilon, None: not.
    """

    lists: Lists
    scales: Scales | None

    def truncation(self, epsilon: float) -> float:
        """Return the largest distance that counts; inf: all do."""
        return math.inf

    def scale(self, epsilon: float) -> float:
        """Return the scale of the distances, epsilon itself or a raised one."""
        if self.scales is None:
            return epsilon
        return self.scales.at(epsilon, self.truncation(epsilon))

    @cached_property
    def distribution(self) -> DistanceDistribution:
        """Return what words are drawn from."""
        return DistanceDistribution(self.space, self.lists, self.scale, self.truncation)

    def metric(
        self, epsilon: float, ids: NDArray[np.int64], begin: int, end: int
    ) -> NDArray[np.float64]:
        """Return t from inputs to the words begin to end: (n, end - begin)."""
        distances = geometry.to_words(self.space, ids, begin, end)
        return np.minimum(distances, self.truncation(epsilon), out=distances)

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> NDArray[np.float64]:
        """Return epsilon t for pairs of inputs: (n,) nats."""
        distances = geometry.of_ids(self.space, a, b)
        return epsilon * np.minimum(distances, self.truncation(epsilon))

    def supports(self, epsilon: float) -> None:
        """Raise UsageError at an epsilon that cannot be recalibrated."""
        if self.scales is not None:
            self.scales.check(epsilon)

    def with_scale(self, published: Guarantee, epsilon: float) -> Guarantee:
        """Return the guarantee of the published scale, or of the raised one."""
        if self.scales is None:
            return published
        return replace(
            published,
            source=f"{published.source}, recalibrated",
            gaps=(describe(epsilon, self.scale(epsilon)),),
            # Raised scales of two epsilons may differ more than these do.
            varying_epsilon=None,
        )

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add to the loss."""
        farthest = min(self.truncation(epsilon), self.space.geometry.diameter)
        return self.distribution.numerical_slack(self.scale(epsilon) * farthest)
