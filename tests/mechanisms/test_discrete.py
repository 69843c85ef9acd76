"""discrete-gaussian and discrete-laplace keep on the grid what they promise."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from dptext import noise
from dptext import noise as curve
from dptext.errors import UsageError
from tests import distributions, prepared, small

CLOUD = small.cloud(120, 6, seed=12)
NAMES = ("discrete-gaussian", "discrete-laplace")
RATE = np.log(2.0) / noise.WIDTH


def ready(name: str, **params: Any) -> Any:
    """Make a mechanism ready for the cloud."""
    return prepared.ready(name, CLOUD, **params)


def on_grid(mechanism: Any, epsilon: float) -> NDArray[np.float64]:
    """Return the words in whole steps of the grid."""
    ids = np.arange(-1, 120, dtype=np.int32)
    return noise.round_to_steps(mechanism.clipped[ids], mechanism.step(epsilon))


@pytest.mark.parametrize("sensitivity", ["vocabulary", "worst"])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0, 25.0])
def test_no_two_words_lose_more_than_epsilon(sensitivity: str, epsilon: float) -> None:
    """Exactly: the L1 distance of any two words on the grid, in nats."""
    mechanism = ready("discrete-laplace", sensitivity=sensitivity)
    lost = pdist(on_grid(mechanism, epsilon), "cityblock").max() * RATE
    assert lost <= epsilon
    assert mechanism.guarantee(epsilon).notion == "LDP"
    if sensitivity == "vocabulary":
        assert lost > 0.4 * epsilon  # the bound is no more than twice the truth


@pytest.mark.parametrize("sensitivity", ["vocabulary", "worst"])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0, 25.0])
def test_the_farthest_words_keep_delta(sensitivity: str, epsilon: float) -> None:
    """Exactly: delta(epsilon; mu) with mu their distance on the grid."""
    mechanism = ready("discrete-gaussian", sensitivity=sensitivity, delta=1e-5)
    far = pdist(on_grid(mechanism, epsilon)).max()
    mu = far / np.sqrt(noise.WIDTH**2 - 1 / 12)
    assert curve.gaussian_delta(epsilon, mu) <= 1e-5
    if sensitivity == "vocabulary":
        assert curve.gaussian_delta(epsilon, mu * 1.05) > 1e-5
    # The claim of mu itself, by which texts compose.
    assert mu <= mechanism.guarantee(epsilon).mu


def test_antipodal_vectors_of_length_c_keep_delta_in_the_worst_case() -> None:
    """2 C is hidden, in any direction, wherever the grid falls."""
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(500, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    gaussian = ready("discrete-gaussian", sensitivity="worst", clip=3.0)
    laplace = ready("discrete-laplace", sensitivity="worst", clip=3.0)
    for epsilon in (0.5, 8.0):
        for mechanism, order in ((gaussian, 2), (laplace, 1)):
            step = mechanism.step(epsilon)
            ends = [np.rint(side * 3.0 * directions / step) for side in (1, -1)]
            far = np.linalg.norm(ends[0] - ends[1], ord=order, axis=1).max()
            if mechanism is laplace:
                assert far * RATE <= epsilon
            else:
                mu = far / np.sqrt(noise.WIDTH**2 - 1 / 12)
                assert curve.gaussian_delta(epsilon, mu) <= 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_released_vectors_lie_on_the_grid(name: str) -> None:
    """Whole steps, words and any other vectors, and the same for both ways."""
    mechanism, epsilon = ready(name), 2.0
    ids = np.arange(100, dtype=np.int32)
    bits = distributions.bits(100)
    step = mechanism.step(epsilon)
    words = mechanism.sample(ids, np.full(100, epsilon), bits)
    others = mechanism.release(mechanism.output_vectors[ids], epsilon, bits)
    np.testing.assert_array_equal(words, others)
    steps = others.astype(np.float64) / step
    assert np.abs(steps - np.rint(steps)).max() < 0.01
    assert others.dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_an_epsilon_below_the_grid_is_refused_and_tells_nothing(name: str) -> None:
    """It is refused; were it drawn, all vectors would be rounded to one point."""
    mechanism = ready(name, **({"delta": 1e-12} if "gaussian" in name else {}))
    with pytest.raises(UsageError, match="too small for a grid"):
        mechanism.check(1e-5)
    assert not on_grid(mechanism, 1e-5).any()


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_changes_nothing(name: str) -> None:
    """A vector's noise does not depend on those released with it."""
    mechanism = ready(name)
    positions = CLOUD.vectors[:40].astype(np.float64) / 9.0
    bits = distributions.bits(40)
    whole = mechanism.release(positions, 3.0, bits)
    for begin, end in itertools.pairwise((0, 1, 2, 17, 40)):
        rows = np.arange(begin, end)
        part = mechanism.release(positions[rows], 3.0, bits.take(rows))
        np.testing.assert_array_equal(part, whole[rows])


def test_noise_falls_as_epsilon_grows() -> None:
    """Also beyond the claims: a larger epsilon never means more noise."""
    for name in NAMES:
        mechanism = ready(name)
        spreads = [mechanism.spread(epsilon) for epsilon in (1, 8, 30, 50, 64, 400)]
        assert spreads == sorted(spreads, reverse=True)


def test_beyond_what_the_table_tells_nothing_is_claimed() -> None:
    """The slack is tiny where a claim has a meaning, and infinite far beyond."""
    for name in NAMES:
        assert 0.0 < ready(name).numerical_slack(20.0) < 1e-11
    assert ready("discrete-gaussian").numerical_slack(100.0) == np.inf
