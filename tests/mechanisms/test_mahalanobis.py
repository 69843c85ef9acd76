from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg
from scipy.spatial.distance import pdist

from dptext import noise
from dptext.mechanisms import Aim, laplace, mahalanobis
from dptext.mechanisms.mahalanobis import Mahalanobis, Params
from dptext.types import Inputs, Lexicon
from tests import distributions, prepared, small


def stretched(size: int = 300, width: int = 8, seed: int = 4) -> Lexicon:
    """Make a lexicon with words that spread unevenly."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(width, width))
    return small.lexicon(rng.normal(size=(size, width)) @ mixing + 3.0)


def ready(lexicon: Lexicon, lam: float = 0.2, space: str = "identity") -> Mahalanobis:
    """Make the mechanism ready."""
    return Params(lam).prepare(prepared.space_of(lexicon, space), Aim())


def matrix(lexicon: Lexicon, lam: float) -> NDArray[np.float64]:
    """Return M by its definition."""
    words = lexicon.vectors[:-1].astype(np.float64)
    spread = np.atleast_2d(np.cov(words.T, bias=True))
    width = words.shape[1]
    regularised: NDArray[np.float64]
    regularised = lam * spread * width / np.trace(spread) + (1 - lam) * np.eye(width)
    return regularised


@pytest.mark.parametrize("lam", [0.0, 0.2, 0.95])
def test_the_roots_are_those_of_the_regularised_covariance(lam: float) -> None:
    """root^2 = M, inverse^2 = M^-1, trace d; lambda 0 is the unit matrix."""
    lexicon = stretched()
    mechanism = ready(lexicon, lam)
    exact = matrix(lexicon, lam)
    np.testing.assert_allclose(mechanism.root @ mechanism.root, exact, atol=1e-12)
    np.testing.assert_allclose(
        mechanism.inverse @ mechanism.root, np.eye(8), atol=1e-12
    )
    assert np.trace(mechanism.root @ mechanism.root) == pytest.approx(8.0)
    assert mechanism.least == pytest.approx(linalg.eigvalsh(exact)[0])
    assert mechanism.least >= 1.0 - lam


def test_the_covariance_is_taken_over_the_words_alone() -> None:
    """The row of unknown words has no say."""
    lexicon = stretched()
    words = lexicon.vectors[:-1].astype(np.float64)
    np.testing.assert_allclose(
        mahalanobis.covariance(lexicon.vectors[:-1]), np.cov(words.T, bias=True)
    )
    moved = lexicon.vectors.copy()
    moved[-1] += 50.0
    np.testing.assert_array_equal(
        ready(stretched()).root,
        ready(small.lexicon(moved[:-1])).root,
    )


@pytest.mark.parametrize("lam", [0.0, 0.2, 0.9])
def test_the_reach_is_the_diameter_in_the_metric(lam: float) -> None:
    """Against brute force over all pairs, unknown words included; never below."""
    lexicon = stretched()
    vectors = lexicon.vectors.astype(np.float64)
    inverse = linalg.inv(matrix(lexicon, lam))
    exact = pdist(vectors, "mahalanobis", VI=inverse).max()
    promise = ready(lexicon, lam).guarantee(1.0)
    assert promise.notion == "metric-DP"
    assert exact <= promise.max_distance <= exact * (1 + 1e-5)
    geometry = ready(lexicon, lam).geometry
    words = pdist(vectors[:-1], "mahalanobis", VI=inverse)
    assert geometry.median == pytest.approx(np.median(words), rel=0.02)
    assert geometry.diameter == promise.max_distance


@pytest.mark.parametrize("lam", [0.0, 0.2, 0.9])
def test_the_euclidean_factor_is_that_of_the_worst_pair(lam: float) -> None:
    """Against brute force; at most 1 / sqrt(least eigenvalue) <= 1 / sqrt(1 - lam)."""
    lexicon = stretched()
    vectors = lexicon.vectors.astype(np.float64)
    inverse = linalg.inv(matrix(lexicon, lam))
    exact = (pdist(vectors, "mahalanobis", VI=inverse) / pdist(vectors)).max()
    mechanism = ready(lexicon, lam)
    factor = mechanism.euclidean_factor(Inputs.WORDS).over(Inputs.WORDS)
    assert exact * (1 - 1e-12) <= factor <= exact * (1 + 2e-9)
    assert factor <= (1 + 2e-9) / np.sqrt(mechanism.least)
    assert factor <= (1 + 2e-9) / np.sqrt(1.0 - lam)
    printed = re.search(r"at most ([\d.]+) times", mechanism.guarantee(1.0).metric.name)
    assert printed is not None
    assert factor <= float(printed[1]) <= factor + 2e-4


def test_a_large_vocabulary_gets_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all pairs are too many, the least eigenvalue bounds the factor."""
    exact = ready(stretched()).euclidean_factor(Inputs.WORDS).over(Inputs.WORDS)
    monkeypatch.setattr(mahalanobis, "_PAIRED", 10)
    mechanism = ready(stretched())
    assert mechanism.euclidean_factor(Inputs.WORDS).over(Inputs.WORDS) >= exact
    bound = mechanism.euclidean_factor(Inputs.WORDS).over(Inputs.WORDS)
    assert bound == pytest.approx(1 / np.sqrt(mechanism.least))


