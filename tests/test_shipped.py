"""The shipped results are complete: no known result is computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext import cache, lexicons, load_profile, open_pipeline, registry
from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS
from dptext.lexicons import topics
from dptext.measures import bayes_risk
from dptext.measures.public import measure_risk
from dptext.mechanisms import Aim, rank
from dptext.profile import shipped
from dptext.randomness import RunKey
from dptext.tokens.policy import Policy
from dptext.types import Record
from dptext.vectors import release
from tests import prepared


@pytest.mark.parametrize("name", shipped())
def test_risks_of_shipped_profiles_are_not_computed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every epsilon from a risk, and every risk, is read from the shipped results."""
    mechanism = load_profile(name).mechanism.name
    if load_profile(name).lexicon.startswith(topics.PREFIX):
        pytest.skip(f"{name} needs a file of topics")
    if registry.find("mechanisms", mechanism).Params.family == "texts":
        pytest.skip(f"{name} needs a model, and its risk is not measured")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sanitizer = open_pipeline(name)
    measure_risk(sanitizer)
    assert not list(tmp_path.rglob("*.numbers")), "run python -m tools.results"
    if (
        sanitizer.budget.description.kind == "word"
        and sanitizer.profile.strategy == "token"
    ):
        words = bayes_risk.prior_of_replaced(
            sanitizer.lexicon, sanitizer.profile.tokens
        )
        mapping = sanitizer.profile.settings().get("mapping")
        key = bayes_risk.risk_key(
            sanitizer.mechanism,
            epsilon=sanitizer.budget.description.high,
            prior=words,
            drawn=True,
            mapping=mapping,
        )
        assert cache.shipped(key), "run python -m tools.results"


@pytest.mark.parametrize("table", [0, 1])
def test_weights_of_rank_have_their_risks_with_the_built_in_lexicon(table: int) -> None:
    """At its epsilon each table meets its risk, and nearly reaches it."""
    lexicon = lexicons.find("builtin")
    policy = Policy(stop_word="keep" if table else "perturb")
    words = bayes_risk.prior_of_replaced(lexicon, policy)
    space = prepared.space_of(lexicon)
    for row in rank.shipped()[table]:
        params = rank.Params(weights="steps", steps=row.steps)
        mechanism = params.prepare(space, Aim())
        best = mechanism.best_guesses(words, row.epsilon, [(0, len(words))])
        risk = float(best.sum())
        assert row.risk * 0.997 <= risk <= row.risk, "run python -m tools.weights"
        assert row.epsilon <= MAX_MEANINGFUL_LOSS


@pytest.mark.parametrize("risk", ["10%", "35%", "60%"])
def test_the_default_profile_takes_risks(risk: str) -> None:
    """Weights fitted make an epsilon of meaning from risks that one table does not."""
    sanitizer = open_pipeline("balanced", {"budget": {"risk": risk}})
    assert sanitizer.budget.description.high < 12.0
    params = sanitizer.profile.mechanism.params
    assert isinstance(params, rank.Params)
    assert params.weights == "steps"
    assert params == sanitizer.mechanism.params


def test_distances_of_weighted_vectors_are_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first `dptext embed --pool sif` with the built-in lexicon does not wait."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    release.prepare(release.parse({"mechanism": "discrete-gaussian"}, {"pool": "sif"}))
    assert not list(tmp_path.rglob("*.numbers")), "run python -m tools.results"


@pytest.mark.parametrize("name", ["santext", "tem", "custext", "diffractor"])
def test_tables_of_mechanisms_are_not_computed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the built-in lexicon a first run of a mechanism waits for no table."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    over = {
        "mechanism": {"name": name},
        "budget": {"name": "uniform", "epsilon": 10.0, "risk": None},
    }
    sanitizer = open_pipeline("balanced", over)
    record = Record(0, ("the doctor said that she was ill",), None)
    list(sanitizer.run([record], RunKey.from_seed(1)))
    assert not list(tmp_path.rglob("*.arrays")), "run python -m tools.results"
