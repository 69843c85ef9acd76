"""Which settings go together: mechanisms, strategies, budgets, languages."""

from __future__ import annotations

from dataclasses import replace

from dptext.budgets import AnyBudget, SequentialBudget, uniform
from dptext.errors import UsageError
from dptext.mechanisms import Family
from dptext.profile import Profile
from dptext.tokens import stop_words
from dptext.types import ENGLISH, Lexicon, Strategy


def in_language(recipe: Profile, lexicon: Lexicon) -> Profile:
    """Ask for agreement in English only, and for stop words where they are known."""
    language, policy = lexicon.language, recipe.tokens
    if language == ENGLISH:
        return recipe
    if policy.stop_word != "perturb" and not stop_words.of(language):
        msg = (
            f"tokens.stop_word: no function words are known of language {language!r} "
            f"(lexicon {lexicon.name}); set it to perturb, or import the lexicon with "
            "--language"
        )
        raise UsageError(msg)
    return replace(recipe, tokens=replace(policy, agreement="none"))


def check(recipe: Profile, budget: AnyBudget | None) -> None:
    """Refuse strategies and budgets that do not go with a mechanism or each other."""
    name = recipe.mechanism.name
    if recipe.strategy is not Strategy.TOKEN and recipe.budget.name != "uniform":
        raise UsageError(
            f"strategy {recipe.strategy} draws a word once for several places, which "
            "must have one epsilon: use the budget uniform"
        )
    params, budget_params = recipe.mechanism.params, recipe.budget.params
    plain = isinstance(budget_params, uniform.Params) and budget_params.epsilon
    if params.needs_one_epsilon and not plain:
        raise UsageError(
            f"{name} with these parameters looks at all pairs of words for each "
            "epsilon: use the budget uniform with an epsilon, not a risk"
        )
    if params.family is not Family.TEXTS:
        return
    if recipe.strategy is not Strategy.TOKEN:
        raise UsageError(
            f"{name} draws every word in its context: use the strategy token"
        )
    if isinstance(budget, SequentialBudget):
        raise UsageError(
            f"{name} looks at the whole text, so it cannot draw word after word as the "
            f"budget {recipe.budget.name} wants; use another budget"
        )
