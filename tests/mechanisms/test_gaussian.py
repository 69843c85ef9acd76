from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats
from scipy.spatial.distance import pdist

from dptext import noise as curve
from dptext.mechanisms import Aim
from dptext.mechanisms.gaussian import Gaussian, Params
from tests import distributions, prepared, small

CLOUD = small.cloud(200, 6, seed=12)


def ready(**params: Any) -> Gaussian:
    """Make the mechanism ready for the cloud."""
    return Params(**params).prepare(prepared.space_of(CLOUD), Aim())


@pytest.mark.parametrize(
    ("epsilon", "mu", "delta"),
    [(1.0, 0.5, 0.0068295950), (1.0, 1.0, 0.1269367375), (4.0, 2.0, 0.0849533187)],
)
def test_delta_has_the_known_values(epsilon: float, mu: float, delta: float) -> None:
    """Balle and Wang's formula, to ten digits."""
    assert curve.gaussian_delta(epsilon, mu) == pytest.approx(delta, abs=5e-11)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 20.0, 100.0, 300.0])
@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0, 20.0, 60.0])
def test_delta_is_the_formula(epsilon: float, mu: float) -> None:
    """Against the formula written with scipy's logarithmic tails."""
    first = stats.norm.logcdf(-epsilon / mu + mu / 2.0)
    second = epsilon + stats.norm.logcdf(-epsilon / mu - mu / 2.0)
    exact = np.exp(first) * -np.expm1(second - first)
    assert curve.gaussian_delta(epsilon, mu) == pytest.approx(
        exact, rel=1e-8, abs=1e-300
    )


@pytest.mark.parametrize("value", [0.0, 0.5, 3.0, 4.99, 5.0, 9.0, 40.0, 1e4])
def test_the_ratio_of_tail_and_density_is_exact(value: float) -> None:
    """Both of its forms, against scipy's scaled error function."""
    exact = np.sqrt(np.pi / 2.0) * special.erfcx(value / np.sqrt(2.0))
    assert curve.mills(value) == pytest.approx(exact, rel=1e-13)


def test_sigma_is_the_published_multiple_of_the_diameter() -> None:
    """(1, 1e-5) needs 3.7306316348 times the largest distance."""
    mechanism = ready(clip=1.0, delta=1e-5)
    ratio = mechanism.sigma(1.0) / mechanism.geometry.diameter
    assert ratio == pytest.approx(3.7306316348, abs=2e-10)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 1.0, 8.0, 50.0, 490.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1, 0.9])
def test_mu_is_the_largest_that_keeps_delta(epsilon: float, delta: float) -> None:
    """It does not break the promise, and hardly more would."""
    mu = curve.largest_mu(epsilon, delta)
    assert 0.0 < mu
    assert curve.gaussian_delta(epsilon, mu) <= delta
    assert curve.gaussian_delta(epsilon, mu * (1.0 + 1e-6) + 1e-14) > delta


def test_the_sensitivity_is_exact_over_the_vocabulary() -> None:
    """The diameter of the clipped rows: up to 2 C, not the C of published layers."""
    for clip in (0.5, 2.0, 100.0):
        mechanism = ready(clip=clip)
        lengths = np.linalg.norm(CLOUD.vectors, axis=1, keepdims=True)
        clipped = CLOUD.vectors * np.minimum(1.0, clip / lengths)
        exact = pdist(clipped).max()
        assert mechanism.sensitivity == pytest.approx(exact, rel=1e-6)
        assert (
            mechanism.sensitivity
            >= pdist(mechanism.output_vectors.astype(np.float64)).max()
        )
        worst = ready(clip=clip, sensitivity="worst").sensitivity
        assert mechanism.sensitivity <= worst
        assert worst == pytest.approx(2.0 * clip, rel=1e-6)
    assert ready(clip=0.5).sensitivity > 0.9


