"""The weights of rank that are worth most at a risk and an epsilon: a linear program.

Variables are the probabilities q of one word in each step of ranks and at the floor:
they fall, sum to 1, and the first is at most e^epsilon times the last. Worth is linear
in them. The success of the best guess, a sum over outputs of the largest of
prior(x) q(step of y for x), is convex and piecewise linear: it enters by cuts, each the
guesses that are best at the last solution, until the solution meets the risk. So the
result is best on these steps, to a millionth of the risk (docs/results/rank.md).

    python -m tools.best_weights PROFILE --risk 20% --utility closeness [--cap EPSILON]

prints the lines of a profile for the weights that are worth most at a risk, for the
words that the profile replaces: closeness is the expected cosine of a word with its
replacement, kept the share of words that stay. Needs scipy (extra build).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from dptext import calibration, lexicons, profile, spaces
from dptext.budgets import uniform
from dptext.cli.calibrate import budget_risk
from dptext.errors import UsageError
from dptext.measures import bayes_risk
from dptext.mechanisms import Aim, rank
from dptext.mechanisms.rank import Params, Rank
from dptext.noise import unit
from dptext.profile import Part, Profile
from dptext.spaces import Space
from dptext.types import JsonObject, Lexicon

UTILITIES = ("closeness", "kept")
# The last ranks of the steps; lists end at the last of them.
# fmt: off
EDGES = (
    1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32,
    40, 48, 56, 64, 80, 96,
)
# fmt: on
# A nat more must gain this part of the worth, or it is not spent.
GAIN = 0.04
_CAPS = tuple(0.25 * step for step in range(4, 97))
_CUTS = 2000
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Problem:
    """The public input of a search for weights of rank.

    best (outputs, steps + 1): the largest prior of a word that lists the output in that
    step; in the last column the largest of all. ends (steps,): the last rank of each.
    worth (steps + 1,): what one word of probability 1 in each rank of a step is worth.
    """

    best: NDArray[np.float64]
    ends: NDArray[np.int64]
    worth: NDArray[np.float64]

    @property
    def widths(self) -> NDArray[np.float64]:
        """Return how many ranks each step has, the floor last: (steps + 1,)."""
        edges = (0, *self.ends.tolist(), len(self.best))
        return np.diff(edges).astype(np.float64)


@dataclass(frozen=True, slots=True)
class BestWeights:
    """The solution: params of rank, the epsilon they were solved for, their worth."""

    params: Params
    epsilon: float
    worth: float


def problem(
    params: Params, space: Space, prior: NDArray[np.float64], utility: str
) -> Problem:
    """Gather what the program needs, for the outputs and the k of params.

    prior (V,) of the words that are replaced. Raises UsageError for an unknown utility.
    """
    outputs = rank.count_outputs(space, params.outputs)
    stored = rank.count_listed(space)
    most = min(params.k or EDGES[-1], EDGES[-1], stored, outputs)
    lists = Params(weights="staircase", k=most, outputs=params.outputs)
    mechanism = lists.prepare(space, Aim())
    ends = np.unique(np.minimum(EDGES, most))
    step = np.searchsorted(ends, np.arange(most), side="right")
    best = np.zeros((outputs, len(ends) + 1))
    for position in range(most):
        words = mechanism.orders[:-1, position].astype(np.int64)
        np.maximum.at(best[:, step[position]], words, prior)
    best[:, -1] = prior.max()
    by_rank = worth(mechanism, prior, utility)
    by_step = np.bincount(step, by_rank, len(ends) + 1).astype(np.float64)
    return Problem(best, ends, by_step)


def worth(
    mechanism: Rank, prior: NDArray[np.float64], utility: str
) -> NDArray[np.float64]:
    """Return what the word at each listed rank is worth, a mean over words: (k,).

    closeness: its cosine with the word that it stands for, 0 where it is less; kept: 1
    for the word itself. What the floor writes counts nothing.
    """
    if utility not in UTILITIES:
        raise UsageError(
            f"no utility named {utility!r}; there are {', '.join(UTILITIES)}"
        )
    by_rank = np.zeros(mechanism.listed)
    if utility == "kept":
        # A name of persons is not first in its order, if it stands there at all.
        for position in range(mechanism.listed):
            itself = mechanism.orders[:-1, position] == np.arange(len(prior))
            by_rank[position] = prior[itself].sum()
        return by_rank
    rows = unit(np.asarray(mechanism.space.lexicon.vectors, np.float64))
    for begin in range(0, len(prior), 1000):
        part = slice(begin, min(begin + 1000, len(prior)))
        others = rows[mechanism.orders[part].astype(np.int64)]
        cosines = np.einsum("nkd,nd->nk", others, rows[part])
        by_rank += prior[part] @ np.maximum(cosines, 0.0)
    return by_rank


def solve(
    problem: Problem, risk: float, cap: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the largest worth at a risk and an epsilon, and ln w of each step.

    Raises UsageError for a risk that even uniform outputs do not meet.
    """
    best, size, steps = problem.best, len(problem.best), len(problem.ends)
    floor = float(best[0, -1])
    if not floor < risk < 1.0:
        raise UsageError(
            f"risk {risk:.2%} is out of reach: a guess without any output already "
            f"succeeds for {floor:.2%} of words; give a risk between these and 100%"
        )
    # In units of the uniform probability, so that numbers are of size 1.
    order = np.diff(np.eye(steps + 1), axis=0)
    bound = np.zeros((1, steps + 1))
    bound[0, 0], bound[0, -1] = np.exp(-cap), -1.0
    rows, limits = np.vstack((order, bound)), np.zeros(steps + 1)
    for _ in range(_CUTS):
        q = _linear(problem.worth / size, rows, limits, problem.widths / size)
        guess = (best * q).argmax(axis=1)
        values = best[np.arange(size), guess]
        cut = np.bincount(guess, weights=values, minlength=steps + 1) / size
        if cut @ q <= risk * (1.0 + _SLACK):
            break
        rows, limits = np.vstack((rows, cut)), np.append(limits, risk)
    return float(problem.worth @ q / size), np.log(q[:-1] / q[-1])


