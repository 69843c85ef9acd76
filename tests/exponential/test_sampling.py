"""Draws against exact distributions, for any listed words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import distributions, prepared, small
from tests.exponential.formula import RECIPES, expected


@pytest.mark.parametrize("listed", range(1, 8))
@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_draws_are_exact_whatever_is_listed(
    name: str, params: dict[str, Any], listed: int
) -> None:
    """Sampled against exact with 1 to all words listed, epsilons mixed (1e-6)."""
    mechanism = prepared.ready(name, small.cloud(7, 3, listed=listed), **params)
    prepared.hold_draws(mechanism, [0.3, 2.0, 7.0], 9_000, seed=listed)


def test_draws_are_exact_on_a_line() -> None:
    """The words {0, 1, 3}, sampled with one listed word (alarm 1e-6)."""
    mechanism = prepared.ready("santext", small.line(0.0, 1.0, 3.0, listed=1))
    ids = np.zeros(200_000, np.int32)
    drawn = mechanism.sample(ids, np.full(len(ids), 2.0), distributions.bits(len(ids)))
    distributions.assert_follows(drawn, expected(mechanism, 2.0)[0])


def test_draws_are_exact_among_equal_and_near_vectors() -> None:
    """Words in one place and words a hair apart get their exact shares (1e-6)."""
    points = np.array([[0.0], [0.0], [1e-4], [1.0], [1.0 + 1e-6], [50.0]])
    for listed in (1, 2, 6):
        lexicon = small.lexicon(points, listed=listed)
        for name, params in RECIPES:
            mechanism = prepared.ready(name, lexicon, **params)
            np.testing.assert_allclose(
                prepared.probabilities(mechanism, 2.0),
                expected(mechanism, 2.0),
                atol=1e-7,
            )
            prepared.hold_draws(mechanism, [0.05, 2.0], 8_000, seed=listed)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_a_large_vocabulary_is_drawn_from_exactly(
    name: str, params: dict[str, Any]
) -> None:
    """More words than a block of the sampler, few of them listed (alarm 1e-6)."""
    lexicon = small.cloud(1500, 2, listed=3)
    mechanism = prepared.ready(name, lexicon, **params)
    ids = np.tile(np.array([0, 700, -1], np.int32), 40_000)
    drawn = mechanism.sample(ids, np.full(len(ids), 4.0), distributions.bits(len(ids)))
    for row in (0, 700, -1):
        exact = expected(mechanism, 4.0)[row]
        # Rare words in bins of at least one in a thousand.
        order = np.argsort(exact, kind="stable")
        bins = np.empty(len(exact), np.int64)
        bins[order] = (np.cumsum(exact[order]) * 200).clip(max=199).astype(np.int64)
        shares = np.asarray(np.bincount(bins, exact, minlength=200), np.float64)
        distributions.assert_follows(
            bins[drawn[ids == row]], shares, distributions.ALARM / 3
        )


def test_one_word_is_drawn_from_a_vocabulary_of_one() -> None:
    """The smallest lexicon works."""
    for name, params in RECIPES:
        mechanism = prepared.ready(name, small.line(1.0), **params)
        ids = np.array([0, -1], np.int32)
        drawn = mechanism.sample(ids, np.ones(2), distributions.bits(2))
        assert drawn.tolist() == [0, 0]


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_draws_do_not_depend_on_what_was_drawn_before(
    name: str, params: dict[str, Any]
) -> None:
    """Batches of one epsilon, with a stored table, draw the same as a batch of all."""
    lexicon = small.cloud(90, 3, listed=40)
    ids = np.tile(np.arange(-1, 90, dtype=np.int32), 3)
    eps = np.repeat([3.0, 0.5, 3.0], 91)
    bits = distributions.bits(len(ids))
    together = prepared.ready(name, lexicon, **params).sample(ids, eps, bits)
    mechanism, parts = prepared.ready(name, lexicon, **params), []
    for part in np.split(np.arange(len(ids)), range(13, len(ids), 13)):
        parts.append(mechanism.sample(ids[part], eps[part], bits.take(part)))
    assert np.concatenate(parts).tolist() == together.tolist()
