"""Finds the epsilon of a profile that specifies a risk, before its pipeline is built.

A mechanism may choose other parameters for a risk than for the epsilon that meets
it (`rank` has a table of weights for either). So a whole profile is resolved: its
parameters are those chosen for the risk, and its epsilon stands beside the risk.
"""

from __future__ import annotations

from dataclasses import replace

from dptext import mechanisms, pipeline, profile, progress, spaces
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS
from dptext.measures import bayes_risk, calibrate
from dptext.profile import Part, Profile
from dptext.run.interface import option
from dptext.types import Floats, Lexicon, Notion, Strategy


def build(recipe: Profile, lexicon: Lexicon) -> pipeline.Pipeline:
    """Prepare a profile with an epsilon or a risk. Raises as `solve` and `prepare`."""
    solved, mechanism = solve(recipe, lexicon)
    return pipeline.build(solved, lexicon, mechanism)


def solve(
    recipe: Profile, lexicon: Lexicon
) -> tuple[Profile, mechanisms.Mechanism | None]:
    """Return a profile with the epsilon that meets its risk, and its mechanism.

    Without a risk, the profile is unchanged and the mechanism is None. Raises
    UsageError for a risk that no meaningful epsilon meets.
    """
    params = recipe.budget.params
    if not isinstance(params, uniform.Params) or params.epsilon is not None:
        return recipe, None
    if params.attacker_risk is not None:
        params = replace(params, risk=_risk_of_words(recipe, lexicon, params))
    recipe = replace(recipe, budget=Part("uniform", params))
    recipe = profile.in_language(recipe, lexicon)
    profile.check_compatibility(recipe, None)
    assert params.risk is not None
    prior = bayes_risk.prior_of_replaced(lexicon, recipe.tokens)
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    aim = mechanisms.Aim(risk=params.risk, prior=prior)
    mechanism = recipe.mechanism.params.prepare(space, aim)
    if recipe.strategy is not Strategy.TOKEN:
        raise UsageError(
            "a risk refers to independent draws, but this strategy shares one draw "
            f"among equal words; give {option('epsilon')} instead"
        )
    recipe = replace(recipe, mechanism=Part(recipe.mechanism.name, mechanism.params))
    return recipe.with_epsilon(_epsilon(mechanism, params.risk, prior)), mechanism


def _risk_of_words(recipe: Profile, lexicon: Lexicon, params: uniform.Params) -> float:
    """Convert a limit on whole-text attackers to a risk for one word."""
    assert params.attacker_risk is not None
    risk = calibrate.risk_for(recipe.settings(), lexicon, params.attacker_risk)
    progress.say(f"attacker-risk {params.attacker_risk:.3g} is met at risk {risk:.3g}")
    return risk


def _epsilon(mechanism: mechanisms.Mechanism, risk: float, prior: Floats) -> float:
    """Return the epsilon for a risk. Raises UsageError if it protects nothing."""
    epsilon = calibrate.epsilon_for(mechanism, risk, prior)
    promise = mechanism.guarantee(epsilon)
    if promise.notion is Notion.LDP and promise.worst(epsilon) > MAX_MEANINGFUL_LOSS:
        raise UsageError(
            f"a risk of {risk:.3g} would take an epsilon of {epsilon:.4g} with these "
            "parameters, which gives no meaningful protection; give a smaller risk, "
            "or let the mechanism list fewer words"
        )
    return epsilon
