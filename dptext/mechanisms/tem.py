"""TEM: the exponential mechanism of the truncated distance min(d, gamma).

The published two-step form (near words, one far element) draws from the same
distribution; see docs/guarantees.md, 3. P(y|x) ~ exp(-eps min(d(x, y), gamma) / 2).

Guarantee: epsilon * min(d, gamma) (metric DP); epsilon * gamma LDP over V. With
recalibrate a larger scale takes the place of epsilon in the formula, at the same gamma,
such that the exact losses of all pairs keep this.
Source: Carvalho et al. 2021, algorithm 1, arXiv:2107.07928.
Known gaps: none in what is drawn.
Example: dptext sanitize reviews.jsonl --field text --mechanism tem --epsilon 13
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

from dptext import mechanisms
from dptext.exponential.distribution import Lists
from dptext.exponential.losses import Scales
from dptext.exponential.mechanism import TruncatedMetricMechanism
from dptext.mechanisms import Aim
from dptext.spaces import Space
from dptext.types import Guarantee, Notion, VaryingEpsilon


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """gamma in distance units; when absent it follows from beta and epsilon.

    beta bounds the probability of an output farther than gamma. recalibrate raises the
    scale of the distances as far as the exact losses allow; it looks at all pairs of
    words, for each epsilon once: minutes for 65,500 words.
    """

    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    recalibrate: bool = False

    @property
    def needs_one_epsilon(self) -> bool:
        """Tell whether public work must be done for each epsilon."""
        return self.recalibrate

    def prepare(self, space: Space, aim: Aim) -> TruncatedExponential:
        """Take the space's nearest words."""
        scales = Scales(space) if self.recalibrate else None
        return TruncatedExponential(self, space, Lists.of_all(space), scales)


@dataclass(frozen=True, eq=False)
class TruncatedExponential(TruncatedMetricMechanism):
    """No distance counts more than gamma."""

    params: Params

    @property
    def product(self) -> float:
        """Return epsilon * gamma where gamma follows from beta, in nats.

        gamma = (2 / eps) ln((1 - beta)(V - 1) / beta): an output farther than gamma
        has probability at most beta.
        """
        beta = self.params.beta
        odds = (1.0 - beta) * (self.space.size - 1) / beta
        return 2.0 * math.log(max(odds, 1.0 + 1e-9))

    def truncation(self, epsilon: float) -> float:
        """Return gamma at an epsilon."""
        gamma = self.params.gamma
        return self.product / epsilon if gamma is None else gamma

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return metric DP in the truncated distance."""
        gamma = self.params.gamma
        diameter = self.space.geometry.diameter
        max_distance = diameter if gamma is None else min(gamma, diameter)
        # Where gamma follows, epsilon times gamma is the same for every epsilon.
        max_loss = self.product if gamma is None else math.inf
        published = Guarantee(
            notion=Notion.METRIC,
            metric=replace(self.space.distance, cut=gamma),
            unit="1/distance",
            max_distance=max_distance,
            source="Carvalho et al. 2021, algorithm 1",
            varying_epsilon=VaryingEpsilon(
                word=max_distance,
                total=max_distance,
                drift=max_distance / 2.0,
                most=max_loss / 2.0,
            ),
            max_loss=max_loss,
            stretch=1.0,
        )
        return self.with_scale(published, epsilon)
