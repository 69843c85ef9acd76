"""The Bayes risk by closed forms, against all rows of the output distributions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext import exponential
from dptext.exponential import distribution, losses
from dptext.mechanisms import Mechanism
from tests import prepared, small
from tests.small import zipf

RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("santext", {}),
    ("tem", {}),
    ("tem", {"gamma": 1.0}),
    ("custext", {}),
    ("custext", {"distance": "cosine"}),
    ("custext", {"mapping": "balanced", "k": 5}),
    ("custext", {"mapping": "conservative", "k": 4}),
]
DISTANCES = [recipe for recipe in RECIPES if "mapping" not in recipe[1]]


@contextmanager
def tiny_parts() -> Iterator[None]:
    """Cut all work into small parts, so that small lexicons have many of them."""
    with (
        mock.patch.multiple(distribution, ROWS=8, COLUMNS=16),
        mock.patch.multiple(exponential, _BLOCK=3, _LISTED=7),
    ):
        yield


def bands_of(size: int) -> list[tuple[int, int]]:
    """Return up to three bands of frequency."""
    edges = [0, *(edge for edge in (100, 1000) if edge < size), size]
    return list(pairwise(edges))


def by_rows(
    mechanism: Mechanism, prior: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    """Return the best guesses from all rows of the output distribution."""
    return Mechanism.best_guesses(mechanism, prior, epsilon, bands_of(len(prior)))


@settings(max_examples=60, deadline=None)
@given(
    recipe=st.sampled_from(RECIPES),
    size=st.integers(6, 130),
    width=st.integers(1, 4),
    listed=st.integers(1, 12),
    epsilon=st.floats(1e-3, 60.0),
    seed=st.integers(0, 99),
    flat=st.booleans(),
)
def test_best_guesses_are_those_of_the_rows(
    recipe: tuple[str, dict[str, Any]],
    size: int,
    width: int,
    listed: int,
    epsilon: float,
    seed: int,
    flat: bool,
) -> None:
    """For every band and output, any listed words and any prior."""
    lexicon = small.cloud(size, width, listed=min(listed, size), seed=seed)
    mechanism = prepared.ready(recipe[0], lexicon, **recipe[1])
    prior = np.full(size, 1.0 / size) if flat else zipf(size, seed)
    with tiny_parts():
        best = mechanism.best_guesses(prior, epsilon, bands_of(size))
    np.testing.assert_allclose(best, by_rows(mechanism, prior, epsilon), rtol=1e-9)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_three_bands_and_words_in_one_place(name: str, params: dict[str, Any]) -> None:
    """Bands of all sizes, words at distance 0 and very near ones, no prior for some."""
    points = np.random.default_rng(5).normal(size=(1200, 3))
    points[7] = points[1100]
    points[8] = points[500] + 1e-7
    mechanism = prepared.ready(name, small.lexicon(points, listed=9), **params)
    prior = zipf(1200)
    prior[[3, 40, 1150]] = 0.0
    for epsilon in (0.5, 8.0, 40.0):
        best = mechanism.best_guesses(prior, epsilon, bands_of(1200))
        assert best.shape == (3, 1200)
        expected = by_rows(mechanism, prior, epsilon)
        np.testing.assert_allclose(best, expected, rtol=1e-9, atol=1e-300)


def test_results_of_other_priors_and_epsilons_are_kept_apart() -> None:
    """A kept result belongs to one epsilon, prior and set of bands."""
    mechanism = prepared.ready("santext", small.cloud(50, 3, listed=5))
    for _ in range(2):
        for epsilon in (1.0, 4.0):
            for seed in (0, 1):
                best = mechanism.best_guesses(zipf(50, seed), epsilon, bands_of(50))
                expected = by_rows(mechanism, zipf(50, seed), epsilon)
                np.testing.assert_allclose(best, expected, rtol=1e-9)
                best[:] = 0.0


@pytest.mark.parametrize(("name", "params"), DISTANCES)
def test_single_precision_is_near(name: str, params: dict[str, Any]) -> None:
    """The sums that a search may take are near those that count."""
    mechanism = prepared.ready(name, small.cloud(300, 5, listed=9), **params)
    weights = mechanism.distribution.at(6.0)
    with tiny_parts():
        quick, exact = (
            losses.sums_of_all_words(weights, kind) for kind in (np.float32, np.float64)
        )
    np.testing.assert_allclose(quick, exact, rtol=1e-3)


def test_few_outputs_are_left_soon() -> None:
    """Words that are far from all that is left are not looked at one by one."""
    mechanism = prepared.ready("santext", small.cloud(2000, 3, listed=60))
    looked = []
    distances = distribution.DistanceProduct.distances

    def counted(self: Any, inputs: Any, part: slice) -> Any:
        tile = distances(self, inputs, part)
        looked.append(tile.size)
        return tile

    weights = mechanism.distribution.at(30.0)
    losses.sums_of_all_words(weights)
    with mock.patch.object(distribution.DistanceProduct, "distances", counted):
        mechanism.best_guesses(zipf(2000), 30.0, [(0, 2000)])
    assert sum(looked) < 2000 * 2000 / 2
