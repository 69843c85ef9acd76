"""One output set for all words: all of V."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.lists import Lists
from dptext.exponential.mechanism import DistanceMechanism
from dptext.geometry import neighbours
from dptext.spaces import Space
from dptext.types import Guarantee, VaryingEpsilon


@dataclass(frozen=True, eq=False)
class OneSet(DistanceMechanism):
    """P(y|x) ~ exp(eps u(x, y) / 2) over all of V.

    measured holds the vectors whose distances, or their squares, u is made of; lists
    are its nearest words; spread (V + 1,) is max - min of each row.
    """

    measured: Space
    squared: bool
    lists: Lists
    spread: NDArray[np.float64]

    @cached_property
    def distribution(self) -> DistanceDistribution:
        """Return what words are drawn from; the least distance of a row cancels."""
        return DistanceDistribution(
            self.measured, self.lists, spread=self.spread, squared=self.squared
        )

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return epsilon-LDP over V and the unknown word."""
        return Guarantee.ldp(
            "Chen et al. 2023, algorithms 1 and 2",
            varying_epsilon=VaryingEpsilon(word=1.0, total=1.0, drift=0.5),
        )

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add to the loss."""
        return self.distribution.numerical_slack(epsilon)


def spread_of(space: Space, squared: bool) -> NDArray[np.float64]:
    """Return max - min of the distances of each row, or of their squares: (V + 1,)."""
    power = 2 if squared else 1
    spread = neighbours.farthest(space) ** power
    # A word is itself in V: only the row of unknown words has no word at distance 0.
    spread[-1] -= neighbours.nearest_of_all(space, space.size)[1] ** power
    return spread
