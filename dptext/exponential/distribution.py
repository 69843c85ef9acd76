"""An exponential distribution over distances: what defines it, at any epsilon and one.

P(y|x) ~ exp(-rate(x, epsilon) min(t(x, y), truncation(epsilon))) for all words y, where
t is the distance or its square and rate = scale(epsilon) / (2 spread(x)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import geometry
from dptext.exponential.lists import Lists
from dptext.spaces import Space
from dptext.types import Eps, Ids

# The precision of distances, kept.
Float = TypeVar("Float", bound=np.floating)
# A function of epsilon.
Curve = Callable[[float], float]


def epsilon_itself(epsilon: float) -> float:
    """Return epsilon: the scale where nothing raises it."""
    return epsilon


def never(epsilon: float) -> float:
    """Return infinity: the truncation where distances are not truncated."""
    return math.inf


@dataclass(frozen=True, eq=False)
class DistanceDistribution:
    """The distributions of all inputs at any epsilon.

    lists are those of every input; spread (V + 1,) divides the rate of each row, whose
    distribution is uniform where it is 0 (None: 1 for all).
    """

    space: Space
    lists: Lists
    scale: Curve = epsilon_itself
    truncation: Curve = never
    spread: NDArray[np.float64] | None = None
    squared: bool = False
    # The last sums of weights and what followed from them (`sums`, `best_guesses`).
    kept: dict[tuple[object, ...], NDArray[np.float64]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def frequent(self) -> Lists:
        """Return longer lists for the most frequent words."""
        return Lists.of_frequent(self.space)

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """Return the squared length of each row: (V + 1,)."""
        vectors = self.space.vectors
        return np.asarray(
            np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64, casting="safe")
        )

    def rates(self, rows: NDArray[np.integer], eps: Eps) -> NDArray[np.float64]:
        """Return the rate of each row at its epsilon: (n,)."""
        scales = _each(self.scale, eps)
        if self.spread is not None:
            spread, flat = self.spread[rows], np.zeros(len(rows))
            scales = np.divide(scales, spread, out=flat, where=spread > 0.0)
        return scales / 2.0

    def truncations(self, eps: Eps) -> NDArray[np.float64]:
        """Return the truncation at each epsilon: (n,)."""
        return _each(self.truncation, eps)

    def measure(
        self, distances: NDArray[Float], truncation: NDArray[np.float64] | float
    ) -> NDArray[Float]:
        """Return min(t, truncation) of distances, in place."""
        if self.squared:
            np.multiply(distances, distances, out=distances)
        if np.min(truncation, initial=np.inf) < np.inf:
            np.minimum(distances, truncation, out=distances)
        return distances

    def log_weights(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x) up to a constant for each word: (n, V)."""
        rows = ids.astype(np.int64)
        logs = geometry.to_words(self.space, rows, 0, self.space.size)
        self.measure(logs, self.truncations(eps)[:, None])
        logs *= -self.rates(rows, eps)[:, None]
        return logs

    def at(self, epsilon: float) -> Weights:
        """Return the weights of all words at one epsilon."""
        words = np.arange(self.space.size)
        rate = self.rates(words, np.full(len(words), epsilon))
        return Weights(self, epsilon, rate, self.truncation(epsilon))

    def numerical_slack(self, loss: float) -> float:
        """Return how far 52-bit uniforms may take a loss above its bound, in nats.

        loss is the bound at the diameter; the rarest output has probability at least
        exp(-loss / 2) / V, the borders between outputs are exact to the length of the
        longest list times 2^-52 (rounded sums), and a loss has two sides.
        """
        rounded = (self.frequent.listed.shape[1] + 8) * 2.0**-51
        return float(rounded * self.space.size * np.exp(min(loss, 600.0) / 2.0))


@dataclass(frozen=True, eq=False)
class Weights:
    """exp(-rate(x) min(t(x, y), truncation)) of all words at one epsilon; rate (V,)."""

    distribution: DistanceDistribution
    epsilon: float
    rate: NDArray[np.float64]
    truncation: float

    @property
    def space(self) -> Space:
        """Return the space."""
        return self.distribution.space

    @property
    def size(self) -> int:
        """Return V."""
        return len(self.rate)

    @property
    def symmetric(self) -> bool:
        """Tell whether all words have one rate."""
        return self.distribution.spread is None

    def measure(self, distances: NDArray[Float]) -> NDArray[Float]:
        """Return min(t, truncation) of distances, in place."""
        return self.distribution.measure(distances, self.truncation)

    def of_pairs(
        self, inputs: NDArray[np.int64], outputs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the weights of pairs: (n,)."""
        logs = self.measure(geometry.of_rows(self.space, inputs, outputs))
        logs *= -self.rate[inputs]
        return np.exp(logs, out=logs)


def _each(curve: Curve, eps: Eps) -> NDArray[np.float64]:
    values, which = np.unique(eps, return_inverse=True)
    return np.array([curve(value) for value in values.tolist()])[which]
