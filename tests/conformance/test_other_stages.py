from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from typing import Any

import numpy as np
import pytest

from dptext import registry, spaces
from dptext.budgets import AnyBudget, SequentialBudget
from dptext.errors import UsageError
from dptext.mappings import Index
from dptext.mechanisms import Aim
from dptext.metrics import Batch
from dptext.settings import convert
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetDescription, Eps, Words
from tests import distributions, prepared, small
from tests.conformance.components import (
    BUDGETS,
    ENGLISH,
    MAPPINGS,
    METRICS,
    SPACES,
)
from tests.metrics.batches import batch

STAGES = ("spaces", "mappings", "budgets", "decoders")
PARTS = [(stage, name) for stage in STAGES for name in registry.names(stage)]


@pytest.mark.parametrize(("stage", "name"), PARTS)
def test_params_are_a_frozen_dataclass(stage: str, name: str) -> None:
    """Settings cannot be changed after construction."""
    kind = registry.find(stage, name).Params
    assert dataclasses.is_dataclass(kind)
    params_class: Any = kind
    assert params_class.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)


@pytest.mark.parametrize(
    ("stage", "name"),
    [(stage, name) for stage in registry.STAGES for name in registry.names(stage)],
)
def test_every_component_says_what_it_does(stage: str, name: str) -> None:
    """A docstring opens every component."""
    assert (registry.find(stage, name).__doc__ or "").strip()


@pytest.mark.parametrize("name", SPACES)
def test_a_space_is_a_fixed_function_of_public_vectors(name: str) -> None:
    """Same vectors in, same float32 vectors out, one per row; the input stays."""
    module: Any = registry.find("spaces", name)
    vectors = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    before = vectors.copy()
    moved = module.Params().transform(vectors)
    np.testing.assert_array_equal(vectors, before)
    np.testing.assert_array_equal(moved, module.Params().transform(vectors))
    assert moved.dtype == np.float32
    assert len(moved) == 40
    assert np.isfinite(moved).all()
    assert module.Params.METRIC


@pytest.mark.parametrize("name", SPACES)
def test_a_space_knows_its_neighbours_and_its_size(name: str) -> None:
    """Lists hold the nearest words, far bounds the rest, the diameter all."""
    space = prepared.space_of(small.cloud(30, 4, listed=5), name)
    wide = space.vectors.astype(np.float64)
    gaps = np.linalg.norm(wide[:, None, :] - wide[None, :-1, :], axis=2)
    listed, far = space.neighbours
    assert listed.shape == (31, 5)
    for row in range(31):
        inside = np.zeros(30, bool)
        inside[listed[row]] = True
        assert inside.sum() == 5
        assert gaps[row, ~inside].min() >= far[row]
        assert gaps[row, inside].max() <= gaps[row, ~inside].min() + 1e-6
        assert row == 30 or listed[row, 0] == row
    assert space.geometry.diameter == pytest.approx(gaps.max(), rel=1e-6)
    assert space.geometry.nearest <= space.geometry.median <= space.geometry.diameter


def variants(kind: Any) -> list[Any]:
    """Return the default parameters, and sound ones with one field changed."""
    params = [kind()]
    for field in dataclasses.fields(kind):
        now = getattr(params[0], field.name)
        others = [not now] if isinstance(now, bool) else [1, 3, 0.25, -0.5]
        for other in others:
            with contextlib.suppress(UsageError):
                params.append(convert({field.name: other}, kind, "variant"))
    return params


@pytest.mark.parametrize("name", SPACES)
def test_results_of_different_spaces_are_kept_apart(name: str) -> None:
    """Where parameters of a space move words, results are kept under another name."""
    space_module: Any = registry.find("spaces", name)
    module: Any = registry.find("mechanisms", "rank")
    lexicon = small.cloud(20, 5, listed=4, seed=1)
    known: dict[str, bytes] = {}
    for params in variants(space_module.Params):
        try:
            space = spaces.prepare(lexicon, name, params)
        except UsageError:
            continue
        mechanism = module.Params().prepare(space, Aim())
        moved = space.vectors.tobytes()
        assert known.setdefault(repr(mechanism.identity), moved) == moved, params


@pytest.mark.parametrize("name", SPACES)
def test_zero_vectors_have_a_place_in_every_space(name: str) -> None:
    """A vector without direction gives no NaN."""
    module: Any = registry.find("spaces", name)
    lexicon = small.lexicon(np.zeros((3, 2)))
    space = spaces.prepare(lexicon, name, module.Params())
    assert np.isfinite(space.vectors).all()


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_mapping_gives_words_and_does_not_depend_on_the_batch(name: str) -> None:
    """(n,) int32 below V; the same alone and among others; far points included."""
    module: Any = registry.find("mappings", name)
    space = prepared.space_of(small.cloud(50, 6))
    index = Index(space.vectors, space.size)
    rng = np.random.default_rng(2)
    points = rng.normal(size=(600, 6)).astype(np.float32) * 3
    points[:5] *= 1e6
    bits = distributions.bits(600)
    mapping = module.Params().prepare(index)
    ids = mapping.find(points, bits)
    assert ids.dtype == np.int32
    assert ((ids >= 0) & (ids < 50)).all()
    for part in (np.array([0]), np.array([599]), np.arange(255, 260), np.arange(400)):
        again = mapping.find(points[part], bits.take(part))
        np.testing.assert_array_equal(again, ids[part])


