"""TEM: the exponential mechanism of the truncated distance min(d, gamma).

The published two-step form (near words, one far element) draws from the same
distribution; see docs/guarantees.md, 3. P(y|x) ~ exp(-eps min(d(x, y), gamma) / 2).

Guarantee: epsilon * min(d, gamma) (metric DP); epsilon * gamma LDP over V. With
recalibrate a larger scale takes the place of epsilon in the formula, at the same gamma,
such that the exact losses of all pairs keep this.
Known as: TEM.
Source: Carvalho et al. 2021, algorithm 1, arXiv:2107.07928.
Known gaps: none in the draws.
Example: dptext sanitize reviews.jsonl --field text --mechanism tem --epsilon 13
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext import mechanisms
from dptext.exponential import TruncatedMetricMechanism
from dptext.exponential.distribution import Lists
from dptext.exponential.losses import Scales
from dptext.mechanisms import Aim
from dptext.spaces import Space


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of TEM."""

    #: In units of distance; None: by beta and epsilon.
    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    #: The largest probability of an output farther than gamma.
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    #: Raise the scale of the distances as far as the exact losses of all pairs allow:
    #: for each epsilon minutes for 65,500 words.
    recalibrate: bool = False

    @property
    def needs_one_epsilon(self) -> bool:
        """Return True if preparation depends on epsilon."""
        return self.recalibrate

    def prepare(self, space: Space, aim: Aim) -> TruncatedExponential:
        """Read the space's nearest words."""
        scales = Scales(space) if self.recalibrate else None
        return TruncatedExponential(self, space, Lists.from_space(space), scales)


@dataclass(frozen=True, eq=False)
class TruncatedExponential(TruncatedMetricMechanism):
    """The TEM mechanism: distances are capped at gamma."""

    source = "Carvalho et al. 2021, algorithm 1"

    params: Params

    @property
    def cut(self) -> float | None:
        """Return gamma if set, else None."""
        return self.params.gamma

    @property
    def most(self) -> float:
        """Return epsilon * gamma, in nats, if gamma depends on beta; else inf."""
        return math.inf if self.cut else product(self.params.beta, self.space.size)


def product(beta: float, size: int) -> float:
    """Return epsilon * gamma, in nats, for a beta and V words.

    gamma = (2 / eps) ln((1 - beta)(V - 1) / beta): an output farther than gamma has
    probability at most beta.
    """
    odds = (1.0 - beta) * (size - 1) / beta
    return 2.0 * math.log(max(odds, 1.0 + 1e-9))
