from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate

from dptext.errors import UsageError
from dptext.types import Ids
from tests import distributions, prepared, small

POINTS = [0.0, 1.0, 3.0, 3.5]
LINE = small.line(*POINTS)


def exact(x: int, at: float, epsilon: float, t: float) -> NDArray[np.float64]:
    """Return the law of input x with its vector `at`, by quadrature; -1 is unknown."""
    words = [word for word in range(4) if word != x]
    law = np.zeros(4)
    middles = [(a + b) / 2 for a in POINTS for b in POINTS]
    cuts = sorted({-40.0, 40.0, at, *POINTS, *middles})

    def density(z: float) -> float:
        return epsilon / 2.0 * float(np.exp(-epsilon * abs(z - at)))

    for low, high in pairwise(cuts):
        middle = (low + high) / 2.0
        first, second = sorted(words, key=lambda w: abs(middle - POINTS[w]))[:2]

        def share(z: float, one: int = first, two: int = second) -> float:
            near, far = abs(z - POINTS[one]), abs(z - POINTS[two])
            return (1 - t) * far / (t * near + (1 - t) * far) * density(z)

        taken = integrate.quad(share, low, high, epsabs=1e-13)[0]
        whole = integrate.quad(density, low, high, epsabs=1e-13)[0]
        law[first] += taken
        law[second] += whole - taken
    return np.asarray(law / law.sum())


def draw(ids: Ids, eps: NDArray[np.float64], t: float) -> Ids:
    """Draw words of the line."""
    mechanism = prepared.ready("vickrey", LINE, t=t)
    drawn: Ids = mechanism.sample(ids, eps, distributions.bits(len(ids), 5))
    return drawn


@pytest.mark.parametrize("t", [0.0, 0.5, 0.75])
def test_draws_on_a_line_follow_the_law(t: float) -> None:
    """Noise, exclusion and p(t) against quadrature, epsilons mixed (alarm 1e-6)."""
    ids = np.tile(np.array([0, 1, 2, 3, -1], np.int32), 40_000)
    eps = np.array([2.0, 0.7])[np.arange(len(ids)) // 5 % 2]
    drawn = draw(ids, eps, t)
    assert drawn.dtype == np.int32
    unknown = float(LINE.vectors[-1, 0])
    for row, at in zip((0, 1, 2, 3, -1), (*POINTS, unknown), strict=True):
        for epsilon in (2.0, 0.7):
            mine = drawn[(ids == row) & (eps == epsilon)]
            distributions.assert_follows(
                mine, exact(row, at, epsilon, t), distributions.ALARM / 10
            )


def test_an_output_rules_out_one_input_for_sure() -> None:
    """A word is never its own output but that of every other: infinite loss."""
    times = 20_000
    ids = np.repeat(np.arange(4, dtype=np.int32), times)
    drawn = draw(ids, np.full(len(ids), 0.5), 0.5).reshape(4, times)
    hits = np.array([np.bincount(row, minlength=4) for row in drawn])
    np.testing.assert_array_equal(hits == 0, np.eye(4, dtype=bool))


def test_the_guarantee_is_none_and_says_what_to_use() -> None:
    """No epsilon changes it."""
    mechanism = prepared.ready("vickrey", LINE)
    for epsilon in (0.01, 100.0):
        promise = mechanism.guarantee(epsilon)
        assert promise.notion == "none"
        assert np.isinf(promise.max_distance)
        assert np.isinf(mechanism.least_loss()[0])
        assert "never written for itself" in promise.reason
        assert "two-nearest" in promise.reason


def test_there_is_no_closed_law() -> None:
    """It says so, instead of giving a wrong one."""
    mechanism = prepared.ready("vickrey", LINE)
    assert not mechanism.has_log_probs


def test_three_words_are_needed() -> None:
    """Without the input two words must be left."""
    with pytest.raises(UsageError, match="at least three words"):
        prepared.ready("vickrey", small.line(0.0, 1.0))
    mechanism = prepared.ready("vickrey", small.line(0.0, 1.0, 2.0))
    ids = np.zeros(500, np.int32)
    drawn = mechanism.sample(ids, np.full(500, 0.1), distributions.bits(500))
    assert set(drawn.tolist()) == {1, 2}


def test_a_draw_does_not_depend_on_the_batch() -> None:
    """Words drawn alone, or beyond one chunk, are the words drawn together."""
    mechanism = prepared.ready("vickrey", small.cloud(30, 4))
    ids = np.resize(prepared.repeated(30, 1), 5000)
    eps = np.linspace(0.5, 9.0, len(ids))
    prepared.hold_batches(mechanism, ids, eps)