def test_the_index_finds_the_nearest_words() -> None:
    """Nearest first, by direct float64 distances, up to ties within rounding."""
    space = prepared.space_of(small.cloud(80, 5))
    index = Index(space.vectors, space.size)
    points = np.random.default_rng(4).normal(size=(700, 5)).astype(np.float32)
    ids = index.nearest(points, 3)
    wide = space.vectors[:-1].astype(np.float64)
    gaps = np.linalg.norm(points.astype(np.float64)[:, None] - wide[None], axis=2)
    chosen = np.take_along_axis(gaps, ids, axis=1)
    np.testing.assert_allclose(chosen, np.sort(gaps, axis=1)[:, :3], atol=1e-5)
    np.testing.assert_allclose(
        index.distances(points, ids[:, 1]), chosen[:, 1], rtol=1e-12
    )


def make_words(*texts: str) -> Words:
    """Divide texts into words."""
    return Tokenizer(ENGLISH, Policy()).words(texts)


def spread(name: str, words: Words) -> tuple[BudgetDescription, Eps]:
    """Spread the example of a budget; a released past draws the input words again."""
    module: Any = registry.find("budgets", name)
    params = convert(module.Params.EXAMPLE, module.Params, name)
    budget: AnyBudget = params.prepare(ENGLISH)
    bits = distributions.bits(len(words.ids), 5)
    if isinstance(budget, SequentialBudget):
        drawn, eps = budget.release(
            words, bits, lambda positions, _: np.abs(words.ids[positions])
        )
        np.testing.assert_array_equal(drawn, np.abs(words.ids))
    else:
        eps = budget.spread(words, bits)
    return budget.description, eps


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_spends_what_it_says(name: str) -> None:
    """(n,) float64, positive, within the stated bounds, of one word and of a text."""
    words = make_words(
        "the cat runs", "", "dog", "...", "do do do do zq 42", "zq " * 300
    )
    budget_description, eps = spread(name, words)
    assert eps.dtype == np.float64
    assert eps.shape == words.ids.shape
    assert ((eps > 0) & np.isfinite(eps)).all()
    assert (eps >= budget_description.low).all()
    assert (eps <= budget_description.high).all()
    sums = np.bincount(words.texts, eps, minlength=6)
    counts = np.bincount(words.texts, minlength=6)
    if budget_description.total is not None:
        assert (sums <= budget_description.total * (1 + 1e-12)).all()
    if budget_description.rate is not None:
        assert (sums <= budget_description.rate * counts * (1 + 1e-12)).all()
    if budget_description.kind == "text":
        assert budget_description.total is not None
        np.testing.assert_allclose(
            sums[counts > 0], budget_description.total, rtol=1e-12
        )
    for nothing in (make_words(), make_words("", "!")):
        assert len(spread(name, nothing)[1]) == 0


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_looks_at_no_more_than_its_kind_says(name: str) -> None:
    """Kinds word, text and place: equal counts, equal epsilons; type: equal words."""
    one, two = make_words("the cat", "dog"), make_words("zq, 42!", "Paris")
    budget_description, first = spread(name, one)
    _, second = spread(name, two)
    if budget_description.kind in ("word", "text", "position"):
        np.testing.assert_array_equal(first, second)
    if budget_description.kind == "type":
        apart = np.concatenate(
            [spread(name, make_words(t))[1] for t in ("the cat", "dog")]
        )
        np.testing.assert_array_equal(first, apart)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_does_not_depend_on_the_batch(name: str) -> None:
    """A text gets the same epsilons alone as among others."""
    budget_description, whole = spread(
        name, make_words("the cat runs", "dog and the zq of Paris")
    )
    _, alone = spread(name, make_words("the cat runs"))
    if budget_description.kind != "class":  # its noise is another here
        np.testing.assert_array_equal(whole[: len(alone)], alone)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_does_not_depend_on_batches(name: str) -> None:
    """Batches added up are the whole, in plain JSON; nothing is no error."""
    module: Any = registry.find("metrics", name)
    texts = ["the cat runs", "zq dog 42", "", "well-known dog", "..."]
    words = make_words(*texts)
    drawn = np.random.default_rng(0).integers(0, 12, len(words.ids)).astype(np.int32)
    meter = module.Meter(ENGLISH)
    whole = meter.observe(batch(ENGLISH, words, drawn))
    parts = []
    for row, text in enumerate(texts):
        rows = words.texts == row
        part = batch(ENGLISH, make_words(text), drawn[rows], first_text=row)
        parts.append(meter.observe(part))
    figures = json.loads(json.dumps(meter.result(whole)))
    assert figures == meter.result(functools.reduce(meter.merge, parts))
    nothing = meter.result(meter.observe(Batch.empty()))
    assert json.loads(json.dumps(nothing)) == nothing
    assert module.NAME
