from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, special

from dptext.errors import UsageError
from dptext.mechanisms import gumbel
from tests import distributions, prepared, small

LINE_POINTS = np.array([0.0, 1.0, 2.2, 3.7])
LINE = small.line(*LINE_POINTS)


def by_hand(
    points: list[float], x: int, b: float, widest: float, shares: NDArray[np.float64]
) -> list[float]:
    """Return row x, one integral for each number of candidates and each output."""
    distances = np.abs(np.array(points) - points[x])
    order = np.argsort(distances, kind="stable")
    low, high = (math.exp(-math.exp(end / b)) for end in (widest, -widest))

    def below(g: float) -> float:
        return (math.exp(-math.exp(-g / b)) - low) / (high - low)

    def density(g: float) -> float:
        return math.exp(-g / b - math.exp(-g / b)) / b / (high - low)

    row = [0.0] * len(points)
    for count in range(1, len(points) + 1):
        for y in order[:count]:
            others = [distances[i] for i in order[:count] if i != y]

            def wins(g: float, y: int = y, others: list[float] = others) -> float:
                chance = density(g)
                for other in others:
                    bound = min(max(g + distances[y] - other, -widest), widest)
                    chance *= 1.0 - below(bound)
                return chance

            cuts = sorted(
                {
                    s * widest + distances[i] - distances[y]
                    for i in order
                    for s in (-1.0, 1.0)
                }
            )
            inside = [cut for cut in cuts if -widest < cut < widest]
            edges = [-widest, *inside, widest]
            area = sum(
                integrate.quad(wins, one, other, epsabs=1e-14)[0]
                for one, other in pairwise(edges)
            )
            row[y] += shares[count - 1] * area
    return row


def test_the_parameters_are_the_published_vectors() -> None:
    """The vectors of the specification: alpha, b and P(k)."""
    mechanism = prepared.ready("gumbel", LINE)
    size, eps = 4, np.array([20.0])
    assert mechanism.closest == pytest.approx(1.0, rel=1e-7)
    assert mechanism.widest == pytest.approx(3.7, rel=1e-7)
    alpha = gumbel.alpha(eps, size, 1.0)
    assert alpha[0] == pytest.approx(5.0758037593, abs=1e-10)
    b = gumbel.scale(eps, size, 1.0, 3.7)
    assert b[0] == pytest.approx(4.5552901427, abs=1e-10)
    np.testing.assert_allclose(
        gumbel.poisson(4, 4),
        [0.4707084249, 0.3262702176, 0.1507688543, 0.0522525031],
        atol=1e-10,
    )


