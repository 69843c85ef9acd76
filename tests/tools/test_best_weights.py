"""The linear program for weights, against programs and searches without cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from dptext import lexicons, profile
from dptext.errors import UsageError
from dptext.measures import calibrate
from dptext.mechanisms import Aim, rank
from tests import prepared, small
from tests.cli import running
from tools import best_weights

pytest.importorskip("scipy")


def tiny(size: int, listed: int, seed: int = 0) -> tuple[Any, NDArray[np.float64]]:
    """Return a space over a small lexicon and a prior of unequal words."""
    space = prepared.space_of(small.cloud(size, 3, listed=listed, seed=seed))
    return space, np.random.default_rng(seed).dirichlet(np.full(size, 0.7))


def risk_of(
    space: Any, prior: NDArray[np.float64], by_rank: NDArray[np.float64]
) -> float:
    """Return the success of the best guess from P(rank), rank by rank, in the open."""
    orders = space.lexicon.orders[:-1].astype(int)
    joint = np.full((len(prior), space.size), by_rank[-1])
    for word, order in enumerate(orders):
        joint[word, order[: len(by_rank) - 1]] = by_rank[:-1]
    return float((joint * prior[:, None]).max(axis=0).sum())


def worth_of(space: Any, prior: NDArray[np.float64], listed: int) -> Any:
    """Return the expected cosine at each rank, word by word."""
    rows = space.lexicon.vectors.astype(float)
    worth = np.zeros(listed)
    for word, order in enumerate(space.lexicon.orders[:-1].astype(int)):
        for position in range(listed):
            a, b = rows[word], rows[order[position]]
            cosine = a @ b / np.sqrt((a @ a) * (b @ b))
            worth[position] += prior[word] * max(cosine, 0.0)
    return worth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("share", "cap"), [(0.2, 2.0), (0.4, 3.0), (0.5, 9.0)])
def test_no_weights_on_a_grid_are_better(seed: int, share: float, cap: float) -> None:
    """Brute force over two ranks and the floor: never better, and as good nearby."""
    size, listed = 6, 2
    space, prior = tiny(size, listed, seed)
    risk = float(prior.max() + share * (1.0 - prior.max()))
    problem = best_weights.problem(rank.Params(), space, prior, "closeness")
    value, logs = best_weights.solve(problem, risk, cap)
    worth = worth_of(space, prior, listed)
    one = np.linspace(0.0, cap, 200)[:, None]
    two = one * np.linspace(0.0, 1.0, 200)
    grid = np.exp(np.stack([one + 0.0 * two, two, 0.0 * two]).reshape(3, -1))
    grid /= grid[0] + grid[1] + (size - listed)
    best = 0.0
    for column in np.argsort(-(worth @ grid[:2]), kind="stable"):
        if risk_of(space, prior, grid[:, column]) <= risk:
            best = float(worth @ grid[:2, column])
            break
    assert best <= value * (1 + 1e-5)
    assert best >= value * (1 - 2e-2)
    probabilities = np.exp(np.append(logs, 0.0))
    probabilities /= probabilities[0] + probabilities[1] + (size - listed)
    assert risk_of(space, prior, probabilities) <= risk * (1 + 1e-5)
    assert float(probabilities[:2] @ worth) == pytest.approx(value, rel=1e-6)
    assert logs[0] <= cap + 1e-9


@pytest.mark.parametrize("utility", best_weights.UTILITIES)
def test_cuts_solve_the_whole_program(utility: str) -> None:
    """With a variable for each output and a row for each pair the worth is the same."""
    from scipy.optimize import linprog

    size, listed, cap = 30, 8, 4.0
    space, prior = tiny(size, listed, 5)
    risk = float(prior.max() + 0.15)
    problem = best_weights.problem(rank.Params(), space, prior, utility)
    assert problem.ends.tolist() == list(range(1, listed + 1))
    gains = worth_of(space, prior, listed)
    if utility == "kept":
        gains = np.eye(listed)[0]
    rows, limits = [], []
    wide = listed + 1 + size
    for word, order in enumerate(space.lexicon.orders[:-1].astype(int)):
        for output in range(size):
            row = np.zeros(wide)
            position = np.flatnonzero(order[:listed] == output)
            row[position[0] if len(position) else listed] = prior[word]
            row[listed + 1 + output] = -1.0
            rows.append(row)
            limits.append(0.0)
    for number in range(listed):
        row = np.zeros(wide)
        row[number], row[number + 1] = -1.0, 1.0
        rows.append(row)
        limits.append(0.0)
    row = np.zeros(wide)
    row[0], row[listed] = 1.0, -np.exp(cap)
    rows.append(row)
    limits.append(0.0)
    row = np.zeros(wide)
    row[listed + 1 :] = 1.0
    rows.append(row)
    limits.append(risk)
    whole = np.zeros(wide)
    whole[:listed], whole[listed] = 1.0, size - listed
    goal = np.zeros(wide)
    goal[:listed] = -gains
    exact = linprog(goal, np.array(rows), limits, whole[None], [1.0])
    value, _ = best_weights.solve(problem, risk, cap)
    assert value == pytest.approx(-exact.fun, rel=1e-5)


def test_the_best_weights_beat_the_closed_forms() -> None:
    """At the risk and the epsilon of an arch they are worth at least as much."""
    space, prior = tiny(120, 40, 2)
    problem = best_weights.problem(rank.Params(), space, prior, "closeness")
    for params in (
        rank.Params(weights="arch", k=20, p=2.0),
        rank.Params(weights="power", k=40, c=3.0),
        rank.Params(weights="staircase", k=4),
    ):
        mechanism = params.prepare(space, Aim())
        epsilon = 4.0
        guess = mechanism.best_guesses(prior, epsilon, [(0, 120)])
        mine = best_weights.achieved(mechanism, prior, epsilon, "closeness")
        best, _ = best_weights.solve(problem, float(guess.sum()) * (1 + 1e-9), epsilon)
        # Their steps need not end where those of the program do.
        assert best >= mine * 0.995


def test_what_is_found_meets_the_risk_when_it_is_calibrated() -> None:
    """The table falls, its epsilon near the one it was made for, its worth too."""
    space, prior = tiny(120, 40, 3)
    risk = float(prior.max() + 0.2)
    problem = best_weights.problem(rank.Params(), space, prior, "closeness")
    best = best_weights.find(problem, None, risk)
    mechanism = best.params.prepare(space, Aim())
    epsilon = calibrate.epsilon_for(mechanism, risk, prior)
    assert epsilon == pytest.approx(best.epsilon, rel=0.02)
    reached = best_weights.achieved(mechanism, prior, epsilon, "closeness")
    assert reached == pytest.approx(best.worth, rel=0.02)
    capped = best_weights.find(problem, None, risk, cap=1.5)
    assert capped.worth < best.worth
    more = best_weights.solve(problem, risk, best.epsilon + 1.0)[0]
    assert best.worth >= (1 - best_weights.GAIN) * more
    less = best_weights.solve(problem, risk, best.epsilon - 0.25)[0]
    above = best_weights.solve(problem, risk, best.epsilon + 0.75)[0]
    assert less < (1 - best_weights.GAIN) * above


def test_k_and_outputs_bound_the_lists() -> None:
    """The lists of the program are those that the mechanism would have."""
    space, prior = tiny(30, 30, 1)
    problem = best_weights.problem(rank.Params(k=5, outputs=12), space, prior, "kept")
    assert len(problem.best) == 12
    assert problem.ends.tolist() == [1, 2, 3, 4, 5]
    assert problem.worth.tolist() == [pytest.approx(prior[:12].sum()), 0, 0, 0, 0, 0]


def test_what_cannot_be_is_said() -> None:
    """A risk below the best blind guess, and an unknown utility."""
    space, prior = tiny(9, 4)
    problem = best_weights.problem(rank.Params(), space, prior, "closeness")
    with pytest.raises(UsageError, match="out of reach"):
        best_weights.find(problem, None, float(prior.max()) * 0.99)
    with pytest.raises(UsageError, match="closeness, kept"):
        best_weights.problem(rank.Params(), space, prior, "beauty")


def test_what_is_printed_is_what_a_profile_wants(tmp_path: Path) -> None:
    """Pasted into a profile it gives the same recipe; a cap is then the epsilon."""
    where = running.lexicon(tmp_path)
    lexicon = lexicons.find(where)
    over = {"lexicon": where, "budget": {"risk": "60%", "epsilon": None}}
    recipe = profile.load("balanced", over)
    best, changed = best_weights.for_profile(recipe, lexicon, "closeness", None)
    pasted = yaml.safe_load(best_weights.as_yaml(changed))
    assert pasted["budget"] == {"name": "uniform", "risk": "60%"}
    again = profile.load("balanced", {**over, **pasted})
    assert (again.mechanism, again.budget) == (best.mechanism, best.budget)
    best, changed = best_weights.for_profile(recipe, lexicon, "kept", 0.7)
    assert changed["budget"] == {"name": "uniform", "epsilon": 0.7}
