"""Samples held against exact laws, with a stated rate of false alarms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dptext.randomness import RandomBits, Randomness, RunKey

# A correct program fails one test in a million such tests.
ALARM = 1e-6


def bits(size: int, seed: int = 0) -> RandomBits:
    """Return the noise of one record of `size` words."""
    randomness = Randomness(RunKey.from_seed(seed), "tests")
    return randomness.bits([bytes(16)], np.zeros(size, np.int64))


def limits(
    hits: NDArray[np.int64], size: int, alarm: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Clopper-Pearson limits of each cell, all together wrong at rate alarm."""
    tail = alarm / (2.0 * hits.size)
    few, many = np.maximum(hits, 1), np.minimum(hits, size - 1)
    low = np.where(hits == 0, 0.0, special.betaincinv(few, size - few + 1.0, tail))
    high = special.betaincinv(many + 1.0, size - many, 1.0 - tail)
    return low, np.where(hits == size, 1.0, high)


def assert_follows(
    drawn: NDArray[np.integer], law: NDArray[np.float64], alarm: float = ALARM
) -> None:
    """Hold draws of 0 ... V - 1 against a law (V,): every cell within its limits."""
    np.testing.assert_allclose(law.sum(), 1.0, rtol=0, atol=1e-9)
    hits = np.bincount(drawn, minlength=len(law))
    assert len(hits) == len(law)
    low, high = limits(hits, len(drawn), alarm)
    wrong = np.flatnonzero((law < low) | (law > high))
    share = hits / len(drawn)
    assert not len(wrong), f"cells {wrong[:5]}: {share[wrong[:5]]}, {law[wrong[:5]]}"


def normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn rows of log weights into rows of probabilities."""
    law = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    rows: NDArray[np.float64] = law / law.sum(axis=1, keepdims=True)
    return rows


def worst_losses(law: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return max over y of ln P(y|x) / P(y|x') for all pairs of rows: (n, n)."""
    logs = np.log(law)
    losses: NDArray[np.float64] = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    return losses
