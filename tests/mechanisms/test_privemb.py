"""privemb: a public projection, and noise for its exact constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

from dptext.mechanisms.privemb import PrivEmb
from dptext.types import Inputs
from tests import distributions, prepared, small

CLOUD = small.cloud(150, 40, seed=3)


def ready(**params: Any) -> PrivEmb:
    """Make the mechanism ready for the cloud."""
    mechanism: PrivEmb = prepared.ready("privemb", CLOUD, **params)
    return mechanism


def ratios(mechanism: PrivEmb) -> Any:
    """Return distances after over distances before, of all pairs."""
    before = pdist(CLOUD.vectors.astype(np.float64))
    return pdist(mechanism.space.vectors.astype(np.float64)) / before


def test_the_noise_is_scaled_by_the_exact_constant() -> None:
    """Pure for the matrix that was drawn: the largest ratio over all pairs."""
    mechanism = ready(dimensions=10)
    assert mechanism.space.vectors.shape == (151, 10)
    exact = ratios(mechanism).max()
    assert exact <= mechanism.stretch <= exact * (1 + 1e-8)
    assert mechanism.guarantee(2.0).metric == prepared.space_of(CLOUD).distance
    assert mechanism.spread(2.0) == pytest.approx(exact * np.sqrt(11) / 2.0)


def test_any_vectors_are_covered_by_the_spectral_norm() -> None:
    """The two vectors that the matrix takes farthest apart lose epsilon d, no more."""
    mechanism = ready(dimensions=10, constant="worst")
    left, _, _ = np.linalg.svd(mechanism.matrix)
    gap = left[:, :1].T * 0.7
    moved = np.linalg.norm(mechanism.position(gap)) / np.linalg.norm(gap)
    assert moved == pytest.approx(mechanism.stretch, rel=1e-8)
    assert moved > ready(dimensions=10).stretch


def test_the_published_scale_claims_what_its_matrix_gives() -> None:
    """With 1 + beta below the constant epsilon counts more than the distance."""
    mechanism = ready(dimensions=10, constant="published", beta=0.1)
    factor = ratios(mechanism).max() / 1.1
    assert factor > 1.0
    assert mechanism.factor(Inputs.WORDS) == pytest.approx(factor, rel=1e-8)
    far = pdist(CLOUD.vectors.astype(np.float64)).max()
    assert mechanism.guarantee(2.0).max_distance >= far * factor
    a, b = np.array([0], np.int32), np.array([1], np.int32)
    gap = np.linalg.norm(CLOUD.vectors[0].astype(np.float64) - CLOUD.vectors[1])
    assert mechanism.claimed_loss(a, b, 2.0)[0] >= 2.0 * gap * factor * (1 - 1e-6)
    assert (
        ready(dimensions=10, constant="published", beta=5.0).factor(Inputs.WORDS) == 1.0
    )


def test_the_dimension_follows_from_beta_and_delta() -> None:
    """The least for which the union bound holds, never more than d."""
    degrees = np.arange(1, 100)
    chance = 151 * 150 / 2 * stats.chi2.sf(degrees * 1.9**2, degrees)
    least = int(degrees[chance <= 1e-6][0])
    assert ready(beta=0.9, delta=1e-6).space.vectors.shape[1] == least
    assert ready(beta=0.01).space.vectors.shape[1] == 40


def test_words_and_other_vectors_get_the_same_noise() -> None:
    """A word's released vector is that of its projected vector."""
    mechanism = ready(dimensions=7)
    ids = np.arange(20, dtype=np.int32)
    bits = distributions.bits(20)
    drawn = mechanism.sample(ids, np.full(20, 4.0), bits)
    positions = mechanism.position(CLOUD.vectors[ids].astype(np.float64))
    released = mechanism.release(positions, 4.0, bits)
    step = mechanism.step(4.0)
    assert step == pytest.approx(mechanism.spread(4.0) / 4096)
    assert np.abs(released - drawn).max() < step
    steps = released.astype(np.float64) / step
    assert np.abs(steps - np.rint(steps)).max() < 0.01
