from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.mechanisms import Mechanism
from dptext.types import Eps
from tests import prepared, small

RECIPES: list[Mapping[str, object]] = [
    {"name": "rank", "weights": "power", "k": 6, "outputs": 11},
    {"name": "rank", "weights": "staircase", "k": 3},
    {"name": "santext"},
    {"name": "tem"},
]


def expected(
    mechanism: Mechanism, prior: NDArray[np.float64], eps: Eps, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what `likeliest_inputs` must return, output by output."""
    size = mechanism.space.size
    ids = np.append(np.arange(size), -1).astype(np.int32)
    logs = np.round(mechanism.log_probs(ids, eps), 12).T
    with np.errstate(divide="ignore"):
        worth = logs + np.log(prior)
    order = np.argsort(-np.round(worth, 9), axis=1, kind="stable")[:, :count]
    return np.take_along_axis(worth, order, 1), np.take_along_axis(logs, order, 1)


@pytest.mark.parametrize("settings", RECIPES)
@pytest.mark.parametrize("count", [1, 4, 40])
@pytest.mark.parametrize("varying", [False, True])
def test_inputs_come_by_falling_worth(
    settings: Mapping[str, object], count: int, varying: bool
) -> None:
    """Each output has the inputs of largest prior(x) P(y|x), with their ln P(y|x)."""
    lexicon = small.cloud(20, 3, listed=12)
    params = {key: value for key, value in settings.items() if key != "name"}
    mechanism: Mechanism = prepared.ready(str(settings["name"]), lexicon, **params)
    prior = np.append(lexicon.prior * 0.9, 0.1)
    prior[3] = 0.0
    eps = np.full(21, 3.0)
    if varying:
        eps[::2] = 5.0
    rows, logs = mechanism.likeliest_inputs(prior, eps, count)
    worth, wanted = expected(mechanism, prior, eps, min(count, 21))
    assert rows.shape == logs.shape == wanted.shape
    assert rows.dtype == np.int32
    there = np.isfinite(worth)
    np.testing.assert_array_equal(np.isfinite(logs), there)
    assert 3 not in rows[there]
    joint = logs[there] + np.log(prior[rows[there]])
    np.testing.assert_allclose(joint, worth[there], atol=1e-8)
    for output in range(20):
        listed = rows[output][there[output]]
        assert len(set(listed.tolist())) == len(listed)
