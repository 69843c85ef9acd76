"""All intervals of shares hold for few trials, none and all of them right.

Coverage is computed over all counts, so that nothing is left to chance. Intervals of
topics are in tests/evaluation/test_shares.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dptext.evaluation import identities, linkage
from dptext.guarantees import binomial
from dptext.guarantees.audit import findings
from dptext.measures import context_risk, sampled_risk

Limits = Callable[[int, int], tuple[float, float]]


def _of_words(right: int, trials: int) -> tuple[float, float]:
    found = np.arange(trials) < right
    one = context_risk.success("all", found.astype(int), np.ones(trials, int))
    return one.low, one.high


def _of_values(right: int, trials: int) -> tuple[float, float]:
    one = identities._standing(right, trials, identities._Chance())
    return one.low, one.high


def _by_chance(right: int, trials: int) -> tuple[float, float]:
    # Each value occurs once, and is compared with one other record.
    chance = identities._Chance()
    for number in range(trials):
        chance.add(1, int(number < right), 1)
    share, low, high = chance.limits()
    assert share == pytest.approx(right / trials)
    assert low is not None
    assert high is not None
    return low, high


def _of_links(right: int, trials: int) -> tuple[float, float]:
    first = (np.arange(trials) < right).astype(float)
    one = linkage._figures("cosine", "all", first, 2.0 - first, trials)
    assert one.first == right / trials
    return one.low, one.high


INTERVALS: dict[str, tuple[Limits, float]] = {
    "binomial": (lambda k, n: binomial.limits(k, n, 0.05), 0.95),
    "found words": (_of_words, 0.95),
    "values that stand": (_of_values, 0.95),
    "values by chance": (_by_chance, 0.95),
    "linked records": (_of_links, 0.95),
    "sampled wins": (sampled_risk.limits_from_counts, sampled_risk.CONFIDENCE),
}


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("trials", [2, 3, 12])
def test_intervals_hold_for_every_chance(name: str, trials: int) -> None:
    """They hold the share, lie between 0 and 1, and grow with the count.

    Of none the lower limit is 0, of all the upper one 1, and neither is a point.
    """
    limits, confidence = INTERVALS[name]
    each = [limits(count, trials) for count in range(trials + 1)]
    for count, (low, high) in enumerate(each):
        assert 0.0 <= low <= count / trials <= high <= 1.0
        assert high - low > 0.5 / trials
    assert (each[0][0], each[-1][1]) == (0.0, 1.0)
    if name != "values by chance":  # it is wider where many are found
        assert sorted(each) == each
    for chance in (0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0):
        law = stats.binom(trials, chance)
        holds = sum(
            law.pmf(count)
            for count, (low, high) in enumerate(each)
            if low <= chance <= high
        )
        assert holds >= confidence - 1e-9, chance


def test_nothing_is_known_of_no_trial() -> None:
    """Limits are 0 and 1, or absent."""
    one = identities._standing(0, 0, identities._Chance())
    assert (one.share, one.low, one.high) == (None, 0.0, 1.0)
    assert (one.by_chance, one.by_chance_low, one.by_chance_high) == (None,) * 3


def test_unequal_weights_widen_an_interval() -> None:
    """One value that occurs often says as little as one, whatever stands beside it."""
    heavy, light = identities._Chance(), identities._Chance()
    for number in range(20):
        heavy.add(100 if number == 0 else 1, number % 2, 1)
        light.add(1, number % 2, 1)
    wide, narrow = heavy.limits(), light.limits()
    for limits, least, most in ((wide, 0.8, 1.0), (narrow, 0.3, 0.7)):
        assert limits[1] is not None
        assert limits[2] is not None
        assert least < limits[2] - limits[1] < most
    # Nothing stands anywhere, or everything does.
    for others in (0, 1):
        unequal, equal = identities._Chance(), identities._Chance()
        for number in range(20):
            unequal.add(100 if number == 0 else 1, others, 1)
            equal.add(1, others, 1)
        effective = 119**2 / (100**2 + 19)
        for chance, trials in ((unequal, effective), (equal, 20)):
            wanted = binomial.limits(others * trials, trials, 0.05)
            assert chance.limits() == pytest.approx((others, *wanted))


def test_halves_of_ties_widen_the_limits_of_links() -> None:
    """A tie counts as none below, and as one above."""
    first = np.array([0.5, 0.0, 1.0, 0.0])
    one = linkage._figures("cosine", "all", first, np.array([1.5, 2, 1, 2]), 4)
    assert one.first == 1.5 / 4
    limits = binomial.limits(1, 4, 0.05)[0], binomial.limits(2, 4, 0.05)[1]
    assert (one.low, one.high) == pytest.approx(limits)


@pytest.mark.parametrize("draws", [1, 10, 1000])
@pytest.mark.parametrize("chance", [0.0, 0.2, 1.0])
def test_tails_of_tests_are_on_the_side_of_the_count(draws: int, chance: float) -> None:
    """A count is part of its tail: at the mean, at none and at all."""
    law = stats.binom(draws, chance)
    for count in {0, 1, draws // 5, draws - 1, draws}:
        above = count > draws * chance
        wanted = law.sf(count - 1) if above else law.cdf(count)
        found = findings.tail(count, draws, chance)
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.9])
def test_an_excess_is_found_as_often_as_stated(chance: float) -> None:
    """With the excess in nineteen of twenty tests, with a little less in fewer."""
    draws, level = 200, 1e-6
    found = findings.excess(chance, draws, level)
    least = next(
        count
        for count in range(draws + 1)
        if stats.binom.sf(count - 1, draws, chance) <= level
    )
    assert stats.binom.sf(least - 1, draws, chance + found) >= 0.95 - 1e-9
    assert stats.binom.sf(least - 1, draws, chance + 0.98 * found) < 0.95


def test_nothing_shows_an_excess_in_too_few_draws() -> None:
    """Where no count is rare enough, nothing would be found."""
    assert findings.excess(0.9, 3, 1e-6) == 1.0
