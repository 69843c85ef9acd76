"""Shares of a total within bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.budgets import linguistic

PARTS = st.lists(
    st.lists(st.floats(1e-9, 1e9), min_size=0, max_size=12), min_size=1, max_size=5
)


def fill(
    texts: list[list[float]], total: float, low: float, high: float
) -> list[np.ndarray]:
    """Share one total in each text; return its words' parts."""
    weights = np.array([weight for text in texts for weight in text])
    of = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    same = np.ones(len(texts))
    eps = linguistic.fill(
        weights, of, totals=total * same, low=low * same, high=high * same
    )
    return [eps[of == number] for number in range(len(texts))]


def by_bisection(
    weights: np.ndarray, total: float, low: float, high: float
) -> np.ndarray:
    """Find the factor by halving, as an independent check."""
    low = min(low, total / len(weights))
    small, large = 0.0, (total + high) / weights.min()
    for _ in range(400):
        factor = (small + large) / 2
        if np.clip(factor * weights, low, max(high, low)).sum() < total:
            small = factor
        else:
            large = factor
    return np.clip(small * weights, low, max(high, low))


@given(PARTS, st.floats(1e-3, 1e4), st.floats(0, 10), st.floats(0, 100))
def test_parts_are_clamped_multiples_of_the_weights(
    texts: list[list[float]], total: float, low: float, more: float
) -> None:
    """Within bounds, at most the total, one factor a text: as bisection finds it."""
    high = low + more + 1e-3
    for weights, eps in zip(texts, fill(texts, total, low, high), strict=True):
        if not weights:
            continue
        assert eps.sum() <= total
        assert (eps <= max(high, total / len(weights)) * (1 + 1e-12)).all()
        assert (eps >= min(low, total / len(weights)) * (1 - 1e-9)).all()
        expected = by_bisection(np.array(weights), total, low, high)
        np.testing.assert_allclose(eps, expected, rtol=1e-6, atol=1e-9 * total)


@given(PARTS, st.floats(1e-3, 1e4))
def test_without_bounds_the_total_is_spent_in_proportion(
    texts: list[list[float]], total: float
) -> None:
    """epsilon_i = E w_i / sum w, and nothing is left."""
    for weights, eps in zip(texts, fill(texts, total, 0.0, total), strict=True):
        if weights:
            expected = total * np.array(weights) / sum(weights)
            np.testing.assert_allclose(eps, expected, rtol=1e-9)
            assert eps.sum() <= total


def test_bounds_that_cannot_hold_give_way_to_the_total() -> None:
    """Too high a floor gives equal parts; too low a cap leaves epsilon unspent."""
    (eps,) = fill([[1.0, 5.0]], 1.0, 2.0, 3.0)
    assert eps == pytest.approx([0.5, 0.5])
    assert eps.sum() <= 1.0
    (eps,) = fill([[1.0, 5.0]], 10.0, 1.0, 3.0)
    assert eps.tolist() == [3.0, 3.0]


def test_equal_shares_where_every_score_is_zero() -> None:
    """Zeros give 1 / n, per text."""
    texts = np.array([0, 0, 1, 3])
    shares = linguistic.normalized(np.array([0.0, 0.0, 2.0, 0.0]), texts, 4)
    assert shares.tolist() == [0.5, 0.5, 1.0, 1.0]
