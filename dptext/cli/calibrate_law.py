"""What `dptext calibrate --best-law` does: solve for a law, calibrate it, print it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from dptext import lexicons, profile, registry, spaces
from dptext.adversaries import best_law, prior
from dptext.cli import calibrate_run
from dptext.errors import UsageError
from dptext.mechanisms import rank
from dptext.profile import Part
from dptext.types import Lexicon


def run(
    name: str,
    over: dict[str, Any],
    *,
    utility: str | None,
    cap: float | None,
    every: bool,
    as_json: bool,
) -> None:
    """Find the best law of rank for a profile's words and risk, and print it.

    The risk and the cap both hold: where the cap is reached first, what is printed has
    an epsilon in place of a risk.
    """
    if utility is None:
        msg = "--epsilon-cap goes with --best-law closeness or --best-law kept"
        raise UsageError(msg)
    if cap is not None and not 0.0 < cap <= rank.LARGEST_EPSILON:
        msg = f"--epsilon-cap {cap:g}: give a number of nats from 0 to 500"
        raise UsageError(msg)
    recipe = profile.load(name, over)
    if every or recipe.mechanism.name != "rank":
        msg = "--best-law is about the mechanism rank: add --mechanism rank"
        raise UsageError(msg)
    target = calibrate_run.risk_of(recipe)
    lexicon = lexicons.find(recipe.lexicon)
    made, block = _found(recipe, lexicon, utility, target, cap)
    row, pipeline = calibrate_run.row_of(made, lexicon)
    words = prior.replaced(lexicon, recipe.tokens)
    assert row.epsilon is not None
    value = best_law.achieved(pipeline.channel, words, row.epsilon, utility)
    more = {"utility": utility, "worth": value, "settings": block}
    calibrate_run.show(made, target, lexicon, [row], as_json=as_json, **more)
    if as_json:
        return
    print(f"\n# {utility} {value:.4f}\n{_yaml(block)}")  # noqa: T201


def _found(
    recipe: profile.Profile,
    lexicon: Lexicon,
    utility: str,
    target: float,
    cap: float | None,
) -> tuple[profile.Profile, dict[str, dict[str, Any]]]:
    """Return the profile with the law in it, and what changed as plain data."""
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    words = prior.replaced(lexicon, recipe.tokens)
    given: rank.Params = recipe.mechanism.params
    problem = best_law.problem(given, space, words, utility)
    law = best_law.find(problem, given.outputs, target, cap)
    state = rank.prepare(law.params, space)
    budget: dict[str, Any] = {"name": "uniform", "risk": target}
    if cap is not None:
        best = rank.best_guesses(state, words, cap, [(0, len(words))])
        if math.fsum(best[0]) <= target:
            budget = {"name": "uniform", "epsilon": cap}
    steps = [list(pair) for pair in law.params.steps]
    mechanism: dict[str, Any] = {"name": "rank", "weights": "steps", "steps": steps}
    if given.outputs is not None:
        mechanism["outputs"] = given.outputs
    spent = registry.find("budgets", "uniform").Params
    rest = {key: value for key, value in budget.items() if key != "name"}
    made = replace(
        recipe,
        mechanism=Part("rank", law.params),
        budget=Part("uniform", spent(**rest)),
    )
    return made, {"mechanism": mechanism, "budget": budget}


def _yaml(block: dict[str, dict[str, Any]]) -> str:
    """Write the settings as they stand in a profile."""
    lines = []
    for key, settings in block.items():
        told = ", ".join(f"{name}: {_value(name, v)}" for name, v in settings.items())
        lines.append(f"{key}: {{{told}}}")
    return "\n".join(lines)


def _value(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(f"[{last}, {step:g}]" for last, step in value) + "]"
    if name == "risk":
        return f"{100.0 * value:.10g}%"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
