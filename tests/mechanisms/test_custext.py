"""custext: one output set for all words, and the published ones."""

from __future__ import annotations

import numpy as np
import pytest

from dptext import geometry
from dptext.mechanisms import Mechanism, custext
from tests import distributions, prepared, small

LINE = small.line(0.0, 1.0, 3.0)
MAPPINGS = ("aggressive", "balanced", "conservative")


def test_one_set_is_the_published_vector() -> None:
    """The vector of the specification: one set {0, 1, 3} at epsilon 2."""
    probabilities = prepared.probabilities(prepared.ready("custext", LINE), 2.0)
    expected = [
        [0.4797518911, 0.3437572513, 0.1764908576],
        [0.3071958857, 0.5064803911, 0.1863237232],
        [0.1955456938, 0.2729060000, 0.5315483062],
    ]
    np.testing.assert_allclose(probabilities[:3], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_set_of_all_words_is_the_published_vector(mapping: str) -> None:
    """With k = V every published mapping has one set, with the same distribution."""
    mechanism = prepared.ready("custext", LINE, mapping=mapping, k=3)
    one = prepared.probabilities(prepared.ready("custext", LINE), 2.0)
    np.testing.assert_allclose(
        prepared.probabilities(mechanism, 2.0), one, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_one_set_is_the_formula(distance: str) -> None:
    """P(y|x) ~ exp(eps u / 2), u from the least and largest distance of x over V."""
    lexicon = small.cloud(25, 4, listed=6)
    mechanism = prepared.ready("custext", lexicon, distance=distance)
    wide = lexicon.vectors.astype(np.float64)
    if distance == "cosine":
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
        gaps = 1.0 - wide @ wide[:-1].T
        gaps[np.arange(25), np.arange(25)] = 0.0
    else:
        gaps = np.linalg.norm(wide[:, None] - wide[None, :-1], axis=2)
    low, high = gaps.min(axis=1, keepdims=True), gaps.max(axis=1, keepdims=True)
    utility = 1.0 - (gaps - low) / (high - low)
    exact = distributions.normalised(3.0 * utility / 2.0)
    # Directions are stored in single precision.
    atol = 1e-6 if distance == "cosine" else 1e-8
    np.testing.assert_allclose(
        prepared.probabilities(mechanism, 3.0), exact, rtol=0, atol=atol
    )


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 15.0])
def test_one_set_keeps_its_promise(distance: str, epsilon: float) -> None:
    """The exact loss of all pairs, unknown words included, is at most epsilon."""
    for seed in range(3):
        lexicon = small.cloud(40, 3, listed=7, seed=seed)
        mechanism = prepared.ready("custext", lexicon, distance=distance)
        promise = mechanism.guarantee(epsilon)
        assert (promise.notion, promise.max_distance) == ("LDP", 1.0)
        worst = distributions.worst_losses(
            prepared.probabilities(mechanism, epsilon)
        ).max()
        assert epsilon / 2.0 < worst <= epsilon * (1 + 1e-7)


def test_a_large_set_comes_near_its_bound() -> None:
    """A few far words against many near ones lose almost epsilon."""
    points = [0.0, *np.linspace(0.999, 1.0, 400)]
    probabilities = prepared.probabilities(
        prepared.ready("custext", small.line(*points)), 2.0
    )
    assert distributions.worst_losses(probabilities).max() > 0.98 * 2.0


@pytest.mark.parametrize("mapping", ["one_set", *MAPPINGS])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_draws_follow_the_formula(mapping: str, distance: str) -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    lexicon = small.cloud(9, 3, listed=4)
    mechanism = prepared.ready(
        "custext", lexicon, mapping=mapping, distance=distance, k=4
    )
    prepared.hold_draws(mechanism, [0.3, 3.0, 9.0], 6000)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_published_mappings_lose_without_bound(mapping: str) -> None:
    """Across sets the loss is infinite, and the guarantee says none and why."""
    mechanism = prepared.ready("custext", small.cloud(60, 10), mapping=mapping, k=5)
    probabilities = prepared.probabilities(mechanism, 1.0)[:60]
    # A pair is infinitely apart where one row rules out what the other writes.
    ruled_out = ((probabilities[:, None] > 0) & (probabilities[None, :] == 0)).any(
        axis=2
    )
    share = ruled_out.mean() * 60 / 59
    assert share > 0.9
    promise = mechanism.guarantee(1.0)
    assert promise.notion == "none"
    assert np.isinf(promise.max_distance)
    assert "class" in promise.reason


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_inside_a_class_the_loss_is_at_most_epsilon(mapping: str) -> None:
    """As in the published proof, words of equal sets lose at most epsilon."""
    mechanism = prepared.ready("custext", small.cloud(60, 10), mapping=mapping, k=5)
    probabilities = prepared.probabilities(mechanism, 4.0)
    classes = mechanism.sets.classes
    for one in np.unique(classes):
        members = np.flatnonzero(classes == one)
        inside = probabilities[np.ix_(members, mechanism.sets.sets[one])]
        assert distributions.worst_losses(inside).max() <= 4.0 * (1 + 1e-12)


