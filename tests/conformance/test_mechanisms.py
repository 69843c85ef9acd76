from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import registry
from dptext.mechanisms import NoiseMechanism, WordMechanism
from dptext.randomness import RunKey
from dptext.types import Eps, Guarantee, Ids, Record
from tests import distributions
from tests.conformance import components
from tests.conformance.components import (
    CHOICES,
    EXACT,
    MECHANISMS,
    NOISES,
    PATHS,
    PROMISING,
    built,
)

EVERY = np.array([0, 1, 2, 3, 4, 5, -1], np.int32)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_docstring_states_guarantee_source_and_gaps(name: str) -> None:
    """A mechanism documents its promise, its source and its gaps."""
    module = registry.find("mechanisms", name)
    text = module.__doc__ or ""
    for section in ("Guarantee", "Source", "Known gaps"):
        assert re.search(rf"^{section}: \S", text, re.MULTILINE), section


@pytest.mark.parametrize("name", MECHANISMS)
def test_params_are_a_frozen_dataclass_of_defaults(name: str) -> None:
    """Settings cannot be changed after construction, and none is without a default."""
    params = registry.find("mechanisms", name).Params()
    assert dataclasses.is_dataclass(params)
    kind: Any = type(params)
    assert kind.__dataclass_params__.frozen
    assert not hasattr(params, "__dict__")


@pytest.mark.parametrize("name", [*CHOICES, *NOISES])
def test_a_mechanism_is_of_its_family(name: str) -> None:
    """The mechanism belongs to the family of its Params."""
    mapping = components.MAPPINGS[0] if name in NOISES else None
    kind = NoiseMechanism if name in NOISES else WordMechanism
    assert isinstance(built("SIX", name, mapping).mechanism, kind)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 100.0])
def test_the_guarantee_is_complete(name: str, epsilon: float) -> None:
    """Every field is filled in, in the terms that a statement knows."""
    mapping = components.MAPPINGS[0] if name in NOISES else None
    mechanism = built("SIX", name, mapping).mechanism
    promise: Guarantee = mechanism.guarantee(epsilon)
    assert promise.notion in ("LDP", "metric-DP", "eps-delta", "none")
    assert promise.metric.name
    assert promise.unit
    assert promise.source
    assert promise.max_distance > 0
    assert (promise.notion == "none") == np.isinf(promise.max_distance)
    assert (promise.notion == "none") == bool(promise.reason)
    # Statements count on it: what follows from epsilon is said by max_loss.
    assert mechanism.guarantee(1.0).max_distance == promise.max_distance
    # Where it does, the metric is named before that cut, and has no other.
    assert np.isinf(promise.max_loss) or promise.metric.cut is None


def draw(
    path: tuple[str, str | None],
    ids: Ids,
    eps: Eps,
    *,
    lexicon: str = "SIX",
    seed: int = 0,
) -> Ids:
    """Draw a word for each word, by mechanism and mapping."""
    return built(lexicon, *path).draw(ids, eps, distributions.bits(len(ids), seed))


@pytest.mark.parametrize("path", PATHS)
def test_words_out_are_rows_of_the_vocabulary(path: tuple[str, str | None]) -> None:
    """(n,) int32 below V for any input and epsilon, unknown words and none included."""
    for epsilon in (1e-300, 1e-40, 1e-3, 1.0, 50.0):
        ids = np.tile(EVERY, 100)
        drawn = draw(path, ids, np.full(len(ids), epsilon))
        assert drawn.dtype == np.int32
        assert drawn.shape == ids.shape
        assert ((drawn >= 0) & (drawn < 6)).all()
    assert len(draw(path, EVERY[:0], np.empty(0))) == 0


@pytest.mark.parametrize("path", PROMISING)
def test_a_large_epsilon_gives_the_word_back(path: tuple[str, str | None]) -> None:
    """The limit of no noise is the word itself, in every space."""
    if path[1] not in (None, "nearest"):
        pytest.skip("a mapping may take another word than the nearest")
    ids = np.arange(6, dtype=np.int32)
    drawn = draw(path, ids, np.full(6, 490.0))
    np.testing.assert_array_equal(drawn, ids)


