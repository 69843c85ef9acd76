"""The estimate to search by, against the Bayes risk itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dptext.exponential import DistanceEstimate
from tests import prepared, small
from tests.exponential.test_best_guesses import DISTANCES, by_rows
from tests.small import zipf


@pytest.mark.parametrize(("name", "params"), DISTANCES)
def test_the_estimate_is_near_what_it_estimates(
    name: str, params: dict[str, Any]
) -> None:
    """Within a fifth at once, and within 1% where it has learned; drift bounds it."""
    mechanism = prepared.ready(name, small.cloud(900, 4, listed=20), **params)
    prior = zipf(900)
    risk_estimate = mechanism.risk_estimate(prior)
    assert isinstance(risk_estimate, DistanceEstimate)
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


def test_small_output_sets_need_no_estimate() -> None:
    """There the closed form is as quick."""
    mechanism = prepared.ready("custext", small.cloud(30, 3), mapping="balanced", k=5)
    assert mechanism.risk_estimate(zipf(30)) is None