def _linear(
    gains: NDArray[np.float64],
    rows: NDArray[np.float64],
    limits: NDArray[np.float64],
    widths: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return q >= 0 of the largest gains @ q with rows @ q <= limits, widths @ q 1."""
    result = linprog(
        -gains, rows, limits, widths[None, :], [1.0], method="highs", bounds=(0, None)
    )
    if result.status != 0:
        raise UsageError(f"the program for weights has no solution: {result.message}")
    return np.asarray(result.x)


def find(
    problem: Problem,
    outputs: int | None,
    risk: float,
    cap: float | None = None,
    least: float = 0.0,
) -> BestWeights:
    """Return the best weights for a risk, with an epsilon of at most cap nats.

    Without cap the epsilon is the smallest on a grid of quarters of a nat where one nat
    more would gain less than 4% of the worth, least or more. steps are rounded to a
    thousandth.
    """
    epsilon = _enough(problem, risk, least) if cap is None else cap
    value, logs = solve(problem, risk, epsilon)
    steps = np.round(logs / logs[0], 3) if logs[0] > 0.0 else np.ones(1)
    table: list[tuple[int, float]] = []
    for last, step in zip(problem.ends.tolist(), steps.tolist(), strict=False):
        if step <= 0.0:
            break
        if table and table[-1][1] == step:
            table.pop()
        table.append((last, step))
    params = Params(weights="steps", steps=tuple(table), outputs=outputs)
    return BestWeights(params, epsilon, value)


def _enough(problem: Problem, risk: float, least: float) -> float:
    """Return the smallest cap, least or more, where a nat more gains little."""

    @cache
    def worth_at(cap: float) -> float:
        return solve(problem, risk, cap)[0]

    for cap in (cap for cap in _CAPS if cap >= least):
        if worth_at(cap) >= (1.0 - GAIN) * worth_at(cap + 1.0):
            return cap
    return _CAPS[-1]


def achieved(
    mechanism: Rank, prior: NDArray[np.float64], epsilon: float, utility: str
) -> float:
    """Return the worth of weights of rank at an epsilon."""
    weights, totals = mechanism.weights(np.array([epsilon]))
    return float(weights[0] @ worth(mechanism, prior, utility) / totals[0])


def for_profile(
    recipe: Profile, lexicon: Lexicon, utility: str, cap: float | None
) -> tuple[Profile, dict[str, JsonObject]]:
    """Find the weights of rank that are worth most at a profile's risk.

    The risk and the cap both hold: where the cap (nats, None: none) is reached first,
    the result has it as its epsilon instead of a risk. Returns the profile with the
    weights in it, and what changed as plain data. Raises UsageError.
    """
    target = budget_risk(recipe)
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    words = bayes_risk.prior_of_replaced(lexicon, recipe.tokens)
    params = recipe.mechanism.params
    assert isinstance(params, Params)
    gathered = problem(params, space, words, utility)
    best = find(gathered, params.outputs, target, cap).params
    spent: dict[str, float] = {"risk": target}
    if cap is not None:
        guesses = best.prepare(space, Aim()).best_guesses(words, cap, [(0, len(words))])
        if math.fsum(guesses[0]) <= target:
            spent = {"epsilon": cap}
    steps = [list(pair) for pair in best.steps]
    mechanism: JsonObject = {"name": "rank", "weights": "steps", "steps": steps}
    if params.outputs is not None:
        mechanism["outputs"] = params.outputs
    budget = Part("uniform", uniform.Params(**spent))
    recipe = replace(recipe, mechanism=Part("rank", best), budget=budget)
    return recipe, {"mechanism": mechanism, "budget": {"name": "uniform", **spent}}


def as_yaml(block: Mapping[str, JsonObject]) -> str:
    """Write settings as they stand in a profile."""
    lines = []
    for key, settings in block.items():
        pairs = (f"{name}: {_value(name, value)}" for name, value in settings.items())
        lines.append(f"{key}: {{{', '.join(pairs)}}}")
    return "\n".join(lines)


def _value(name: str, value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(f"[{last}, {step:g}]" for last, step in value) + "]"
    if not isinstance(value, float):
        return str(value)
    return f"{100.0 * value:.10g}%" if name == "risk" else f"{value:.10g}"


def main() -> None:
    """Print the best weights as a profile wants them, and what they are worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("profile", nargs="?", default="balanced")
    parser.add_argument("--risk", required=True)
    parser.add_argument("--utility", choices=UTILITIES, default=UTILITIES[0])
    parser.add_argument("--cap", type=float, help="the largest epsilon, in nats")
    parser.add_argument("--lexicon")
    arguments = parser.parse_args()
    over: JsonObject = {"budget": {"risk": arguments.risk, "epsilon": None}}
    if arguments.lexicon:
        over["lexicon"] = arguments.lexicon
    recipe = profile.load(arguments.profile, over)
    if recipe.mechanism.name != "rank":
        sys.exit(f"{arguments.profile}: its mechanism is not rank")
    lexicon = lexicons.find(recipe.lexicon)
    recipe, changed = for_profile(recipe, lexicon, arguments.utility, arguments.cap)
    ready = calibration.build(recipe, lexicon)
    assert isinstance(ready.mechanism, Rank)
    words = bayes_risk.prior_of_replaced(lexicon, recipe.tokens)
    epsilon = ready.budget.description.high
    reached = achieved(ready.mechanism, words, epsilon, arguments.utility)
    print(f"# {arguments.utility} {reached:.4f} at epsilon {epsilon:g}")
    print(as_yaml(changed))


if __name__ == "__main__":
    main()
