"""subset: sets of k words by their exact law."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dptext.mechanisms import Aim
from dptext.mechanisms.subset import Params, Subset, best_size
from tests import distributions, prepared, small


def ready(words: int, k: int | None, epsilon: float | None = None) -> Subset:
    """Make the mechanism ready for so many words."""
    space = prepared.space_of(small.cloud(words, 3))
    return Params(k=k).prepare(space, Aim(epsilon=epsilon))


@pytest.mark.parametrize(("words", "k"), [(6, 1), (6, 2), (7, 3), (5, 4)])
@pytest.mark.parametrize("row", [0, 3, -1])
def test_sets_follow_the_exact_law(words: int, k: int, row: int) -> None:
    """Every set of k, and one member of each, by chances computed apart."""
    epsilon, mechanism = 1.5, ready(words, k)
    sets = list(itertools.combinations(range(words), k))
    place = {each: number for number, each in enumerate(sets)}
    weights = np.array([math.exp(epsilon) if max(row, 0) in s else 1.0 for s in sets])
    law = weights / weights.sum()
    assert law.max() / law.min() == pytest.approx(math.exp(epsilon))
    count = 60_000
    ids, eps = np.full(count, row, np.int32), np.full(count, epsilon)
    bits = distributions.bits(count, 7 * words + k)
    drawn = mechanism.sets(ids, eps, bits)
    assert (np.diff(drawn, axis=1) > 0).all()
    numbers = np.array([place[tuple(each)] for each in drawn.tolist()])
    distributions.assert_follows(numbers, law, distributions.ALARM / 24)
    members = mechanism.sample(ids, eps, bits)
    assert (drawn == members[:, None]).any(axis=1).all()
    of_member = np.zeros(words)
    for each, chance in zip(sets, law, strict=True):
        of_member[list(each)] += chance / k
    distributions.assert_follows(members, of_member, distributions.ALARM / 24)
    held = (drawn == max(row, 0)).any(axis=1).mean()
    assert held == pytest.approx(mechanism.held(epsilon), abs=0.02)


def test_a_set_does_not_depend_on_its_batch() -> None:
    """Drawn alone, or among others at other epsilons, it is the same."""
    mechanism = ready(50, 6)
    ids = np.arange(3000, dtype=np.int32) % 50
    eps = np.where(ids % 2, 1.0, 2.0)
    bits = distributions.bits(3000)
    whole = mechanism.sets(ids, eps, bits)
    for begin in (0, 1023, 1500):
        part = np.arange(begin, begin + 7)
        again = mechanism.sets(ids[part], eps[part], bits.take(part))
        np.testing.assert_array_equal(again, whole[part])


def test_k_is_the_one_with_the_least_variance() -> None:
    """About K / (e^epsilon + 1), and one from some epsilon on."""
    assert best_size(50, 1.0) == 13
    assert best_size(50, 2.0) == 6
    assert best_size(50, 4.0) == 1
    assert ready(50, None, 2.0).together == 6
    assert ready(6, None).together == 1
    for epsilon in (0.5, 1.0, 2.0):
        assert ready(50, None, epsilon).numerical_slack(epsilon) < 1e-13