def test_conservative_sets_divide_the_vocabulary() -> None:
    """Each word is in one set, its own; the last set holds the rest."""
    space = prepared.space_of(small.cloud(63, 6))
    built = custext.build(space, "conservative", 5)
    assert built.sets.shape == (13, 5)
    np.testing.assert_array_equal(np.sort(built.sets.ravel()), [-1, -1, *range(63)])
    for word in range(63):
        assert word in built.sets[built.classes[word]]
    gaps = np.linalg.norm(space.vectors[:-1, None] - space.vectors[None, :-1], axis=2)
    taken = np.zeros(63, bool)
    for members in built.sets:
        members = members[members >= 0]
        leader = int(np.flatnonzero(~taken)[0])
        order = np.argsort(np.where(taken, np.inf, gaps[leader]), kind="stable")
        np.testing.assert_array_equal(members, order[: len(members)])
        taken[members] = True


def test_balanced_sets_are_the_nearest_words_of_their_first() -> None:
    """A word without a set opens one; near words without a set join it."""
    space = prepared.space_of(small.cloud(60, 10))
    built = custext.build(space, "balanced", 5)
    near = geometry.nearest_words(space, 5)
    expected: dict[int, int] = {}
    for word in range(60):
        if word not in expected:
            for other in near[word].tolist():
                expected.setdefault(other, word)
    for word in range(60):
        np.testing.assert_array_equal(
            built.sets[built.classes[word]], near[expected[word]]
        )


def test_aggressive_words_have_their_own_nearest_words() -> None:
    """The set of a row is its k nearest words, unknown words included."""
    space = prepared.space_of(small.cloud(40, 6))
    built = custext.build(space, "aggressive", 7)
    gaps = np.linalg.norm(space.vectors[:, None] - space.vectors[None, :-1], axis=2)
    for row in range(41):
        nearest = np.sort(np.argsort(gaps[row], kind="stable")[:7])
        np.testing.assert_array_equal(built.sets[built.classes[row]], nearest)


def test_equal_distances_are_drawn_alike() -> None:
    """Max = min: u is 1 for every word of the set."""
    lexicon = small.lexicon(np.zeros((4, 2)))
    for mapping in ("one_set", *MAPPINGS):
        mechanism = prepared.ready("custext", lexicon, mapping=mapping, k=4)
        np.testing.assert_allclose(
            prepared.probabilities(mechanism, 9.0), 0.25, atol=1e-15
        )
        ids = prepared.repeated(4, 3)
        drawn = mechanism.sample(ids, np.full(15, 9.0), distributions.bits(15))
        assert ((drawn >= 0) & (drawn < 4)).all()


@pytest.mark.parametrize("mapping", ["one_set", *MAPPINGS])
def test_a_draw_does_not_depend_on_the_batch(mapping: str) -> None:
    """Words drawn alone are the words drawn together."""
    mechanism = prepared.ready("custext", small.cloud(30, 4), mapping=mapping, k=4)
    ids = prepared.repeated(30, 9)
    eps = np.linspace(0.5, 9.0, len(ids))
    prepared.hold_batches(mechanism, ids, eps)


def test_the_risk_of_words_in_nearly_one_direction() -> None:
    """Rates beyond all measure are no warning, and the best guesses those of rows."""
    near = 1e3 + small.cloud(8, 4).vectors[:8].astype(np.float64) * 1e-3
    mechanism = prepared.ready("custext", small.lexicon(near), distance="cosine")
    prior = small.zipf(8)
    quick = mechanism.best_guesses(prior, 7.0, [(0, 8)])
    slow = Mechanism.best_guesses(mechanism, prior, 7.0, [(0, 8)])
    np.testing.assert_allclose(quick, slow, rtol=1e-9)
