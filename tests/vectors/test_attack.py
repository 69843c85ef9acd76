"""Sensitivity is 2 C: an attack succeeds where C is taken, and not where 2 C is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import noise as curve
from dptext.guarantees import binomial
from dptext.mechanisms.gaussian import clip
from tests import distributions, prepared, small

EPSILON, DELTA, DRAWS, WIDTH = 1.0, 1e-2, 40_000, 16


def sides(far: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two encoder outputs as far apart as clipping lets them be."""
    direction = np.random.default_rng(4).normal(size=WIDTH)
    direction *= far / np.linalg.norm(direction)
    return direction, -direction


def measured_delta(released: NDArray[Any], axis: NDArray[np.float64]) -> float:
    """Return a lower limit (99.9%) of P(S|x) - e^epsilon P(S|x').

    released (2, n, d) of x and x'; S is where the best test says x with a margin that
    the claimed epsilon asks for, chosen on the first half of the draws.
    """
    scores = released @ (axis / np.linalg.norm(axis))
    train, test = scores[:, : DRAWS // 2], scores[:, DRAWS // 2 :]
    levels = np.quantile(train, np.linspace(0.05, 0.95, 60))
    surplus = [
        (train[0] > level).mean() - np.exp(EPSILON) * (train[1] > level).mean()
        for level in levels
    ]
    level = levels[int(np.argmax(surplus))]
    count = DRAWS // 2
    low, _ = binomial.limits(int((test[0] > level).sum()), count, 1e-3)
    _, high = binomial.limits(int((test[1] > level).sum()), count, 1e-3)
    return low - float(np.exp(EPSILON)) * high


def test_the_published_sensitivity_is_refuted_by_an_attack() -> None:
    """Noise for C, as published: far more than delta is left over at epsilon."""
    one, other = clip(np.array(sides(9.0)), 1.0)
    assert np.linalg.norm(one - other) == pytest.approx(2.0)
    sigma = 1.0 / curve.largest_mu(EPSILON, DELTA)
    noise = np.random.default_rng(5).normal(size=(2, DRAWS, WIDTH)) * sigma
    released = noise + np.array([one, other])[:, None]
    delta = measured_delta(released, one - other)
    assert delta > 5 * DELTA
    # The true delta, from the exact curve at twice the mu.
    assert delta <= curve.gaussian_delta(EPSILON, 2.0 / sigma)


@pytest.mark.parametrize("name", ["gaussian", "discrete-gaussian"])
def test_the_same_attack_fails_at_two_c(name: str) -> None:
    """At 2 C the best test between the farthest inputs keeps delta."""
    mechanism = prepared.ready(
        name, small.cloud(40, WIDTH), delta=DELTA, sensitivity="worst", clip=1.0
    )
    positions = mechanism.position(np.repeat(sides(9.0), DRAWS, axis=0))
    bits = distributions.bits(2 * DRAWS, 8)
    released = mechanism.release(positions, EPSILON, bits).reshape(2, DRAWS, WIDTH)
    one, other = sides(1.0)
    delta = measured_delta(released.astype(np.float64), one - other)
    assert delta <= DELTA


def test_published_claims_are_other_ones() -> None:
    """(1, 1e-5) with C is (2.155, 1e-5), or delta 0.0104; (8, 1e-5) is (19.1, 1e-5)."""
    for epsilon, exact in ((1.0, 2.155), (8.0, 19.1)):
        mu = 2.0 * curve.largest_mu(epsilon, 1e-5)
        assert curve.gaussian_epsilon(mu, 1e-5) == pytest.approx(exact, rel=2e-3)
    assert curve.gaussian_delta(
        1.0, 2.0 * curve.largest_mu(1.0, 1e-5)
    ) == pytest.approx(0.0104, abs=5e-5)
    # Table 4.7, sigma = 0.75 C: per release, with C and with 2 C.
    assert curve.gaussian_epsilon(1 / 0.75, 1e-5) == pytest.approx(6.13, abs=5e-3)
    assert curve.gaussian_epsilon(2 / 0.75, 1e-5) == pytest.approx(14.33, abs=5e-3)
