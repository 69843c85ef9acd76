"""Mechanisms that draw by a distance no more of which counts than a truncation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.lists import Lists
from dptext.exponential.mechanism import DistanceMechanism
from dptext.exponential.recalibration import Scales, describe
from dptext.geometry import pairs
from dptext.mechanisms import ExponentialMechanism
from dptext.types import Guarantee, Ids


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
        distances = pairs.to_words(self.space, ids, begin, end)
        return np.minimum(distances, self.truncation(epsilon), out=distances)

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> NDArray[np.float64]:
        """Return epsilon t for pairs of inputs: (n,) nats."""
        distances = pairs.of_ids(self.space, a, b)
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