@pytest.mark.parametrize("path", PATHS)
def test_a_split_of_the_batch_changes_nothing(path: tuple[str, str | None]) -> None:
    """Words drawn alone, in parts or all at once are the same words."""
    size = 1500
    rng = np.random.default_rng(3)
    ids = rng.integers(-1, 12, size).astype(np.int32)
    eps = rng.choice([0.5, 2.0, 9.0], size)
    bits = distributions.bits(size)
    sanitizer = built("ENGLISH", *path)
    whole = sanitizer.draw(ids, eps, bits)
    for sizes in (1, 7, 400):
        for begin in range(0, min(size, 40 * sizes), sizes):
            part = np.arange(begin, min(begin + sizes, size))
            again = sanitizer.draw(ids[part], eps[part], bits.take(part))
            np.testing.assert_array_equal(again, whole[part])


@pytest.mark.parametrize(
    ("path", "space"),
    [
        *((path, "identity") for path in PATHS),
        # A space is ready before the first batch, for draws of words and for noise.
        *itertools.product(
            (("rank", None), ("laplace", "nearest")),
            sorted({*components.SPACES} - {"identity"}),
        ),
    ],
)
def test_the_output_does_not_depend_on_the_batch_size(
    path: tuple[str, str | None], space: str
) -> None:
    """Batches of 1, 7 and 4096 records give the same texts, in the order of records."""
    texts = ["The cat runs.", "", "zq, 42 dogs don't!", "well-known Paris", "...", "do"]
    records = [
        Record(row, (texts[row % 6] + " dog" * (row % 3), texts[row % 5]), row)
        for row in range(16)
    ]
    sanitizer = built("ENGLISH", *path, space)
    key = RunKey.from_seed(1)
    runs = [list(sanitizer.run(records, key, batch_size=size)) for size in (1, 7, 4096)]
    assert runs[0] == runs[1] == runs[2]
    assert [record for record, _ in runs[0]] == records
    other = list(sanitizer.run(records, RunKey.from_seed(2)))
    assert other != runs[0]