def test_probabilities_are_the_published_vector() -> None:
    """The vector of the specification: row 0 of {0, 1, 2.2, 3.7} at epsilon 20."""
    b = gumbel.scale(np.array([20.0]), 4, 1.0, 3.7)[0]
    shares = gumbel.poisson(4, 4)
    row = np.exp(gumbel.truncated_log_probs(LINE_POINTS, b, 3.7, shares))
    expected = [0.7854286382, 0.1840170578, 0.0287316633, 0.0018226408]
    np.testing.assert_allclose(row, expected, rtol=0, atol=1e-10)
    # Vectors of a lexicon are single precision.
    rows = prepared.probabilities(prepared.ready("gumbel", LINE), 20.0)
    np.testing.assert_allclose(rows[0], expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("b", [0.4, 2.0, 30.0])
def test_probabilities_are_the_sum_over_candidates(b: float) -> None:
    """Every row against one plain integral for each k and y."""
    points = [0.0, 0.5, 1.75, 2.0, 4.0]
    shares = gumbel.poisson(5, 5)
    for x in range(5):
        distances = np.abs(np.array(points) - points[x])
        order = np.argsort(distances, kind="stable")
        row = np.empty(5)
        row[order] = np.exp(
            gumbel.truncated_log_probs(distances[order], b, 4.0, shares)
        )
        expected = by_hand(points, x=x, b=b, widest=4.0, shares=shares)
        np.testing.assert_allclose(row, expected, rtol=1e-8, atol=1e-13)


def test_lambert_is_scipys() -> None:
    """W0 on both sides of the cut, near its branch point and far out."""
    z = np.concatenate((-np.geomspace(1e-6, 1e6, 500), np.geomspace(1e-9, 1e9, 500)))
    values = gumbel.lambert(z.astype(complex))
    np.testing.assert_allclose(values, special.lambertw(z), rtol=1e-9)


def test_draws_follow_the_distribution() -> None:
    """Sampled against quadrature for every input, epsilons mixed (alarm 1e-6)."""
    lexicon = small.cloud(7, 3)
    mechanism = prepared.ready("gumbel", lexicon)
    least = mechanism.least_epsilon
    prepared.hold_draws(mechanism, [least * 1.2, least * 5, least * 100], 8000)
    low = prepared.ready("gumbel", lexicon, low_epsilon=True)
    prepared.hold_draws(low, [0.5, least * 2], 8000)


def test_too_small_an_epsilon_is_refused_with_the_smallest_that_works() -> None:
    """The error names (5 + 2 ln V) / Delta_min, rounded up."""
    mechanism = prepared.ready("gumbel", LINE)
    least = 5.0 + 2.0 * math.log(4.0)
    assert mechanism.least_epsilon == pytest.approx(least, rel=1e-6)
    ids, bits = np.zeros(2, np.int32), distributions.bits(2)
    for epsilon in (0.1, least * 0.999):
        with pytest.raises(UsageError, match=r"give at least 7\.773"):
            mechanism.sample(ids, np.full(2, epsilon), bits)
        with pytest.raises(UsageError, match="low_epsilon"):
            mechanism.supports(epsilon)
    mechanism.supports(7.773)
    assert len(mechanism.sample(ids, np.full(2, 7.773), bits)) == 2


def test_low_epsilons_behave_as_in_published_code() -> None:
    """The real part of W0 alone: less noise at 0.1 than at 50."""
    eps = np.array([0.1, 50.0, 150.0])
    b = gumbel.scale(eps, 34573, 0.789, 18.42)
    np.testing.assert_allclose(b, [8.64, 21.6, 10.7], rtol=6e-3)


def test_an_epsilon_without_any_scale_is_refused() -> None:
    """Where the real part of W0 is not positive, published code has no b either."""
    mechanism = prepared.ready("gumbel", LINE, low_epsilon=True)
    # alpha = 0: W0(0) = 0.
    zero = 2.0 * (1.0 + math.log(4.0)) / mechanism.closest
    with pytest.raises(UsageError, match="no positive scale"):
        mechanism.supports(zero)


def test_the_loss_is_far_above_the_published_claim() -> None:
    """Finite, above the stated lower bound at any epsilon, and above epsilon d."""
    mechanism = prepared.ready("gumbel", small.cloud(50, 20))
    promise = mechanism.guarantee(1.0)
    assert promise.notion == "none"
    assert np.isinf(promise.max_distance)
    bound = math.lgamma(51.0) - 49.0 * math.log(math.log(50.0))
    assert bound == pytest.approx(81.6, abs=0.05)
    least_loss, (x, other) = mechanism.least_loss()
    assert least_loss == pytest.approx(bound)
    assert f"at least {math.floor(bound)} nats" in promise.reason
    least = mechanism.least_epsilon
    ids = np.arange(50, dtype=np.int32)
    for epsilon in (least * 1.01, least * 1e4):
        logs = mechanism.log_probs(ids, np.full(50, epsilon))
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, atol=1e-12)
        losses = (logs[:, None] - logs[None, :]).max(axis=2)
        assert bound <= logs[x, x] - logs[other, x] <= losses.max()
    assert losses.max() < 1e4


def test_a_published_claim_is_refuted_by_enumeration() -> None:
    """At a valid epsilon some pair of words loses more than epsilon times d."""
    mechanism = prepared.ready("gumbel", small.cloud(50, 40))
    epsilon = mechanism.least_epsilon * 1.01
    ids = np.arange(50, dtype=np.int32)
    logs = mechanism.log_probs(ids, np.full(50, epsilon))
    losses = (logs[:, None] - logs[None, :]).max(axis=2)
    vectors = mechanism.space.vectors[:50].astype(np.float64)
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    assert (losses > epsilon * gaps * 1.5).any()


def test_a_large_vocabulary_is_not_enumerated() -> None:
    """Beyond 200 words it can only be sampled."""
    mechanism = prepared.ready("gumbel", small.cloud(201, 6, listed=20))
    assert not mechanism.has_log_probs
    assert prepared.ready("gumbel", small.cloud(200, 6, listed=20)).has_log_probs
    ids = prepared.repeated(201, 20)
    drawn = mechanism.sample(ids, np.full(len(ids), 1e3), distributions.bits(len(ids)))
    assert ((drawn >= 0) & (drawn < 201)).all()


def test_words_with_the_same_vector_are_refused() -> None:
    """Delta_min of 0 leaves no parameters."""
    with pytest.raises(UsageError, match="tem"):
        prepared.ready("gumbel", small.line(0.0, 1.0, 1.0))
    with pytest.raises(UsageError, match="two words"):
        prepared.ready("gumbel", small.line(0.0))


def test_settings_are_frozen() -> None:
    """A mechanism cannot be changed after preparation."""
    mechanism = prepared.ready("gumbel", LINE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.closest = 1.0
