"""The epsilon at which the best attacker's success meets a target.

With exact log-probabilities a grid is searched upwards for the first crossing, since
success need not grow with epsilon for every mechanism, and the answer is checked with
all inputs: where one check takes seconds the search goes by an estimate.
Noise is dealt with by dptext.measures.root_finding.
An epsilon that was kept is only a proposal: the success at it is measured anew, and
where that is above the target the search is made again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.measures import bayes_risk, root_finding, sampled_risk
from dptext.measures.root_finding import (
    LEAST,
    Success,
    agreed,
    first_crossing,
    near,
    rounded,
)
from dptext.mechanisms import Mechanism, RiskEstimate

# The search looks at this many inputs, first and then; all are looked at in the end.
_QUICK, _INPUTS = 400, 3000
# Up to this many words every step of a search is exact.
_EXACT = 2048
# An estimate is corrected so many times; nearer to the target than this is enough.
_TURNS, _ENOUGH = 4, 1e-3
_GRID = np.geomspace(1e-2, 400.0, 60)


def epsilon_for(
    mechanism: Mechanism, target: float, prior: NDArray[np.float64]
) -> float:
    """Return about the largest epsilon up to which the success stays at most target.

    Raises UsageError when no epsilon meets the target, be it below what a guess without
    any output achieves or above what any gives away, and for a mechanism that has
    neither exact log-probabilities nor an upper limit.
    """
    if not mechanism.has_log_probs and not sampled_risk.bounded(mechanism):
        raise UsageError(
            f"{mechanism.name} has no exact output distribution of a word here and no "
            "upper limit of the risk; give --epsilon instead of a risk"
        )
    baseline = float(prior.max())
    if not baseline < target < 1.0:
        raise UsageError(
            f"risk {target:.2%} is out of reach: a guess without any output already "
            f"succeeds for {baseline:.2%} of words; give a risk between these and 100%"
        )
    search = _search if mechanism.has_log_probs else root_finding.search_by_samples
    what = ["calibrate", 2, *mechanism.identity, cache.digest(prior), target]
    if not mechanism.has_log_probs:
        what += [sampled_risk.DRAWS, *root_finding.SETTINGS]
    kept = cache.numbers(
        cache.key_of(*what),
        lambda: {"epsilon": search(mechanism, target, prior)},
        lambda kept: bayes_risk.success(mechanism, kept["epsilon"], prior) <= target,
        f"finding the epsilon of {mechanism.name} for risk {target:.3g}",
    )
    return float(kept["epsilon"])


def _search(mechanism: Mechanism, target: float, prior: NDArray[np.float64]) -> float:
    size = len(prior)
    grid = [point for point in _GRID.tolist() if mechanism.is_defined(point)]

    def success(inputs: int) -> Success:
        def of(epsilon: float) -> float:
            # Below the smallest epsilon there is nothing to be guessed from.
            if not mechanism.is_defined(epsilon):
                return 0.0
            best = bayes_risk.best_guesses(mechanism, prior, epsilon, min(inputs, size))
            return float(best.max(axis=0).sum())

        return of

    largest = _largest(mechanism, success, target, prior, grid)
    if largest is None:
        raise UsageError(
            f"risk {target:.2%} is out of reach: with these parameters no epsilon up "
            f"to {_GRID[-1]:g} makes a guess succeed that often; give a smaller risk"
        )
    if largest < LEAST:
        raise UsageError(
            f"risk {target:.4%} is out of reach: even at epsilon {LEAST:g} a guess "
            f"from the output of {mechanism.name} succeeds for "
            f"{success(size)(LEAST):.4%} of words, one without any output for "
            f"{float(prior.max()):.4%}; give a larger risk"
        )
    epsilon = rounded(largest)
    if not mechanism.is_defined(epsilon):
        raise UsageError(
            f"risk {target:.2%} is out of reach: at the smallest epsilon for which "
            f"{mechanism.name} is defined a guess succeeds more often; give a larger "
            "risk"
        )
    return epsilon


def _largest(
    mechanism: Mechanism,
    success: Callable[[int], Success],
    target: float,
    prior: NDArray[np.float64],
    grid: list[float],
) -> float | None:
    """Search by what the mechanism offers; success, that with so many inputs."""
    size = len(prior)
    every = success(size)
    risk_estimate = mechanism.risk_estimate(prior) if size > _EXACT else None
    if risk_estimate is not None:
        return _by_estimate(risk_estimate, every, target, grid)
    if mechanism.has_best_guesses or size <= _QUICK:
        return first_crossing(every, target, grid, 1e-4)
    crossing = first_crossing(success(_QUICK), target, grid, 2e-3)
    top = grid[-1] if crossing is None else crossing
    return agreed(success(_INPUTS), every, target, top, reached=crossing is not None)


def _by_estimate(
    risk_estimate: RiskEstimate, every: Success, target: float, grid: list[float]
) -> float | None:
    """Return a point that meets the target, found by an estimate; None if all do.

    Whatever the estimate is worth, every decides.
    """
    point = first_crossing(
        risk_estimate.success, target, grid, 5e-3, risk_estimate.drift
    )
    if point is None and every(grid[-1]) <= target:
        return None
    point = grid[-1] if point is None else point
    risk_estimate.learn(point)
    wanted, best = target * (1.0 - 1e-4), 0.0
    for _ in range(_TURNS):
        point = rounded(
            max(near(risk_estimate.success, wanted, point, grid[-1]), LEAST)
        )
        risk = every(point)
        if risk <= target:
            best = max(best, point)
            if risk >= target * (1.0 - _ENOUGH):
                return best
        wanted = risk_estimate.success(point) * (target / risk) * (1.0 - 1e-4)
    if best:
        return best
    while point >= LEAST and every(point) > target:
        point *= 0.98
    return point