def test_clipped_vectors_are_where_a_mapping_looks() -> None:
    """Long vectors end on the sphere of radius C, others stay."""
    mechanism = ready(clip=2.0)
    positions = mechanism.output_vectors
    before = np.linalg.norm(CLOUD.vectors, axis=1)
    after = np.linalg.norm(positions, axis=1)
    np.testing.assert_allclose(after[before > 2.0], 2.0, rtol=1e-6)
    np.testing.assert_array_equal(
        positions[before <= 2.0], CLOUD.vectors[before <= 2.0]
    )
    assert (before > 2.0).any()
    assert (before <= 2.0).any()


@pytest.mark.parametrize("sensitivity", ["vocabulary", "worst"])
def test_noise_is_normal_with_the_stated_variance(sensitivity: str) -> None:
    """Each axis and a diagonal are N(0, sigma^2), axes independent (alarm 1e-6)."""
    mechanism = ready(clip=1.5, delta=1e-4, sensitivity=sensitivity)
    size = 20_000
    ids = np.tile(np.array([0, 7, -1], np.int32), size)[:size]
    eps = np.array([0.5, 4.0])[np.arange(size) % 2]
    moved = mechanism.sample(ids, eps, distributions.bits(size, 6))
    assert moved.dtype == np.float32
    drawn = moved.astype(np.float64) - mechanism.output_vectors[ids]
    sigma = np.array([mechanism.sigma(each) for each in (0.5, 4.0)])
    assert sigma[0] > 3.0 * sigma[1]
    drawn /= sigma[np.arange(size) % 2, None]
    alarm = distributions.ALARM / 10
    for axis in (*np.eye(6), np.full(6, 6**-0.5)):
        assert stats.kstest(drawn @ axis, stats.norm.cdf).pvalue > alarm
    # All lengths and both signs of one axis given another.
    squares = (drawn**2).sum(axis=1)
    assert stats.kstest(squares, stats.chi2(6).cdf).pvalue > alarm
    signs = (drawn[:, 0] > 0) * 2 + (drawn[:, 5] > 0)
    distributions.assert_follows(signs.astype(int), np.full(4, 0.25), alarm)


def test_two_words_are_as_far_apart_as_mu_says() -> None:
    """The best test between the farthest words has the power of N(0,1), N(mu,1)."""
    mechanism = ready(clip=1.0, delta=1e-3)
    wide = mechanism.output_vectors.astype(np.float64)
    gaps = np.linalg.norm(wide[:, None] - wide[None], axis=2)
    one, other = np.unravel_index(gaps.argmax(), gaps.shape)
    promise = mechanism.guarantee(3.0)
    size = 40_000
    ids = np.repeat(np.array([one, other], np.int32), size)
    moved = mechanism.sample(ids, np.full(2 * size, 3.0), distributions.bits(2 * size))
    middle = (wide[one] + wide[other]) / 2.0
    side = (moved - middle) @ (wide[other] - wide[one]) > 0
    right = stats.norm.cdf(promise.mu / 2.0)
    law = np.array([right, 1.0 - right])
    distributions.assert_follows(side[:size].astype(int), law, distributions.ALARM / 2)
    distributions.assert_follows(
        side[size:].astype(int), law[::-1], distributions.ALARM / 2
    )


def test_the_promise_holds_its_numbers() -> None:
    """(epsilon, delta) with the mu by which texts compose."""
    promise = ready(delta=1e-6).guarantee(2.0)
    assert promise.notion == "eps-delta"
    assert promise.delta == 1e-6
    assert promise.max_distance == 1.0
    assert curve.gaussian_delta(2.0, promise.mu) == pytest.approx(1e-6, rel=1e-8)


def test_noise_is_the_same_to_the_last_bit_in_any_batch() -> None:
    """A word's noisy vector does not depend on the words drawn with it."""
    ids = np.arange(-1, 9, dtype=np.int32)
    prepared.hold_batches(ready(), ids, np.linspace(0.5, 5.0, 10))
