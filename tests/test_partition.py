"""Partition selection: noise and threshold are enough, exactly, for each person."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import noise
from dptext.errors import UsageError
from dptext.partition import CAP, Law, tail
from tests import distributions

pytestmark = pytest.mark.quick

# Few people reach its threshold, and its delta shows.
LAW = Law.calibrate(2.0, 0.05)


def release_chance(total: int, law: Law) -> float:
    """Return the exact probability that a sum is released."""
    need = law.threshold - total
    # P(X >= k) = 1 - P(X >= 1 - k), as the noise is symmetric.
    return float(tail(need) if need > 0 else 1 - tail(1 - need))


def sums_of(persons: list[set[int]], size: int, law: Law) -> list[int | None]:
    """Return the sum of each word, None for a word that nobody wrote."""
    totals: list[int | None] = [None] * size
    for words in persons:
        for word in words:
            totals[word] = (totals[word] or 0) + law.weight(len(words))
    return totals


def law_of_lists(persons: list[set[int]], size: int, law: Law) -> list[float]:
    """Return the exact probability of each list of words, by its bits."""
    totals = sums_of(persons, size, law)
    chances = [0.0 if each is None else release_chance(each, law) for each in totals]
    return [
        math.prod(p if bit else 1 - p for p, bit in zip(chances, bits, strict=True))
        for bits in product((0, 1), repeat=size)
    ]


def exceeded(one: list[float], other: list[float], epsilon: float) -> float:
    """Return the delta of two laws at an epsilon."""
    pairs = zip(one, other, strict=True)
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in pairs)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma", "rho"),
    [(0.5, 1e-6, 8.35, 47.3), (1, 1e-6, 4.37, 24.8), (4, 1e-6, 1.23, 7.1)],
)
def test_noise_and_threshold(
    epsilon: float, delta: float, sigma: float, rho: float
) -> None:
    """Both are those of the continuous formula, to three digits."""
    law = Law.calibrate(epsilon, delta)
    assert (law.sigma, law.rho) == pytest.approx((sigma, rho), abs=0.05)


@given(
    st.floats(0.05, 20),
    st.sampled_from([1e-12, 1e-8, 1e-6, 1e-3, 0.1]),
)
@settings(max_examples=25, deadline=None)
def test_words_of_one_person_are_released_with_half_of_delta(
    epsilon: float, delta: float
) -> None:
    """For every number of words, by the exact tail; one step less is too little."""
    law = Law.calibrate(epsilon, delta)
    half = Fraction(delta) / 2

    def worst(threshold: int) -> Fraction:
        chances = (
            1 - (1 - tail(max(threshold - law.weight(items), 1))) ** items
            for items in range(1, CAP + 1)
        )
        return max(chances)

    assert worst(law.threshold) <= half
    assert worst(law.threshold - 1) > half * (1 - Fraction(1, 10**6))
    assert not law.problem()
    low = Law(epsilon, delta, law.sigma, law.threshold - 1)
    small = Law(epsilon, delta, law.sigma * 0.999, law.threshold)
    assert "rho" in low.problem()
    assert "sigma" in small.problem()


@given(st.floats(0.05, 20), st.integers(1, CAP))
@settings(max_examples=50, deadline=None)
def test_a_person_moves_sums_by_one(epsilon: float, items: int) -> None:
    """The weights of one person have an L2 norm of at most 1, in steps of the grid."""
    law = Law.calibrate(epsilon, 1e-6)
    norm = Fraction(law.weight(items)) ** 2 * items
    assert norm <= (Fraction(noise.WIDTH) / Fraction(str(law.sigma))) ** 2


def test_the_tail_is_that_of_the_noise() -> None:
    """By a sum of exponentials, and 0 beyond the table."""
    sizes = np.arange(14 * noise.WIDTH)
    weights = np.exp(-(sizes**2) / (2.0 * noise.WIDTH**2))
    total = 2 * weights.sum() - 1
    for steps in (1, 2, 4096, 20_000):
        expected = weights[steps:].sum() / total
        assert float(tail(steps)) == pytest.approx(expected, rel=1e-9)
    assert tail(10**6) == 0


def test_the_drawn_list_follows_the_formula() -> None:
    """Lists of a tiny corpus have the exact law of independent sums (alarm 1e-6)."""
    persons = [{0, 1}] * 2 + [{1, 2}] * 1 + [{0}] * 1
    totals = np.array(sums_of(persons, 3, LAW), np.int64)
    times = 40_000
    bits = distributions.bits(3 * times, 11)
    noisy = LAW.add_noise(np.tile(totals, times), bits).reshape(times, 3)
    drawn = (noisy >= LAW.threshold) @ np.array([4, 2, 1])
    law = np.array(law_of_lists(persons, 3, LAW))
    distributions.assert_follows(drawn, law)


@given(
    st.lists(st.sets(st.integers(0, 4), max_size=5), max_size=12),
    st.sets(st.integers(0, 4), min_size=1, max_size=5),
)
@settings(max_examples=150, deadline=None)
def test_neighbours_differ_as_claimed(others: list[set[int]], person: set[int]) -> None:
    """With and without a person, both ways: the exact delta is within the claim."""
    with_person = law_of_lists([*others, person], 5, LAW)
    without = law_of_lists(others, 5, LAW)
    assert exceeded(with_person, without, LAW.epsilon) <= LAW.delta
    assert exceeded(without, with_person, LAW.stated) <= LAW.delta


def test_the_stated_epsilon_is_needed() -> None:
    """A person alone shows by more than half of delta without a threshold for many."""
    law = Law(LAW.epsilon, LAW.delta, LAW.sigma, LAW.threshold // 2)
    alone = law_of_lists([{0}], 1, law)
    assert exceeded(alone, [1.0, 0.0], law.epsilon) > law.delta


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 1e-6), (-1, 1e-6), (21, 1e-6), (1, 0), (1, 1), (1, 1e-20)],
)
def test_refuses_what_promises_nothing(epsilon: float, delta: float) -> None:
    """Numbers outside the range of a promise are refused."""
    with pytest.raises(UsageError):
        Law.calibrate(epsilon, delta)
