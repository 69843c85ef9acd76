"""What OpenDP and dp_accounting, which others prove, say of the same noise.

Both are optional: pip install opendp dp-accounting
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dptext import noise
from dptext.evaluation import shares
from dptext.mechanisms.discrete_laplace import DiscreteLaplace
from dptext.partition import Law, tail
from tests import prepared, small
from tests.distributions import assert_follows, bits

pytestmark = pytest.mark.quick

# The noise of discrete-laplace: P(k) ~ exp(-RATE |k|).
RATE = math.log(2.0) / noise.WIDTH


def opendp() -> Any:
    """Return OpenDP, with the measurements that it marks as contributed."""
    library = pytest.importorskip("opendp.prelude")
    library.enable_features("contrib")
    return library


def losses() -> Any:
    """Return the privacy losses of dp_accounting."""
    return pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("mu", [0.05, 0.7, 2.0, 6.0])
def test_delta_of_gaussian_noise(epsilon: float, mu: float) -> None:
    """Delta at an epsilon is that of dp_accounting, and no less."""
    expected = losses().GaussianPrivacyLoss(1.0 / mu, sensitivity=1.0)
    delta = expected.get_delta_for_epsilon(epsilon)
    assert noise.gaussian_delta(epsilon, mu) == pytest.approx(
        delta, rel=1e-8, abs=1e-15
    )


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.01])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0])
def test_noise_for_an_epsilon_and_a_delta(epsilon: float, delta: float) -> None:
    """The noise that is added is enough by dp_accounting, and hardly more."""
    mu = noise.largest_mu(epsilon, delta)
    for factor, enough in ((1.0, True), (1.0 + 1e-6, False)):
        loss = losses().GaussianPrivacyLoss(1.0 / (factor * mu), sensitivity=1.0)
        assert (loss.get_delta_for_epsilon(epsilon) <= delta * (1 + 1e-9)) == enough


def test_loss_of_discrete_laplace_noise() -> None:
    """The epsilon of a mechanism covers its largest move, by both libraries."""
    lexicon = small.lexicon(np.random.default_rng(3).normal(size=(9, 3)))
    mechanism = prepared.ready("discrete-laplace", lexicon)
    assert isinstance(mechanism, DiscreteLaplace)
    epsilon = 6.0
    # Vectors are rounded to a grid: each coordinate of both may move by half a step.
    step = mechanism.step(epsilon)
    moved = math.floor(mechanism.sensitivity_l1 / step) + mechanism.width
    library = opendp()
    space = library.atom_domain(T=int), library.absolute_distance(T=int)
    measurement = library.m.make_laplace(*space, scale=1.0 / RATE)
    assert measurement.map(moved) == pytest.approx(RATE * moved, rel=1e-9)
    assert measurement.map(moved) <= epsilon * (1.0 + 1e-9)
    claimed = losses().DiscreteLaplacePrivacyLoss(RATE, sensitivity=moved)
    assert claimed.get_delta_for_epsilon(epsilon * (1.0 + 1e-9)) == 0.0


def test_draws_of_discrete_laplace_noise() -> None:
    """Draws of dptext and of OpenDP follow one law, in blocks of 1,024 steps."""
    size, block, blocks = 20_000, 1024, 24
    library = opendp()
    space = (
        library.vector_domain(library.atom_domain(T=int)),
        library.l1_distance(T=int),
    )
    theirs = np.array(library.m.make_laplace(*space, scale=1.0 / RATE)([0] * size))
    # P(|k| < n) = 1 - 2 q^n / (1 + q), q = exp(-RATE).
    q = math.exp(-RATE)
    ends = 1.0 - 2.0 * q ** (block * np.arange(1, blocks)) / (1.0 + q)
    law = np.diff(np.concatenate([[0.0], ends, [1.0]]))
    for drawn in (noise.laplace(bits(size), 1)[:, 0], theirs):
        assert_follows(np.minimum(np.abs(drawn) // block, blocks - 1), law)


@pytest.mark.parametrize("topics", [2, 16, 240])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_loss_of_randomised_response(epsilon: float, topics: int) -> None:
    """The law of topics has the epsilon that OpenDP computes from its probability."""
    law = shares.ResponseLaw(topics, epsilon)
    measurement = opendp().m.make_randomized_response(list(range(topics)), law.right)
    assert measurement.map(1) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("words", [1, 4, 16, 64])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_threshold_of_lists_of_words(epsilon: float, words: int) -> None:
    """OpenDP's map gives words of one person the same chance, and the same noise."""
    dp = opendp()
    law = Law.calibrate(epsilon, 1e-6)
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=float, nan=False))
    metric = dp.l02inf_distance(dp.absolute_distance(T=float))
    release = dp.m.make_gaussian_threshold(
        domain, metric, scale=law.sigma, threshold=law.rho
    )
    weight = law.weight(words) * law.step
    assert weight <= 1 / math.sqrt(words)
    rate, delta = release.map((words, 1.0, weight))
    assert rate == pytest.approx(words * weight**2 / (2 * law.sigma**2), rel=1e-6)
    alone = float(1 - (1 - tail(law.threshold - law.weight(words))) ** words)
    # It bounds the union of words by their sum, and rounds up.
    assert alone == pytest.approx(delta, rel=0.01)
    assert delta <= 1e-6 / 2 * 1.01
