from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dptext.errors import UsageError
from dptext.mechanisms import Mechanism
from dptext.types import Lexicon
from tests import distributions, prepared, small

# Word 0 has two synonyms, 1 and 4 have one, the others none.
SYNONYMS = [[1, 4], [0], [], [], [0], []]


def with_synonyms(lists: list[list[int]] = SYNONYMS) -> Lexicon:
    """Give a small lexicon synonyms."""
    lexicon = small.cloud(len(lists), 3)
    return dataclasses.replace(
        lexicon,
        synonym_ends=np.cumsum([len(one) for one in lists]).astype(np.int32),
        synonyms=np.array([word for one in lists for word in one], np.int32),
        digest=lexicon.digest + repr(lists),
    )


def ratings(synonym: float) -> np.ndarray:
    """Return rho, (V + 1, V), straight from its definition."""
    rho = np.zeros((len(SYNONYMS) + 1, len(SYNONYMS)))
    for word, alike in enumerate(SYNONYMS):
        rho[word, alike] = synonym
        rho[word, word] = 1.0
    return rho


@pytest.mark.parametrize("synonym", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_probabilities_are_the_formula(synonym: float, epsilon: float) -> None:
    """P(y|x) ~ exp(eps rho / 2) over all of V; unknown words give a uniform word."""
    mechanism = prepared.ready("syntf", with_synonyms(), synonym=synonym)
    exact = distributions.normalised(epsilon * ratings(synonym) / 2.0)
    np.testing.assert_allclose(
        prepared.probabilities(mechanism, epsilon), exact, rtol=1e-12
    )


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("synonym", [0.0, 0.6, 1.0])
def test_draws_follow_the_distribution(synonym: float, published: bool) -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    mechanism = prepared.ready(
        "syntf", with_synonyms(), synonym=synonym, published=published
    )
    prepared.hold_draws(mechanism, [0.3, 3.0, 9.0], 9000)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 20.0])
def test_the_loss_is_at_most_epsilon(epsilon: float) -> None:
    """Over all pairs, unknown words included; more than half of it is used."""
    mechanism = prepared.ready("syntf", with_synonyms())
    promise = mechanism.guarantee(epsilon)
    assert (promise.notion, promise.max_distance) == ("LDP", 1.0)
    worst = distributions.worst_losses(prepared.probabilities(mechanism, epsilon)).max()
    assert epsilon / 2.0 <= worst <= epsilon * (1 + 1e-12)


def test_the_published_form_loses_without_bound() -> None:
    """Only the word and its synonyms come out: most pairs are told apart for sure."""
    mechanism = prepared.ready("syntf", with_synonyms(), published=True)
    rows = prepared.probabilities(mechanism, 1.0)
    np.testing.assert_array_equal(rows[:6] > 0, ratings(0.5)[:6] > 0)
    assert rows[2, 2] == 1.0
    np.testing.assert_allclose(rows[6], 1 / 6)
    promise = mechanism.guarantee(1.0)
    assert promise.notion == "none"
    assert np.isinf(promise.max_distance)
    assert "candidates" in promise.reason


def test_the_published_form_weighs_its_candidates_alike() -> None:
    """Among the candidates the weights are those of the full form."""
    full = prepared.probabilities(prepared.ready("syntf", with_synonyms()), 3.0)[0]
    published = prepared.probabilities(
        prepared.ready("syntf", with_synonyms(), published=True), 3.0
    )[0]
    few = [0, 1, 4]
    np.testing.assert_allclose(published[few], full[few] / full[few].sum(), rtol=1e-12)


def test_a_lexicon_without_synonyms_is_refused() -> None:
    """The error names the lexicon and what to do."""
    with pytest.raises(UsageError, match=r"'small' has no synonyms.*built-in"):
        prepared.ready("syntf", small.cloud(5, 2))


def test_an_enormous_epsilon_gives_the_word_back() -> None:
    """No overflow: weights are taken relative to the word's own."""
    mechanism = prepared.ready("syntf", with_synonyms())
    ids = np.arange(6, dtype=np.int32)
    drawn = mechanism.sample(ids, np.full(6, 1e5), distributions.bits(6))
    np.testing.assert_array_equal(drawn, ids)


def test_a_draw_does_not_depend_on_the_batch() -> None:
    """Words drawn alone are the words drawn together."""
    mechanism = prepared.ready("syntf", with_synonyms())
    ids = prepared.repeated(6, 30)
    eps = np.linspace(0.5, 9.0, len(ids))
    prepared.hold_batches(mechanism, ids, eps)


def test_resolution_bounds_what_finite_uniforms_add() -> None:
    """The rarest output has probability 1/Z; its cell is off by at most 2^-51."""
    mechanism = prepared.ready("syntf", with_synonyms())
    for epsilon in (1.0, 10.0, 30.0):
        rarest = prepared.probabilities(mechanism, epsilon).min()
        assert mechanism.numerical_slack(epsilon) >= 2.0**-51 / rarest


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("synonym", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("epsilon", [0.5, 6.0, 25.0])
def test_the_best_guesses_are_those_of_the_rows(
    published: bool, synonym: float, epsilon: float
) -> None:
    """For every band and output: words of many, few and no synonyms."""
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 6, 1100) * rng.integers(0, 2, 1100)
    lists = [
        [int(other) for other in rng.choice(1100, count, replace=False) if other != row]
        for row, count in enumerate(counts)
    ]
    mechanism = prepared.ready(
        "syntf", with_synonyms(lists), synonym=synonym, published=published
    )
    prior = np.sort(rng.pareto(1.0, 1100))[::-1]
    prior = prior / prior.sum()
    bands = [(0, 30), (30, 400), (400, 1100)]
    guesses = mechanism.best_guesses(prior, epsilon, bands)
    expected = Mechanism.best_guesses(mechanism, prior, epsilon, bands)
    np.testing.assert_allclose(guesses, expected, rtol=1e-9)
