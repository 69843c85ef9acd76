"""The epsilon at which the upper limit of a sampled risk meets a target.

Success grows with epsilon (more noise is noise on top of less), so the limit above it
is searched by bisection with the same draws throughout; then a few epsilons, fixed
before, are tried upwards on draws of their own until the first whose upper limit is
above the target. The last one that met it is returned: it is too large with at most
half the rate at which the limits are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.measures import noisy_guess, sampled_risk
from dptext.measures.noisy_guess import Wins
from dptext.measures.plays import bands_of, plays
from dptext.mechanisms import Mechanism

# Draws of the search, and what is then tried, as shares of what it found: a few where
# the first is met almost for sure.
_SEARCH_DRAWS = 8000
_TRIED = (0.7, 0.9, 0.95, 0.98, 1.0)
_TRIED_NEAR = (0.9, 0.96, 1.0)
# Plays that say where to search, and how far around that.
_FEW, _WIDER = 1000, 1.3
_LEAST, _MOST = 1e-6, 1e6
# What decides the result besides the channel, the prior and the target.
SETTINGS = (_SEARCH_DRAWS, _TRIED, _TRIED_NEAR, _FEW, _WIDER)


def search(mechanism: Mechanism, target: float, prior: NDArray[np.float64]) -> float:
    """Return about the largest epsilon whose risk is at most target.

    Raises UsageError where none is.
    """
    bands = bands_of(len(prior))
    sample = plays(prior, _SEARCH_DRAWS, "search")
    goal = _goal(target)

    def won(epsilon: float, plays: NDArray[np.int64]) -> Wins:
        part = sample.take(plays)
        return np.asarray(noisy_guess.wins(mechanism, epsilon, prior, part, bands)[0])

    crossing = _Crossing.of(won, goal, _SEARCH_DRAWS)
    if crossing is None:
        raise UsageError(
            f"risk {target:.2%} is out of reach: with these parameters no epsilon up "
            f"to {_MOST:g} makes a guess succeed that often; give a smaller risk"
        )
    # Draws of their own, those by which a risk is measured, so that a report agrees.
    epsilon = 0.0
    for share in crossing.shares():
        tried = rounded(share * crossing.epsilon)
        if (
            sampled_risk.limits(sampled_risk.measured_wins(mechanism, tried, prior)[0])[
                1
            ]
            > target
        ):
            break
        epsilon = tried
    if not epsilon:
        raise UsageError(
            f"risk {target:.4%} is too near to what a guess without any output "
            f"achieves, {float(prior.max()):.4%}, to be met for sure with "
            f"{sampled_risk.DRAWS:,} draws; give a larger risk"
        )
    return epsilon


@dataclass(frozen=True, slots=True)
class _End:
    """An epsilon and which plays are won at it."""

    epsilon: float
    wins: Wins

    @property
    def share(self) -> float:
        """Return the share of plays that are won."""
        return float(self.wins.mean())


def _bracket(
    won: Callable[[float], Wins], goal: float, about: float
) -> tuple[_End, _End]:
    """Return ends around an epsilon, the goal between them if there is one in reach."""
    low, high = about / _WIDER, about * _WIDER
    below, above = _End(low, won(low)), _End(high, won(high))
    while below.share > goal and below.epsilon > _LEAST:
        low = below.epsilon / _WIDER
        below, above = _End(low, won(low)), below
    while above.share <= goal and above.epsilon <= _MOST:
        high = above.epsilon * _WIDER
        below, above = above, _End(high, won(high))
    return below, above


def _between(
    won: Callable[[float, NDArray[np.int64]], Wins],
    epsilon: float,
    low: _End,
    high: _End,
) -> _End:
    """Play what is not the same at both ends."""
    wins: Wins = low.wins.copy()
    plays = np.flatnonzero(low.wins != high.wins)
    if len(plays):
        wins[plays] = won(epsilon, plays)
    return _End(epsilon, wins)


def _goal(target: float) -> float:
    """Return the share of wins of the last check's draws whose limit is the target."""
    low, high = 0, sampled_risk.DRAWS
    while high - low > 1:
        middle = (low + high) // 2
        upper = sampled_risk.limits_of(
            middle, sampled_risk.DRAWS, sampled_risk.CONFIDENCE
        )[1]
        low, high = (middle, high) if upper <= target else (low, middle)
    return low / sampled_risk.DRAWS


@dataclass(frozen=True, slots=True)
class _Crossing:
    """Where wins reach a goal, by the draws of the search: at most 1% too small.

    near: the share of wins at _TRIED_NEAR[0] times as much.
    """

    epsilon: float
    goal: float
    near: float

    @classmethod
    def of(
        cls, won: Callable[[float, NDArray[np.int64]], Wins], goal: float, draws: int
    ) -> _Crossing | None:
        """Look with a few plays where to search; None beyond the largest epsilon.

        More noise is noise on top of less: plays that are won, or lost, at both ends of
        an interval are taken to be so within it, and only the others are played. That
        is true but for few of them; what is found is only what is then tested.
        """
        few = np.arange(min(_FEW, draws))
        about = _bisect(lambda at: float(won(at, few).mean()) <= goal, 1.0, 1.1)
        if about is None:
            return None
        low, high = _bracket(lambda at: won(at, np.arange(draws)), goal, about)
        if high.epsilon > _MOST:
            return None
        least, most = low, high
        while high.epsilon > low.epsilon * 1.01:
            middle = _between(won, math.sqrt(low.epsilon * high.epsilon), low, high)
            if middle.share <= goal:
                low = middle
            else:
                high = middle
        near = _between(won, _TRIED_NEAR[0] * low.epsilon, least, most)
        return cls(low.epsilon, goal, near.share)

    def shares(self) -> tuple[float, ...]:
        """Return which shares of epsilon to test, upwards.

        A few where the first is met almost for sure. Fixed by the draws of the search:
        the draws of the tests have no part in it.
        """
        spread = self.goal * (1.0 - self.goal)
        spread *= 1.0 / _SEARCH_DRAWS + 1.0 / sampled_risk.DRAWS
        sure = self.near <= self.goal - 3.0 * math.sqrt(spread)
        return _TRIED_NEAR if sure else _TRIED


def _bisect(below: Callable[[float], bool], start: float, ratio: float) -> float | None:
    """Return where below ends, to a ratio; None beyond the largest."""
    low = high = start
    if below(start):
        high *= 4.0
        while below(high):
            low, high = high, high * 4.0
            if low > _MOST:
                return None
    else:
        low /= 4.0
        while low > _LEAST and not below(low):
            low, high = low / 4.0, low
    while high > low * ratio:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def rounded(value: float) -> float:
    """Round down, so that it can be quoted: to three decimals, below 1 to four digits.

    Above a million, where decimals are lost, nothing is rounded.
    """
    if value > _MOST:
        return value
    digits = 3 if value >= 1.0 else 3 - math.floor(math.log10(value))
    return round(math.floor(value * 10.0**digits) / 10.0**digits, digits)
