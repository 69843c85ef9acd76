"""Exact distributions of santext and tem, and the losses of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import distributions, prepared, small
from tests.exponential.formula import RECIPES, expected

LINE = small.line(0.0, 1.0, 3.0)
SANTEXT = [
    [0.7053845127, 0.2594964603, 0.0351190270],
    [0.2447284711, 0.6652409558, 0.0900305732],
    [0.0420100661, 0.1141951994, 0.8437947345],
]
TEM = [
    [0.6285317192, 0.2312238976, 0.1402443832],
    [0.2312238976, 0.6285317192, 0.1402443832],
    [0.1542807730, 0.1542807730, 0.6914384540],
]


@pytest.mark.parametrize(
    ("name", "params", "vector"),
    [("santext", {}, SANTEXT), ("tem", {"gamma": 1.5}, TEM)],
)
def test_probabilities_are_the_published_vector(
    name: str, params: dict[str, Any], vector: list[list[float]]
) -> None:
    """All rows of {0, 1, 3} at epsilon 2."""
    exact = prepared.probabilities(prepared.ready(name, LINE, **params), 2.0)[:3]
    np.testing.assert_allclose(exact, vector, rtol=0, atol=1e-10)
    losses = distributions.worst_losses(exact)
    if name == "santext":
        assert losses[0, 2] == pytest.approx(2.8208338028, abs=1e-10)
        assert losses[2, 0] == pytest.approx(3.1791661972, abs=1e-10)
    else:
        assert losses.max() == pytest.approx(1.5953876487, abs=1e-10)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_probabilities_are_the_definition(name: str, params: dict[str, Any]) -> None:
    """log_probs are the formula, for words and the unknown one."""
    mechanism = prepared.ready(name, small.cloud(40, 6, listed=5), **params)
    for epsilon in (0.1, 3.0, 40.0):
        np.testing.assert_allclose(
            prepared.probabilities(mechanism, epsilon),
            expected(mechanism, epsilon),
            rtol=1e-6,
        )


@pytest.mark.parametrize("size", [2, 12, 60])
@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_no_pair_loses_more_than_it_is_promised(
    name: str, params: dict[str, Any], size: int
) -> None:
    """Exact audit: max L(x, x') <= epsilon min(d, gamma) for all pairs of clouds."""
    for seed in range(3):
        lexicon = small.cloud(size, 4, listed=2, seed=seed)
        mechanism = prepared.ready(name, lexicon, **params)
        wide = lexicon.vectors.astype(np.float64)
        pairs = np.linalg.norm(wide[:, None, :] - wide[None, :, :], axis=2)
        for epsilon in (0.5, 4.0, 20.0):
            # Distances in float32 lists and Gram products: 1e-6 of slack.
            bound = epsilon * np.minimum(pairs, mechanism.truncation(epsilon))
            losses = distributions.worst_losses(
                prepared.probabilities(mechanism, epsilon)
            )
            assert (losses <= bound + 1e-6 * epsilon).all()
            promise = mechanism.guarantee(epsilon)
            assert promise.notion == "metric-DP"
            assert losses.max() <= promise.worst(epsilon) + 1e-6 * epsilon


@pytest.mark.parametrize("name", ["santext", "tem", "custext"])
def test_numerical_slack_is_that_of_the_rarest_output(name: str) -> None:
    """(768 or V listed + 8) 2^-51 V exp(loss / 2), the loss that of the diameter."""
    mechanism = prepared.ready(name, small.cloud(40, 3, listed=5))
    for epsilon in (0.5, 4.0):
        slack = (
            48 * 2.0**-51 * 40 * np.exp(mechanism.guarantee(epsilon).worst(epsilon) / 2)
        )
        assert mechanism.numerical_slack(epsilon) == pytest.approx(slack, rel=1e-9)
