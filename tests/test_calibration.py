"""The epsilon of a risk is found before a pipeline is built, with all that follows."""

from __future__ import annotations

from typing import Any

import pytest

from dptext import calibration, pipeline, profile
from dptext.mechanisms import rank
from dptext.types import Lexicon
from tests import small

pytestmark = pytest.mark.quick
LEXICON = small.cloud(30, 3)


def recipe(**settings: Any) -> profile.Profile:
    """Return a profile with the mechanism rank."""
    return profile.parse({"mechanism": {"name": "rank", "k": 6}, **settings}, "test")


def test_a_solved_profile_is_that_of_its_pipeline() -> None:
    """Epsilon stands beside the risk, and building it again changes nothing."""
    asked = recipe(budget={"name": "uniform", "risk": 0.3})
    solved, _ = calibration.solve(asked, LEXICON)
    params: Any = solved.budget.params
    assert params.risk == 0.3
    assert params.epsilon > 0
    assert calibration.solve(solved, LEXICON) == (solved, None)
    ready = calibration.build(asked, LEXICON)
    assert ready.profile.settings() == solved.settings()
    assert pipeline.build(ready.profile, LEXICON).identity == ready.identity


def test_an_epsilon_is_left_alone() -> None:
    """A profile without a risk comes back as it was."""
    given = recipe(budget={"name": "uniform", "epsilon": 3.0})
    assert calibration.solve(given, LEXICON) == (given, None)


def test_a_mechanism_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its public work may take seconds; the one of the risk is that of the pipeline."""
    prepare, prepared = rank.Params.prepare, []

    def counted(*given: Any) -> rank.Rank:
        prepared.append(prepare(*given))
        return prepared[-1]

    monkeypatch.setattr(rank.Params, "prepare", counted)
    for number, amount in enumerate(({"risk": 0.3}, {"epsilon": 3.0}), 1):
        asked = recipe(
            mechanism={"name": "rank", "k": 6, "weights": "arch"},
            budget={"name": "uniform", **amount},
        )
        ready = calibration.build(asked, LEXICON)
        assert len(prepared) == number
        assert ready.mechanism is prepared[-1]


def test_a_table_for_a_risk_stays_that_of_the_risk(builtin: Lexicon) -> None:
    """Fitted weights are chosen by the risk, and not again by the epsilon it takes."""
    asked = profile.load("balanced", {"budget": {"risk": 0.33}})
    solved, _ = calibration.solve(asked, builtin)
    mechanism: Any = solved.mechanism.params
    assert mechanism.weights == "steps"
    ready = pipeline.build(solved, builtin)
    assert ready.profile.mechanism == solved.mechanism
    epsilon = ready.budget.description.high
    again = profile.load("balanced", {"budget": {"risk": None, "epsilon": epsilon}})
    by_epsilon = pipeline.build(again, builtin).profile.mechanism.params
    assert by_epsilon != mechanism
