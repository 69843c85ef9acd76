"""Extreme settings: a clear refusal, or draws that keep the guarantee."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dptext import pipeline, profile, registry
from dptext.errors import DptextError, LexiconError, UsageError
from dptext.pipeline import Pipeline
from dptext.settings import convert
from dptext.types import Lexicon
from tests import distributions
from tests.conformance.components import (
    BUDGETS,
    MAPPINGS,
    MECHANISMS,
    NOISES,
    SIX,
    SPACES,
)

EVERY = np.array([0, 1, 2, 3, 4, 5, -1], np.int32)
EPSILONS = (5e-324, 1e-300, 1e-40, 1e-20, 1e-12, 1e-7, 1e-3, 30.0, 500.0, 1e6)
ENDS = (
    5e-324,
    1e-300,
    1e-15,
    1e-12,
    1e-9,
    1e-6,
    1.0 - 2.0**-53,
    1e6,
    1e9,
    1e12,
    1e300,
)
TIMES = 400


def extreme_settings(kind: Any) -> Iterator[dict[str, Any]]:
    """Yield settings with one number at an end of its range."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if float not in (hints[field.name], *typing.get_args(hints[field.name])):
            continue
        for value in (*ENDS, -1e300, -1e9, 0.0):
            try:
                convert({field.name: value}, kind, "test")
            except (DptextError, ValueError):
                continue
            yield {field.name: value}


def refused(error: DptextError) -> None:
    """Hold a refusal to one clear line."""
    assert isinstance(error, UsageError | LexiconError)
    assert "\n" not in str(error)
    assert len(str(error)) < 400


def hold(sanitizer: Pipeline, epsilon: float) -> None:
    """Draw all inputs at an epsilon and hold it against law and promise (1e-6)."""
    mechanism, size = sanitizer.mechanism, len(sanitizer.lexicon.words)
    ids = np.repeat(EVERY, TIMES)
    drawn = sanitizer.draw(
        ids, np.full(len(ids), epsilon), distributions.bits(len(ids), 5)
    )
    assert ((drawn >= 0) & (drawn < size)).all()
    hits = np.array(
        [np.bincount(row, minlength=size) for row in drawn.reshape(len(EVERY), TIMES)]
    )
    promise = mechanism.guarantee(epsilon)
    if mechanism.has_log_probs:
        logs = mechanism.log_probs(EVERY, np.full(7, epsilon))
        assert not np.isnan(logs).any()
        law = distributions.normalised(logs)
        low, high = distributions.limits(hits, TIMES, 1e-9)
        assert ((law >= low) & (law <= high)).all()
    if promise.notion == "none" or epsilon * promise.max_distance > 300.0:
        return
    bound = epsilon * promise.max_distance
    low, high = distributions.limits(hits, TIMES, 1e-9)
    with np.errstate(divide="ignore"):
        # A delta is a chance besides: take it off the observed share.
        least = np.log(np.maximum(low - promise.delta, 0.0))
        assert (least[:, None, :] - np.log(high)[None, :, :]).max() <= bound
    if mechanism.has_log_probs:
        logs -= np.logaddexp.reduce(logs, axis=1)[:, None]
        lost = (logs[:, None, :] - logs[None, :, :]).max()
        assert lost <= bound * (1.0 + 1e-6) + 1e-13


def tried(data: dict[str, Any], lexicon: Lexicon = SIX) -> Pipeline | None:
    """Build a pipeline, or hold its refusal to one line."""
    try:
        return pipeline.build(profile.parse(data, "test"), lexicon)
    except DptextError as error:
        refused(error)
        return None


