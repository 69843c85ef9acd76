"""Mechanisms that draw from an exponential distribution over distances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.best_guesses import best_guesses
from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.estimate import DistanceEstimate
from dptext.exponential.sampling import Sampler
from dptext.mechanisms import Bands, WordMechanism, log_normalised
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids


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
