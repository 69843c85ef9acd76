"""Binomial tails and limits agree with those of scipy, at their ends above all."""

from __future__ import annotations

import pytest
from scipy import special, stats

from dptext.guarantees import binomial

SIZES = (1, 2, 3, 10, 400, 20_000)
ALPHAS = (0.05, 0.001, 1e-9)


def counts(size: int) -> list[int]:
    """Return successes of so many trials: none, one, few, all but one, all."""
    return sorted({0, 1, size // 3, size // 2, size - 1, size})


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_limits_are_those_of_clopper_and_pearson(size: int, alpha: float) -> None:
    """Of no success the lower one is 0, of nothing else; of all the upper one is 1."""
    for count in counts(size):
        low, high = binomial.limits(count, size, alpha)
        wanted_low = special.betaincinv(count, size - count + 1, alpha / 2)
        wanted_high = special.betaincinv(count + 1, size - count, 1 - alpha / 2)
        assert low == pytest.approx(0.0 if count == 0 else wanted_low, rel=1e-6)
        assert high == pytest.approx(1.0 if count == size else wanted_high, rel=1e-6)
        assert (low == 0.0, high == 1.0) == (count == 0, count == size)
        assert low < count / size or count == 0
        assert high > count / size or count == size


@pytest.mark.parametrize("trials", [0.3, 1.0, 2.5, 40.25])
def test_trials_need_not_be_whole(trials: float) -> None:
    """Limits of an effective number of trials, of every share."""
    for share in (0.0, 1e-6, 0.2, 0.5, 1.0):
        low, high = binomial.limits(share * trials, trials, 0.05)
        assert 0.0 <= low <= share <= high <= 1.0
        assert high - low > 0.05


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chance", [0.0, 1e-6, 0.3, 0.5, 1.0])
def test_tails_hold_their_own_count(size: int, chance: float) -> None:
    """From below none to more than all."""
    law = stats.binom(size, chance)
    for count in [-1, *counts(size), size + 1]:
        at_least, at_most = law.sf(count - 1), law.cdf(count)
        found = binomial.at_least(count, size, chance)
        assert found == pytest.approx(at_least, rel=1e-8, abs=1e-290)
        found = binomial.at_most(count, size, chance)
        assert found == pytest.approx(at_most, rel=1e-8, abs=1e-290)


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.001])
def test_quantiles_are_those_of_student(degrees: int, alpha: float) -> None:
    """Of one degree of freedom on."""
    wanted = stats.t.ppf(1.0 - alpha / 2.0, degrees)
    assert binomial.student(degrees, alpha) == pytest.approx(wanted, rel=1e-6)