def recipes(name: str) -> Iterator[dict[str, Any]]:
    """Yield a mechanism by default and with each setting at an end."""
    kind = registry.find("mechanisms", name).Params
    yield {"name": name}
    for settings in extreme_settings(kind):
        hints = typing.get_type_hints(kind)
        key = {"rank": "weights", "diffractor": "noise"}.get(name, "")
        for shape in typing.get_args(hints.get(key)) or (None,):
            chosen = {"name": name, **settings, **({key: shape} if shape else {})}
            try:
                profile.parse(
                    {"mechanism": chosen, "budget": {"name": "per-text", "epsilon": 1}},
                    "test",
                )
            except (DptextError, ValueError):
                continue
            yield chosen


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_holds_or_refuses_at_the_ends(name: str) -> None:
    """Epsilon from the least float to the largest accepted, each setting at an end."""
    mapping = {"mapping": MAPPINGS[0]} if name in NOISES else {}
    built = 0
    for mechanism in recipes(name):
        usual = len(mechanism) == 1
        for epsilon in EPSILONS if usual else (1e-6, 1.0, 1e3):
            budget = {"name": "uniform", "epsilon": epsilon}
            sanitizer = tried({"mechanism": mechanism, "budget": budget, **mapping})
            if sanitizer is not None:
                built += 1
                hold(sanitizer, epsilon)
    needs = name in ("mlm", "gumbel")
    assert built or needs


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("factor", [1e-38, 1e-30, 1e-9, 1e-3, 1e3, 1e8, 1e20, 1e38])
def test_lexicons_of_very_long_and_very_short_vectors(name: str, factor: float) -> None:
    """Vectors are measured exactly, or refused; epsilon is scaled against them."""
    vectors = (SIX.vectors.astype(np.float64) * factor).astype(np.float32)
    lexicon = dataclasses.replace(
        SIX,
        vectors=vectors,
        digest=f"{SIX.digest} times {factor}",
        meta={"prior": "made for tests"},
    )
    mapping = {"mapping": MAPPINGS[0]} if name in NOISES else {}
    for epsilon in (1e-6, 1.0, 1.0 / factor):
        if not epsilon <= 1e6:
            continue
        budget = {"name": "uniform", "epsilon": epsilon}
        sanitizer = tried({"mechanism": name, "budget": budget, **mapping}, lexicon)
        if sanitizer is not None:
            hold(sanitizer, epsilon)


@pytest.mark.parametrize("name", MECHANISMS)
def test_words_that_all_lie_at_one_point(name: str) -> None:
    """All are drawn alike, or the refusal says why, and not to change epsilon."""
    same = dataclasses.replace(
        SIX,
        vectors=np.ones_like(SIX.vectors),
        far=np.zeros_like(SIX.far),
        digest=f"{SIX.digest} coincide in the space",
        meta={"prior": "made for tests"},
    )
    mapping = {"mapping": MAPPINGS[0]} if name in NOISES else {}
    budget = {"name": "uniform", "epsilon": 2.0}
    recipe = profile.parse({"mechanism": name, "budget": budget, **mapping}, "test")
    if name in ("laplace", "privemb", "santext", "tem"):
        with pytest.raises(UsageError, match=r"coincide in the space .* use another"):
            pipeline.build(recipe, same)
    elif name not in ("gumbel", "mlm"):
        hold(pipeline.build(recipe, same), 2.0)


@pytest.mark.parametrize("name", SPACES)
def test_every_space_holds_or_refuses_at_the_ends(name: str) -> None:
    """Numbers of a space at an end give finite vectors, at once, or one line."""
    kind = registry.find("spaces", name).Params
    for settings in ({}, *extreme_settings(kind)):
        data = {
            "mechanism": "santext",
            "space": {"name": name, **settings},
            "budget": {"name": "uniform", "epsilon": 1.0},
        }
        sanitizer = tried(data)
        if sanitizer is not None:
            assert np.isfinite(sanitizer.mechanism.space.vectors).all()
            hold(sanitizer, 1.0)


@pytest.mark.parametrize("name", BUDGETS)
def test_every_budget_of_tiny_epsilons_is_refused_in_one_line(name: str) -> None:
    """An epsilon that cannot be drawn exactly is refused before a text is read."""
    module: Any = registry.find("budgets", name)

    def tiny(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: tiny(each) for key, each in value.items()}
        return [tiny(each) for each in value] if isinstance(value, list) else 1e-300

    settings = {key: tiny(value) for key, value in module.Params.EXAMPLE.items()}
    data = {"mechanism": "diffractor", "budget": {"name": name, **settings}}
    with pytest.raises(UsageError):
        pipeline.build(profile.parse(data, "test"), SIX)


def test_a_promise_finer_than_the_draws_is_refused() -> None:
    """The line names the guarantee, the exactness of draws, and a remedy."""
    budget = {"name": "uniform", "epsilon": 1e-13}
    data = {"mechanism": "santext", "budget": budget}
    with pytest.raises(UsageError, match=r"exact to .* nats only; give a larger"):
        pipeline.build(profile.parse(data, "test"), SIX)
