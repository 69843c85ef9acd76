"""The figures of what a release of vectors promises; docs/embed.md has the proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dptext.embedding.release import Release
from dptext.embedding.settings import Pool
from dptext.guarantees.bounds import Loss, TextLoss
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS
from dptext.mechanisms.discrete_gaussian import DiscreteGaussian
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.mechanisms.mahalanobis import Mahalanobis
from dptext.mechanisms.privemb import PrivEmb
from dptext.privacy_curve import epsilon_of
from dptext.types import Guarantee, Level, Notion

# Numbers of vectors for which an epsilon is printed that holds for all together.
SEVERAL = (2, 5, 10, 50, 100)


@dataclass(frozen=True, slots=True)
class Claim:
    """What holds of one vector, in figures.

    promise is the mechanism's at the epsilon of one vector; loss bounds that of one
    vector, in nats; exact says that the promise is one of the program and not of the
    formula alone, slack what it may lose beside; none, that nothing is claimed; many,
    the epsilon that holds for n vectors together at delta, or n times it.
    """

    promise: Guarantee
    epsilon: float
    level: Level
    loss: Loss
    text_loss: TextLoss
    exact: bool
    slack: float | None
    none: bool

    @property
    def notion(self) -> Notion:
        """Return the kind of guarantee that is left."""
        return Notion.NONE if self.none else self.promise.notion

    def together(self, count: int) -> float:
        """Return the epsilon of so many vectors together, at the delta of one.

        Of normal noise by mu sqrt(n), exactly; else n times that of one.
        """
        if self.promise.notion is not Notion.APPROXIMATE:
            return count * self.loss.farthest
        mu = self.promise.mu * math.sqrt(count)
        return max(epsilon_of(mu, self.promise.delta), self.epsilon)


def claim(release: Release, key: str) -> Claim:
    """Return what holds of a release; key is the origin of the run key."""
    mechanism, epsilon = release.mechanism, release.epsilon
    promise = mechanism.guarantee(epsilon)
    far = farthest(release, promise)
    loss = Loss.even(far)
    is_word = release.pool is Pool.WORD
    if is_word and promise.notion is Notion.METRIC:
        geometry = mechanism.geometry(epsilon)
        loss = Loss(epsilon * geometry.nearest, epsilon * geometry.median, far)
    exact = isinstance(mechanism, DiscreteGaussian | DiscreteLaplace)
    slack = mechanism.numerical_slack(epsilon) if exact else None
    undrawn = slack is not None and slack > 0.01 and far > MAX_MEANINGFUL_LOSS
    return Claim(
        promise=promise,
        epsilon=epsilon,
        level=Level.WORD if is_word else Level.TEXT,
        loss=loss,
        text_loss=TextLoss(None, far) if is_word else TextLoss(far, None),
        exact=exact,
        slack=slack,
        none=key == "seed" or promise.notion is Notion.NONE or undrawn,
    )


def farthest(release: Release, promise: Guarantee) -> float:
    """Return the most nats that one vector loses, whatever comes in.

    Means of words are no farther apart than words. Sentence vectors are as far apart as
    twice the length to which they are shortened.
    """
    if promise.notion is not Notion.METRIC:
        return release.epsilon
    mechanism, distance = release.mechanism, promise.max_distance
    if release.pool is Pool.SENTENCE:
        distance = 2.0 * release.settings.options.longest * (1.0 + 1e-12)
        if isinstance(mechanism, Mahalanobis):
            distance /= math.sqrt(mechanism.least)
    elif release.pool is not Pool.WORD and isinstance(mechanism, PrivEmb):
        distance = mechanism.measured.geometry.diameter
    return release.epsilon * distance * metric_factor(release)


def metric_factor(release: Release) -> float:
    """Return how often epsilon counts the distance where inputs are no words.

    1 but for privemb with a scale that the matrix's spectral norm exceeds.
    """
    mechanism = release.mechanism
    if release.pool is Pool.WORD or not isinstance(mechanism, PrivEmb):
        return 1.0
    return max(1.0, mechanism.spectral / mechanism.stretch)
