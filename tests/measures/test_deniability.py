from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dptext.measures.public import n_w_and_s_w
from dptext.types import Ids
from tests import distributions, prepared, small
from tests.measures.test_bayes_risk import RECIPES


def refuse(ids: Ids) -> Ids:
    """Fail: an exact law needs no draws."""
    raise AssertionError


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_exact_statistics_are_those_of_many_runs(
    name: str, params: dict[str, Any]
) -> None:
    """N_w and S_w by formula against 400 times 100 runs of each word (6 sigma)."""
    size, games = 12, 400
    mechanism = prepared.ready(name, small.cloud(size, 3, listed=6), **params)
    deniability = n_w_and_s_w(mechanism, 1.5, refuse)
    words = np.unique(np.geomspace(1, size, size).astype(np.int32) - 1)
    ids = np.repeat(words, games * 100)
    drawn = mechanism.sample(
        ids, np.full(len(ids), 1.5), distributions.bits(len(ids))
    ).reshape(len(words), games, 100)
    kept = (drawn == words[:, None, None]).mean(axis=2)
    seen = np.zeros((len(words), games, size), bool)
    np.put_along_axis(seen, drawn.astype(np.int64), True, axis=2)
    distinct = seen.sum(axis=2)
    for value, runs in ((deniability.n_w, kept), (deniability.s_w, distinct)):
        error = np.sqrt(runs.var(axis=1).mean() / games / len(words))
        assert abs(value - runs.mean()) < 6 * error + 1e-12
    assert deniability.runs == 100
    assert not deniability.sampled


def test_a_law_of_certainty_gives_one_output() -> None:
    """At a huge epsilon N_w is 1 and S_w is 1; at none S_w is that of uniform words."""
    mechanism = prepared.ready("rank", small.cloud(10, 2), k=5)
    sure = n_w_and_s_w(mechanism, 400.0, refuse)
    assert sure.n_w == pytest.approx(1.0)
    assert sure.s_w == pytest.approx(1.0, abs=1e-9)
    blind = n_w_and_s_w(mechanism, 1e-9, refuse)
    assert blind.n_w == pytest.approx(0.1, abs=1e-6)
    assert blind.s_w == pytest.approx(10 * (1 - 0.9**100), abs=1e-6)
    # An output that says nothing is what chance gives; one that says all is not.
    assert blind.n_w_by_chance == pytest.approx(blind.n_w, abs=1e-6)
    assert blind.s_w_by_chance == pytest.approx(blind.s_w, abs=1e-6)
    assert sure.n_w_by_chance == pytest.approx(0.0, abs=1e-9)
    assert sure.s_w_by_chance == pytest.approx(7.0, abs=1e-4)  # the words measured


def test_noise_mechanisms_are_run() -> None:
    """25 words, 100 runs each, counted; fewer words in a small lexicon."""
    mechanism = prepared.ready("laplace", small.cloud(40, 2))
    asked: list[int] = []

    def draw(ids: Ids) -> Ids:
        asked.append(len(ids))
        return (ids + np.arange(len(ids)) % 4).astype(np.int32)

    deniability = n_w_and_s_w(mechanism, 1.0, draw)
    assert deniability.n_w == 0.25
    assert deniability.s_w == 4.0
    assert asked[0] % 100 == 0
    assert deniability.n_w_by_chance is not None
    assert deniability.n_w_by_chance < 0.25 < 4.0 < (deniability.s_w_by_chance or 0.0)
    assert deniability.method == f"sampled: {asked[0] // 100} words x 100 runs"
