"""The Bayes risk for laws of a distance, against the whole law row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext.adversaries import bayes
from dptext.mechanisms import Channel, _rough, _tiles
from tests import prepared, small
from tests.adversaries.test_bayes import zipf

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
def tiny_tiles() -> Iterator[None]:
    """Cut all work into small parts, so that small lexicons have many of them."""
    parts: dict[str, Any] = {"_ROWS": 8, "_COLUMNS": 16, "_BLOCK": 3, "_LISTED": 7}
    with mock.patch.multiple(_tiles, **parts):
        yield


def by_rows(
    mechanism: Channel, prior: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    """Return the best guesses from the rows of the law."""
    return bayes._by_rows(mechanism, prior, epsilon, len(prior))


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
    """For every band and output, whatever is listed and however even the prior."""
    lexicon = small.cloud(size, width, listed=min(listed, size), seed=seed)
    mechanism = prepared.ready(recipe[0], lexicon, **recipe[1])
    prior = np.full(size, 1.0 / size) if flat else zipf(size, seed)
    with tiny_tiles():
        found = bayes.best_guesses(mechanism, prior, epsilon, size)
    np.testing.assert_allclose(found, by_rows(mechanism, prior, epsilon), rtol=1e-9)


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
        found = bayes.best_guesses(mechanism, prior, epsilon, 1200)
        assert found.shape == (3, 1200)
        expected = by_rows(mechanism, prior, epsilon)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


def test_results_of_other_priors_and_epsilons_are_kept_apart() -> None:
    """What is kept belongs to one law, prior and set of bands."""
    mechanism = prepared.ready("santext", small.cloud(50, 3, listed=5))
    for _ in range(2):
        for epsilon in (1.0, 4.0):
            for seed in (0, 1):
                found = bayes.best_guesses(mechanism, zipf(50, seed), epsilon, 50)
                expected = by_rows(mechanism, zipf(50, seed), epsilon)
                np.testing.assert_allclose(found, expected, rtol=1e-9)
                found[:] = 0.0


@pytest.mark.parametrize(("name", "params"), DISTANCES)
def test_single_precision_is_near(name: str, params: dict[str, Any]) -> None:
    """The sums that a search may take are near those that count."""
    mechanism = prepared.ready(name, small.cloud(300, 5, listed=9), **params)
    law = mechanism.module._law(mechanism.state, 6.0)
    with tiny_tiles():
        quick, exact = (_tiles.sums(law, kind) for kind in (np.float32, np.float64))
    np.testing.assert_allclose(quick, exact, rtol=1e-3)


@pytest.mark.parametrize(("name", "params"), DISTANCES)
def test_the_estimate_is_near_what_it_estimates(
    name: str, params: dict[str, Any]
) -> None:
    """Within a fifth at once, and within 1% where it has learned; drift bounds it."""
    mechanism = prepared.ready(name, small.cloud(900, 4, listed=20), **params)
    prior = zipf(900)
    risk_estimate = mechanism.module.risk_estimate(mechanism.state, prior)
    assert isinstance(risk_estimate, _rough.RiskEstimate)
    exact = {
        epsilon: by_rows(mechanism, prior, epsilon).max(axis=0).sum()
        for epsilon in (2.0, 9.0, 9.2)
    }
    for epsilon, success in exact.items():
        assert risk_estimate.success(epsilon) == pytest.approx(success, rel=0.2)
    risk_estimate.learn(9.0)
    for epsilon in (9.0, 9.2):
        assert risk_estimate.success(epsilon) == pytest.approx(exact[epsilon], rel=0.01)
    assert exact[9.2] <= exact[9.0] * np.exp(0.2 * risk_estimate.drift) * (1 + 1e-9)
    assert exact[9.0] <= exact[2.0] * np.exp(7.0 * risk_estimate.drift) * (1 + 1e-9)


def test_few_outputs_are_left_soon() -> None:
    """Words that are far from all that is left are not looked at one by one."""
    mechanism = prepared.ready("santext", small.cloud(2000, 3, listed=60))
    looked = []
    whole = _tiles._Table.distances

    def counted(self: Any, inputs: Any, part: slice) -> Any:
        found = whole(self, inputs, part)
        looked.append(found.size)
        return found

    law = mechanism.module._law(mechanism.state, 30.0)
    _tiles.sums(law)
    with mock.patch.object(_tiles._Table, "distances", counted):
        _tiles.best(law, zipf(2000), [(0, 2000)])
    assert sum(looked) < 2000 * 2000 / 2
