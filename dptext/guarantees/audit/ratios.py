"""The density ratio of a pair of words, held against draws of both."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.program import MultipleTests
from dptext.mechanisms import NoiseMechanism
from dptext.types import Points

_BINS = 32
_SEED = 5


def check_ratios(
    tests: MultipleTests,
    mechanism: NoiseMechanism,
    epsilon: float,
    pair: tuple[int, int],
    first_points: Points,
    second_points: Points,
    alarm: float,
) -> float:
    """Test the density ratio of a pair against its draws; return its log's spread."""
    words = np.array(pair, np.int32)
    eps = np.full(len(first_points), epsilon)
    logs = [
        mechanism.log_density(points.astype(np.float64), eps, words).astype(np.float64)
        for points in (first_points, second_points)
    ]
    first, second = (each[:, 1] - each[:, 0] for each in logs)
    part = len(first) // 4
    pooled = np.concatenate((first[:part], second[:part]))
    inner = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _BINS + 1)[1:-1]))
    mine = np.concatenate((first[part:], second[part:]))
    counts, totals, chances = _shares(mine, inner)
    names = f"{label(mechanism, pair[0])!r} and {label(mechanism, pair[1])!r}"
    claim = f"the density ratio of {names}, epsilon {epsilon:.6g}"
    tests.take(counts, totals, chances, alarm / 2.0, lambda _: claim)
    delta = mechanism.guarantee(epsilon).delta
    if delta > 0.0:
        name = f"a loss of {names} above epsilon {epsilon:.6g} (delta)"
        for losses in (-first, second):
            _beyond(tests, losses, epsilon, delta, alarm / 4.0, name)
    # Noise of a normal kind has a mean of half the variance; other noise may have more.
    return float(max(first.std(), math.sqrt(2.0 * abs(first.mean()))))


def _beyond(
    tests: MultipleTests,
    losses: NDArray[np.float64],
    epsilon: float,
    delta: float,
    alarm: float,
    name: str,
) -> None:
    """Test that losses leave at most delta above epsilon.

    max(0, 1 - e^(epsilon - loss)) has a mean of at most delta; taken as the chance of a
    success, by public coins, it makes a binomial count of it.
    """
    coins = np.random.default_rng(_SEED).random(len(losses))
    above = -np.expm1(np.minimum(epsilon - losses, 0.0))
    count = int((coins < above).sum())
    if count > delta * len(losses):
        tests.take(
            np.array([count]), len(losses), np.array([delta]), alarm, lambda _: name
        )


def _shares(
    logs: NDArray[np.float64], edges: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count the draws from x', all draws, and the share that is due, bin by bin.

    logs (2 n,), those of x' in the second half; of all bins below an edge together as
    well. Every bin has a draw at least, or a share of a half of none.
    """
    due = 0.5 * (1.0 + np.tanh(logs / 2.0))
    bins, size = np.searchsorted(edges, logs, side="right"), len(edges) + 1
    ours = np.bincount(bins[len(logs) // 2 :], minlength=size)
    total = np.bincount(bins, minlength=size)
    expected = np.bincount(bins, weights=due, minlength=size)
    ours, total, expected = (
        np.concatenate((each, np.cumsum(each))) for each in (ours, total, expected)
    )
    share = np.divide(expected, total, out=np.full(2 * size, 0.5), where=total > 0)
    return ours, total, np.clip(share, 0.0, 1.0)