@pytest.mark.parametrize("name", EXACT)
def test_rows_of_the_law_normalise(name: str) -> None:
    """(n, V) float64; where anything is promised, no output is ever ruled out."""
    mechanism = built("SIX", name, None).mechanism
    for epsilon in (0.1, 3.0, 30.0):
        logs = mechanism.log_probs(EVERY, np.full(7, epsilon))
        assert logs.shape == (7, 6)
        assert logs.dtype == np.float64
        promise = mechanism.guarantee(epsilon)
        assert promise.notion == "none" or np.isfinite(logs).all()
        assert not np.isnan(logs).any()
        law = distributions.normalised(logs)
        np.testing.assert_allclose(law.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_pairs_of_words_have_the_law_of_rows(name: str) -> None:
    """Of any pairs of an input and an output, at any epsilons, in any order."""
    mechanism = built("SIX", name, None).mechanism
    at, outputs = (each.ravel() for each in np.indices((7, 6))[:, ::-1])
    at, outputs = np.tile(at, 2), np.tile(outputs, 2).astype(np.int32)
    eps = np.array([0.5, 4.0, 1.0])[np.arange(len(at)) % 3]
    logs = mechanism.log_probs_of_pairs(EVERY[at], outputs, eps)
    wanted = [
        mechanism.log_probs(EVERY[[x]], np.array([e]))[0, y]
        for x, y, e in zip(at, outputs, eps, strict=True)
    ]
    np.testing.assert_allclose(logs, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_draws_match_the_exact_distribution(name: str) -> None:
    """Sample follows log_probs for every input of six words (alarm 1e-6)."""
    mechanism = built("SIX", name, None).mechanism
    ids = np.tile(EVERY, 20_000)
    eps = np.array([1.0, 4.0])[np.arange(len(ids)) // 7 % 2]
    drawn = draw((name, None), ids, eps)
    for epsilon in (1.0, 4.0):
        logs = mechanism.log_probs(EVERY, np.full(7, epsilon))
        for row, law in enumerate(distributions.normalised(logs)):
            mine = drawn[(ids == EVERY[row]) & (eps == epsilon)]
            distributions.assert_follows(mine, law, distributions.ALARM / 14)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("epsilon", [0.2, 2.0, 12.0])
def test_the_exact_loss_is_within_the_promise(name: str, epsilon: float) -> None:
    """Epsilon * reach bounds the loss of every pair, unknown words included."""
    for lexicon in ("SIX", "ENGLISH"):
        mechanism = built(lexicon, name, None).mechanism
        promise = mechanism.guarantee(epsilon)
        size = mechanism.space.size
        ids = np.append(np.arange(size), -1).astype(np.int32)
        logs = mechanism.log_probs(ids, np.full(size + 1, epsilon))
        worst = distributions.worst_losses(distributions.normalised(logs)).max()
        assert worst <= promise.worst(epsilon) + 1e-6


def refuted(hits: NDArray[np.int64], others: NDArray[np.int64], alarm: float) -> float:
    """Return a lower limit of max ln P(y|x) / P(y|x') from counts of two inputs."""
    low, _ = distributions.limits(hits, int(hits.sum()), alarm)
    _, high = distributions.limits(others, int(others.sum()), alarm)
    with np.errstate(divide="ignore"):
        return float(np.log(low / high).max())


@pytest.mark.parametrize("path", PROMISING)
def test_sampling_does_not_refute_the_promise(path: tuple[str, str | None]) -> None:
    """Lower limits of the loss of all pairs stay below the promise (alarm 1e-6)."""
    sanitizer = built("SIX", *path)
    epsilon, times = 1.5, 8_000
    ids = np.repeat(EVERY, times)
    drawn = draw(path, ids, np.full(len(ids), epsilon), seed=9).reshape(7, times)
    hits = np.array([np.bincount(row, minlength=6) for row in drawn])
    promise = sanitizer.mechanism.guarantee(epsilon)
    vectors = sanitizer.mechanism.space.vectors[EVERY].astype(np.float64)
    for one in range(7):
        for other in range(7):
            bound = promise.worst(epsilon)
            if promise.counts(sanitizer.mechanism.space.distance):
                bound = epsilon * float(np.linalg.norm(vectors[one] - vectors[other]))
            loss = refuted(hits[one], hits[other], distributions.ALARM / 98)
            assert loss <= bound


@pytest.mark.parametrize("path", PROMISING)
def test_a_larger_epsilon_keeps_more_words(path: tuple[str, str | None]) -> None:
    """The share of words that stay grows with epsilon (slack: 5 sigma, below 1e-6)."""
    if path[1] not in (None, "nearest"):
        pytest.skip("a mapping may take another word than the nearest")
    ids = np.tile(np.arange(6, dtype=np.int32), 1000)
    kept = [
        (draw(path, ids, np.full(len(ids), epsilon)) == ids).mean()
        for epsilon in (0.1, 1.0, 3.0, 10.0, 60.0)
    ]
    slack = 5 * 0.5 / np.sqrt(len(ids)) * np.sqrt(2)
    assert (np.diff(kept) > -slack).all()
    assert kept[-1] > kept[0] + 0.3


@pytest.mark.parametrize("name", NOISES)
def test_points_have_the_shape_of_the_space(name: str) -> None:
    """Perturb gives (n, d) float32."""
    mechanism = built("SIX", name, components.MAPPINGS[0]).mechanism
    assert isinstance(mechanism, NoiseMechanism)
    points = mechanism.sample(EVERY, np.full(7, 2.0), distributions.bits(7))
    assert points.shape == (7, 3)
    assert points.dtype == np.float32


@pytest.mark.parametrize("name", CHOICES)
def test_numerical_slack_is_small_where_the_promise_means_something(name: str) -> None:
    """At a few nats, finite uniforms add next to nothing; the bound grows with loss."""
    mechanism = built("SIX", name, None).mechanism
    slacks = [mechanism.numerical_slack(epsilon) for epsilon in (1.0, 5.0, 60.0)]
    bounded = [slack for slack in slacks if slack is not None]
    if len(bounded) < len(slacks):
        assert mechanism.guarantee(1.0).notion == "none"
        return
    assert 0.0 < bounded[0] < 1e-9
    assert bounded == sorted(bounded)


@pytest.mark.parametrize("path", PATHS)
def test_equal_words_are_drawn_independently(path: tuple[str, str | None]) -> None:
    """Two places of one word give independent draws (alarm 1e-6)."""
    size = 12_000
    drawn = draw(path, np.zeros(size, np.int32), np.full(size, 1.0), seed=4)
    one, other = drawn[0::2].astype(np.int64), drawn[1::2].astype(np.int64)
    share = np.bincount(drawn, minlength=6) / size
    pairs = np.bincount(one * 6 + other, minlength=36)
    low, high = distributions.limits(pairs, size // 2, distributions.ALARM)
    together = np.outer(share, share).ravel()
    slack = 0.02  # share is itself an estimate
    assert ((together > low - slack) & (together < high + slack)).all()
