"""The epsilon of a mechanism at one risk, and what it is worth: public data alone."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dptext import pipeline, profile, progress, registry, spaces
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.guarantees.wording import measured
from dptext.measures import prior, public
from dptext.measures.bayes_risk import Risk
from dptext.mechanisms import Aim, rank
from dptext.mechanisms.rank import best_weights as weights_of_rank
from dptext.pipeline import Pipeline
from dptext.profile import Part, Profile
from dptext.types import JsonObject, Lexicon

# How often all words are looked at from each of them, for all mechanisms together.
_SCANS, _TIMED = 25, 64


@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism at its epsilon, or why it has none: skipped.

    worst_loss in nats, epsilon times the largest distance; null where there is no bound
    (for eps-delta it holds but for delta). n_w is P(a word stays), a mean over words.
    """

    mechanism: str
    parameters: JsonObject
    space: str = ""
    mapping: str | None = None
    epsilon: float | None = None
    unit: str = ""
    metric: str = ""
    notion: str = ""
    reason: str = ""
    delta: float = 0.0
    worst_loss: float | None = None
    risk: Risk | None = None
    n_w: float | None = None
    seconds: float = 0.0
    skipped: str | None = None


def risk_of(recipe: Profile) -> float:
    """Return the risk of a profile's budget. Raises UsageError where it has none."""
    params = recipe.budget.params
    if not isinstance(params, uniform.Params) or params.risk is None:
        raise UsageError(
            "calibrate chooses epsilon itself: leave the budget's settings out"
        )
    return params.risk


def calibrated(recipe: Profile, lexicon: Lexicon) -> tuple[Row, Pipeline]:
    """Calibrate a profile; return its row and what was made ready for it."""
    began = time.perf_counter()
    ready = pipeline.build(recipe, lexicon)
    seconds = time.perf_counter() - began
    mechanism, epsilon = ready.mechanism, ready.budget.description.high
    promise = mechanism.guarantee(epsilon)
    risk, _ = public.risk_of(ready)
    deniability = public.deniability_of(ready)
    loss = promise.worst(epsilon)
    row = Row(
        mechanism=mechanism.name,
        parameters=dataclasses.asdict(mechanism.params),
        space=recipe.space.name,
        mapping=None if recipe.mapping is None else recipe.mapping.name,
        epsilon=epsilon,
        unit=promise.unit,
        metric=measured(promise),
        notion=promise.notion,
        reason=promise.reason,
        delta=promise.delta,
        worst_loss=loss if math.isfinite(loss) else None,
        risk=risk,
        n_w=None if deniability is None else deniability.n_w,
        seconds=seconds,
    )
    return row, ready


def every_mechanism(
    name: str, over: Mapping[str, object], lexicon: Lexicon
) -> Iterator[Row]:
    """Calibrate each mechanism in place of a profile's, or say why it has no epsilon.

    name is the profile's; over is laid over its keys.
    """
    names = registry.names("mechanisms")
    minutes = _SCANS * len(lexicon.words) * _scan(lexicon) / 60.0
    progress.say(
        f"calibrating {len(names)} mechanisms on {len(lexicon.words):,} words; what is "
        f"not known yet takes up to about {max(1.0, minutes):.0f} min here, and is kept"
    )
    for each in names:
        chosen = over.get("mechanism")
        settings = {**(chosen if isinstance(chosen, Mapping) else {}), "name": each}
        keys = {**over, "mechanism": settings, "mapping": None}
        try:
            if registry.find("mechanisms", each).Params.family == "texts":
                raise UsageError(
                    "it looks at the whole text, and the Bayes risk measures one word"
                )
            yield calibrated(profile.load(name, keys), lexicon)[0]
        except UsageError as error:
            yield Row(each, {}, skipped=str(error))


def _scan(lexicon: Lexicon) -> float:
    """Return the seconds that looking at all words from one word takes here."""
    vectors = np.asarray(lexicon.vectors, np.float64)
    began = time.perf_counter()
    np.exp(-np.sqrt(np.abs(vectors[:_TIMED] @ vectors.T)))
    return (time.perf_counter() - began) / min(_TIMED, len(vectors))


def best_weights(
    recipe: Profile, lexicon: Lexicon, utility: str, cap: float | None
) -> tuple[Profile, dict[str, JsonObject]]:
    """Find the weights of rank that are worth most at a profile's risk.

    The risk and the cap both hold: where the cap (nats, None: none) is reached first,
    the result has it as its epsilon in place of a risk. Returns the profile with the
    weights in it, and what changed as plain data. Raises UsageError.
    """
    target = risk_of(recipe)
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    words = prior.replaced(lexicon, recipe.tokens)
    params = recipe.mechanism.params
    assert isinstance(params, rank.Params)
    problem = weights_of_rank.problem(params, space, words, utility)
    best = weights_of_rank.find(problem, params.outputs, target, cap).params
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


def worth(ready: Pipeline, utility: str) -> float:
    """Return what the weights of a calibrated rank are worth: 0 to 1."""
    words = prior.replaced(ready.lexicon, ready.profile.tokens)
    epsilon = ready.budget.description.high
    assert isinstance(ready.mechanism, rank.Rank)
    return weights_of_rank.achieved(ready.mechanism, words, epsilon, utility)