@pytest.mark.parametrize("width", [1, 2, 8, 51])
def test_the_length_in_the_metric_is_gamma_and_the_direction_uniform(
    width: int,
) -> None:
    """|M^(-1/2) noise| ~ Gamma(d, 1/eps) and its direction is uniform (1e-6)."""
    size, epsilon = 20_000, 3.0
    mechanism = ready(stretched(200, width), 0.7)
    ids = np.full(size, -1, np.int32)
    eps = np.full(size, epsilon)
    moved = mechanism.sample(ids, eps, distributions.bits(size, 2))
    assert moved.dtype == np.float32
    drawn = moved.astype(np.float64) - mechanism.space.vectors[-1]
    drawn = drawn @ linalg.inv(linalg.sqrtm(matrix(mechanism.space.lexicon, 0.7)).real)
    prepared.hold_spherical(drawn, epsilon)


def test_lambda_zero_is_laplace() -> None:
    """The same bits give the same vectors, up to rounding."""
    lexicon = stretched()
    ids = np.arange(-1, 299, dtype=np.int32)
    eps = np.linspace(0.5, 9.0, 300)
    bits = distributions.bits(300)
    mechanism = ready(lexicon, 0.0)
    moved = mechanism.sample(ids, eps, bits)
    plain = noise.radial(bits, 8, eps) + lexicon.vectors[ids]
    np.testing.assert_allclose(moved, plain, rtol=1e-5, atol=1e-5)
    assert mechanism.euclidean_factor(Inputs.WORDS).over(Inputs.WORDS) == pytest.approx(
        1.0, rel=2e-9
    )


def test_the_shared_noise_is_that_of_laplace() -> None:
    """One sampler serves both: to the last bit what laplace adds."""
    lexicon = small.lexicon(np.zeros((1, 5)))
    bits, eps = distributions.bits(50), np.linspace(1.0, 4.0, 50)
    space = prepared.space_of(lexicon)
    ids = np.zeros(50, np.int32)
    mechanism = laplace.Params().prepare(space, Aim())
    np.testing.assert_array_equal(
        noise.radial(bits, 5, eps).astype(np.float32),
        mechanism.sample(ids, eps, bits),
    )


def test_noise_is_the_same_to_the_last_bit_in_any_batch() -> None:
    """A word's noisy vector does not depend on the words drawn with it."""
    mechanism = ready(stretched(width=50))
    ids = np.arange(-1, 299, dtype=np.int32)
    prepared.hold_batches(mechanism, ids, np.linspace(0.5, 9.0, 300))


def test_words_that_all_coincide_get_plain_noise() -> None:
    """No spread, no direction: M is the unit matrix."""
    mechanism = ready(small.lexicon(np.zeros((4, 3))), 0.6)
    np.testing.assert_allclose(mechanism.root, np.eye(3), atol=1e-12)
    assert np.isfinite(mechanism.guarantee(1.0).max_distance)


def test_the_metric_lies_on_the_space() -> None:
    """In another space the covariance and the distances are those of that space."""
    mechanism = ready(stretched(), 0.2, "unit")
    vectors = mechanism.space.vectors.astype(np.float64)
    assert "scaled to length 1" in mechanism.guarantee(1.0).metric.name
    whitened = vectors @ mechanism.inverse
    np.testing.assert_allclose(mechanism.vectors(), whitened, atol=1e-12)
    assert mechanism.geometry.diameter == pytest.approx(pdist(whitened).max(), rel=1e-5)


def test_an_absurdly_small_epsilon_still_gives_finite_points() -> None:
    """Overflow would leave no nearest word."""
    mechanism = ready(stretched())
    ids = np.arange(4, dtype=np.int32)
    moved = mechanism.sample(ids, np.full(4, 1e-300), distributions.bits(4))
    assert np.isfinite(moved).all()
    assert np.isfinite((moved**2).sum(axis=1)).all()
