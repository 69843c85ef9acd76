from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dptext import spaces
from dptext.spaces import jl, unit
from dptext.spaces.jl import log_tail
from dptext.types import Inputs
from tests import distributions, small


@pytest.mark.parametrize("degrees", [1, 2, 5, 49, 50, 300, 2001])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.99, 1.0, 1.01, 1.5, 3.61, 40.0])
def test_the_tail_is_that_of_the_chi_square(degrees: int, ratio: float) -> None:
    """Against scipy, where that does not underflow."""
    value = degrees * ratio
    exact = stats.chi2.logsf(value, degrees)
    if np.isfinite(exact):
        assert log_tail(degrees, value) == pytest.approx(exact, rel=1e-9, abs=1e-13)
    assert np.isfinite(log_tail(degrees, value))


@pytest.mark.parametrize(("beta", "least"), [(0.9, 49), (0.5, 148), (0.3, 392)])
def test_the_least_dimensions_are_those_of_the_union_bound(
    beta: float, least: int
) -> None:
    """75 378 words, delta 1e-6: docs/guarantees.md, Spaces."""
    assert jl.least_dimensions(75_378, beta, 1e-6) == least
    pairs = np.log(75_378 * 75_377 / 2.0)
    for dimensions in (least - 1, least):
        bound = pairs + stats.chi2.logsf(dimensions * (1 + beta) ** 2, dimensions)
        assert (bound <= np.log(1e-6)) == (dimensions == least)


def test_few_rows_need_few_dimensions() -> None:
    """One row has no pair to part."""
    assert jl.least_dimensions(1, 0.9, 1e-6) == 1
    assert jl.least_dimensions(2, 50.0, 0.5) == 1


def test_the_matrix_is_gaussian_and_public() -> None:
    """Entries N(0, 1/m), the same for the same seed, others for another (1e-6)."""
    drawn = jl.matrix(3, 400, 50)
    np.testing.assert_array_equal(drawn, jl.matrix(3, 400, 50))
    assert not np.array_equal(drawn, jl.matrix(4, 400, 50))
    entries = (drawn * np.sqrt(50)).ravel()
    assert stats.kstest(entries, stats.norm.cdf).pvalue > distributions.ALARM


def test_vectors_are_multiplied_by_the_matrix() -> None:
    """In blocks, in any number of rows; equal vectors stay equal."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(700, 90)).astype(np.float32)
    vectors[600:] = vectors[5]
    moved = jl.Params(dimensions=7, seed=2).transform(vectors)
    exact = vectors.astype(np.float64) @ jl.matrix(2, 90, 7)
    np.testing.assert_allclose(moved, exact, atol=1e-5)
    np.testing.assert_array_equal(moved[600:], np.tile(moved[5], (100, 1)))


def test_dimensions_are_given_or_follow_and_never_grow() -> None:
    """Given, from beta and delta, or those that there are."""
    vectors = np.ones((1000, 60), np.float32)
    assert jl.Params(dimensions=9).transform(vectors).shape == (1000, 9)
    least = jl.least_dimensions(1000, 0.9, 1e-6)
    assert least < 60
    assert jl.Params().transform(vectors).shape == (1000, least)
    assert jl.Params(beta=0.1).transform(vectors).shape == (1000, 60)


def test_the_constant_is_at_most_the_spectral_norm() -> None:
    """And the union bound holds for this matrix (it fails for one in a million)."""
    lexicon = small.cloud(800, 80)
    space = spaces.prepare(lexicon, "jl", jl.Params())
    width = space.vectors.shape[1]
    spectral = np.linalg.norm(jl.matrix(0, 80, width), 2)
    assert space.lipschitz.over(Inputs.WORDS) <= spectral * (1 + 1e-6)
    assert 1.0 < space.lipschitz.over(Inputs.WORDS) < 1.9


def test_unit_length_comes_before_the_projection() -> None:
    """As in the sensitivity thesis, where 1.9 counts distances of unit vectors."""
    vectors = small.cloud(50, 12).vectors
    first = unit.Params().transform(vectors)
    np.testing.assert_array_equal(
        jl.Params(dimensions=4, unit_length=True).transform(vectors),
        jl.Params(dimensions=4).transform(first),
    )
