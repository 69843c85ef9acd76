from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.exponential import DistanceEstimate, DistanceMechanism
from dptext.measures import bayes_risk, calibrate
from dptext.mechanisms import Mechanism
from tests import prepared, small

RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("rank", {"weights": "power", "k": 4, "c": 1.0}),
    ("rank", {"k": 1, "weights": "staircase"}),
    ("santext", {}),
    ("tem", {"gamma": 1.0}),
    ("custext", {}),
]


def success(mechanism: Mechanism, epsilon: float, shares: NDArray[np.float64]) -> float:
    """Return the exact risk with all inputs."""
    best = bayes_risk.best_guesses(mechanism, shares, epsilon, len(shares))
    return float(best.max(axis=0).sum())


@pytest.mark.parametrize(("name", "params"), RECIPES)
@pytest.mark.parametrize("target", [0.3, 0.5, 0.8, 0.95])
def test_the_target_is_met_from_below_and_nearly_reached(
    name: str, params: dict[str, Any], target: float
) -> None:
    """At the epsilon found the risk is at most the target; 1% more exceeds it."""
    mechanism = prepared.ready(name, small.cloud(80, 3, listed=9), **params)
    shares = small.zipf(80)
    shares = (shares + 0.05) / (shares + 0.05).sum()
    epsilon = calibrate.epsilon_for(mechanism, target, shares)
    assert success(mechanism, epsilon, shares) <= target
    assert success(mechanism, epsilon * 1.01 + 1e-3, shares) > target
    assert epsilon == round(epsilon, 3 if epsilon >= 1.0 else 7)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_a_target_just_above_the_baseline_is_met(
    name: str, params: dict[str, Any]
) -> None:
    """Close to a blind guess the risk is still met, or refused as too close."""
    mechanism = prepared.ready(name, small.cloud(60, 3, listed=9), **params)
    flat = np.full(60, 1.0 / 60)
    for more in (1e-4, 1e-3):
        target = 1.0 / 60 + more
        epsilon = calibrate.epsilon_for(mechanism, target, flat)
        assert epsilon > 0
        assert success(mechanism, epsilon, flat) <= target
    for more in (1e-15, 1e-9, 1e-7):
        with pytest.raises(UsageError, match="out of reach"):
            calibrate.epsilon_for(mechanism, 1.0 / 60 + more, flat)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("name", ["santext", "tem", "custext"])
def test_a_search_by_an_estimate_meets_the_target(
    name: str, even: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However good the estimate is, the exact risk decides and is nearly reached."""
    monkeypatch.setattr(calibrate, "_EXACT", 8)
    mechanism = prepared.ready(name, small.cloud(300, 3, listed=9, seed=5))
    shares = np.full(300, 1.0 / 300) if even else small.zipf(300)
    for more in (0.03, 0.1, 0.4):
        target = float(shares.max()) + more
        epsilon = calibrate.epsilon_for(mechanism, target, shares)
        assert success(mechanism, epsilon, shares) <= target
        assert success(mechanism, epsilon * 1.02 + 1e-3, shares) > target


@pytest.mark.parametrize("wrong", [0.5, 0.9, 1.1, 2.0])
def test_a_wrong_estimate_is_no_trap(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An estimate that is always too small or too large still leads to the target."""
    monkeypatch.setattr(calibrate, "_EXACT", 8)
    estimate = DistanceEstimate.success
    monkeypatch.setattr(
        DistanceEstimate, "success", lambda self, at: wrong * estimate(self, at)
    )
    mechanism = prepared.ready("santext", small.cloud(300, 3, listed=9, seed=5))
    shares = small.zipf(300)
    target = float(shares.max()) + 0.2
    epsilon = calibrate.epsilon_for(mechanism, target, shares)
    assert success(mechanism, epsilon, shares) <= target
    assert success(mechanism, epsilon * 1.02, shares) > target


def test_more_words_than_the_search_looks_at_are_no_trap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a closed form, a flat prior over many words: all inputs still count."""
    monkeypatch.setattr(calibrate, "_QUICK", 8)
    monkeypatch.delattr(DistanceMechanism, "best_guesses")
    monkeypatch.delattr(DistanceMechanism, "risk_estimate")
    mechanism = prepared.ready("santext", small.cloud(300, 3, listed=9, seed=5))
    flat = np.full(300, 1.0 / 300)
    for target in (0.05, 0.09, 0.2, 0.5):
        epsilon = calibrate.epsilon_for(mechanism, target, flat)
        assert success(mechanism, epsilon, flat) <= target
        assert success(mechanism, epsilon * 1.02 + 1e-3, flat) > target


@pytest.mark.parametrize("target", [0.0, 0.1, 0.4999, 0.5, 1.0, 1.5])
def test_a_risk_below_a_blind_guess_is_out_of_reach(target: float) -> None:
    """No epsilon prevents a guess without output; the message gives both numbers."""
    mechanism = prepared.ready("rank", small.line(0.0, 1.0, 3.0), k=1)
    with pytest.raises(UsageError, match=r"already succeeds for up to 50% of"):
        calibrate.epsilon_for(mechanism, target, np.array([0.5, 0.3, 0.2]))


def test_a_risk_that_no_epsilon_reaches_is_out_of_reach() -> None:
    """A small gamma caps what can leak; the message says so."""
    mechanism = prepared.ready("tem", small.cloud(30, 3), gamma=1e-4)
    with pytest.raises(UsageError, match="give a smaller risk"):
        calibrate.epsilon_for(mechanism, 0.9, np.full(30, 1.0 / 30))


def test_a_small_epsilon_is_an_answer() -> None:
    """Where epsilon counts places on a long chain, it is small and still meaningful."""
    mechanism = prepared.ready("diffractor", small.cloud(400, 3), scale=0.01)
    shares = small.zipf(400)
    target = float(shares.max()) + 0.05
    epsilon = calibrate.epsilon_for(mechanism, target, shares)
    assert 1e-4 <= epsilon < 1e-2
    assert success(mechanism, epsilon, shares) <= target
    assert success(mechanism, epsilon * 1.01, shares) > target


def test_an_epsilon_at_which_nothing_is_defined_is_not_given() -> None:
    """Gumbel is defined above a threshold only: met there, or out of reach."""
    mechanism = prepared.ready("gumbel", small.line(0.0, 1.0, 2.5, 4.0))
    flat = np.full(4, 0.25)
    least = mechanism.least_epsilon
    with pytest.raises(UsageError, match="smallest epsilon for which gumbel is def"):
        calibrate.epsilon_for(mechanism, 0.26, flat)
    lowest, highest = (success(mechanism, at, flat) for at in (least + 0.01, 300.0))
    target = (lowest + highest) / 2.0
    epsilon = calibrate.epsilon_for(mechanism, target, flat)
    assert least < epsilon < 300.0
    assert success(mechanism, epsilon, flat) <= target
    assert success(mechanism, epsilon * 1.01, flat) > target
