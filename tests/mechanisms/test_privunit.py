"""privunit: directions by public points, drawn from the law that is stated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dptext.mechanisms.privunit import Axes, PrivUnit, sphere
from dptext.types import Inputs, Notion
from tests import distributions, prepared, small

CLOUD = small.cloud(150, 40, seed=3)


def ready(**params: Any) -> PrivUnit:
    """Make the mechanism ready for the cloud."""
    mechanism: PrivUnit = prepared.ready("privunit", CLOUD, **params)
    return mechanism


def numbers(mechanism: PrivUnit, drawn: Any) -> Any:
    """Return the number of each drawn point; each is one of the public points."""
    points = mechanism.points
    found = (drawn.astype(np.float64) @ points.T).argmax(axis=1)
    lengths = np.linalg.norm(drawn, axis=1)
    np.testing.assert_allclose(drawn / lengths[:, None], points[found], atol=1e-6)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)
    return found


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 9.0])
def test_draws_follow_the_exact_law(epsilon: float) -> None:
    """Points are drawn as the law says, one by one (alarm 1e-6)."""
    mechanism = ready(points=64, dimensions=3)
    directions = mechanism.output_vectors[[0, 7, -1]].astype(np.float64)
    laws = np.exp(mechanism.log_probs_of_points(directions, epsilon))
    np.testing.assert_allclose(laws.sum(axis=1), 1.0, rtol=1e-12)
    for row, law in enumerate(laws):
        bits = distributions.bits(60_000, row)
        repeated = np.repeat(directions[row : row + 1], 60_000, axis=0)
        drawn = numbers(mechanism, mechanism.release(repeated, epsilon, bits))
        distributions.assert_follows(drawn, law, distributions.ALARM / 9)


@pytest.mark.parametrize("epsilon", [1e-40, 0.1, 2.0, 6.0, 20.0, 60.0])
def test_any_two_inputs_lose_epsilon_at_most(epsilon: float) -> None:
    """For any input: the middle, NaN, infinities, near ties."""
    mechanism = ready(dimensions=5, points=128)
    hostile = np.array(
        [
            np.zeros(5),
            np.full(5, np.nan),
            [np.inf, -np.inf, 0.0, 1.0, 2.0],
            np.full(5, 1e300),
            np.full(5, 5e-324),
            mechanism.points[3],
            np.nextafter(mechanism.points[3], 2.0),
        ]
    )
    given = np.concatenate((mechanism.output_vectors.astype(np.float64), hostile))
    with np.errstate(invalid="ignore", over="ignore"):
        logs = mechanism.log_probs_of_points(given, epsilon)
        drawn = mechanism.release(given, epsilon, distributions.bits(len(given)))
    assert np.isfinite(drawn).all()
    assert np.ptp(logs, axis=0).max() <= epsilon * (1.0 + 1e-12)
    favoured = mechanism.law(epsilon).favoured
    assert ((logs > logs.min(axis=1, keepdims=True)).sum(axis=1) <= favoured).all()


def test_repeated_directions_are_drawn_as_alone() -> None:
    """Hundreds of directions, each twice, give the points of small batches."""
    mechanism = ready(points=64, dimensions=3)
    once = sphere(5, 600, 3)
    directions = np.concatenate((once, once[::-1]))
    bits = distributions.bits(1200)
    together = mechanism.release(directions, 3.0, bits)
    for part in np.split(np.arange(1200), 12):
        alone = mechanism.release(directions[part], 3.0, bits.take(part))
        np.testing.assert_array_equal(alone, together[part])


def test_the_mean_of_released_vectors_is_about_the_direction() -> None:
    """So that sums over many texts tell of their directions."""
    mechanism = ready(dimensions=4)
    direction = mechanism.output_vectors[:1].astype(np.float64)
    repeated = np.repeat(direction, 40_000, axis=0)
    drawn = mechanism.release(repeated, 4.0, distributions.bits(40_000))
    np.testing.assert_allclose(drawn.mean(axis=0), direction[0], atol=0.08)
    spread = (drawn - direction).std(axis=0).mean()
    assert spread == pytest.approx(mechanism.spread(4.0), rel=0.2)


def test_more_epsilon_keeps_more_and_favours_fewer_points() -> None:
    """Half of all points at a small epsilon, one at a large one."""
    mechanism = ready()
    laws = [mechanism.law(epsilon) for epsilon in (1e-3, 1.0, 4.0, 8.0, 40.0)]
    kept = [law.kept for law in laws]
    assert kept == sorted(kept)
    favoured = [law.favoured for law in laws]
    assert favoured == sorted(favoured, reverse=True)
    assert favoured[0] == pytest.approx(2048, rel=0.2)
    assert favoured[-1] == 1
    assert mechanism.numerical_slack(8.0) < 1e-12


def test_the_guarantee_holds_for_all_that_may_come_in() -> None:
    """Words, means of words, and any vectors."""
    mechanism = ready()
    for inputs in Inputs:
        promise = mechanism.guarantee_over(inputs, 3.0)
        assert promise.notion is Notion.LDP
        assert promise.worst(3.0) == 3.0


def test_points_come_with_their_opposites() -> None:
    """They add up to 0, and a seed names them."""
    points = sphere(0, 4096, 8)
    assert points.shape == (4096, 8)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
    np.testing.assert_array_equal(points[:2048], -points[2048:])
    assert not np.array_equal(points, sphere(1, 4096, 8))


def test_principal_directions_are_those_of_public_vectors() -> None:
    """The widest comes first; opposite axes of a library give the same ones."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(500, 6)) * [1.0, 9.0, 1.0, 4.0, 0.5, 0.1] + 3.0
    axes = Axes.principal(rows, np.ones(500), 2)
    np.testing.assert_allclose(axes.mean, rows.mean(axis=0))
    assert abs(axes.columns[1, 0]) > 0.9
    assert abs(axes.columns[3, 1]) > 0.9
    assert (axes.columns.max(axis=0) > -axes.columns.min(axis=0)).all()
    other = ready().along(rng.normal(size=(50, 40)), "digest")
    assert other.content == {"public": "digest"}
    assert other.identity != ready().identity
