"""The audit compares the noise of a mechanism with its known distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dptext import lexicons
from dptext.mechanisms import NoiseMechanism
from dptext.mechanisms.laplace import Laplace
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits
from dptext.types import ONE, Eps, Ids, Notion, Points
from tests import small
from tests.conformance import components
from tests.guarantees.planted import Fault, audited, built, planted

Draw = Callable[[Ids, Eps, RandomBits], Points]
NAMES = (
    "laplace",
    "mahalanobis",
    "gaussian",
    "privemb",
    "discrete-gaussian",
    "privunit",
)
QUICK = {"runs": 1500, "number": 150_000}
FEW = {"runs": 500, "number": 30_000}
# Members that an outside mechanism need not have.
BARE = {
    "standard_noise": NoiseMechanism.standard_noise,
    "has_log_density": False,
    "claimed_loss": NoiseMechanism.claimed_loss,
}


@cache
def wide(name: str, width: int = 50) -> Pipeline:
    """Build a noise mechanism for words in many dimensions."""
    return built(small.cloud(120, width), name, 8.0)


def centre(mechanism: Any, ids: Ids) -> Points:
    """Return the vectors that noise is added to."""
    vectors: Points = mechanism.output_vectors[ids]
    return vectors


def half(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Points:
    """Draw noise for twice the epsilon that is claimed."""
    return honest(ids, 2.0 * eps, bits)


def coordinates(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Points:
    """Add Laplace noise of scale 1 / epsilon to each coordinate."""
    vectors = centre(mechanism, ids)
    uniform = bits.uniform(0, vectors.shape[1])[:, : vectors.shape[1]] - 0.5
    drawn = -np.sign(uniform) * np.log1p(-2.0 * np.abs(uniform)) / eps[:, None]
    return (vectors + drawn).astype(np.float32)


def fixed(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Points:
    """Keep the direction and give the noise its mean length."""
    vectors = centre(mechanism, ids)
    gap = honest(ids, eps, bits) - vectors
    lengths = np.linalg.norm(gap, axis=1, keepdims=True)
    scale = lengths.mean() * eps.mean() / eps[:, None]
    moved: Points = (vectors + gap / lengths * scale).astype(np.float32)
    return moved


def one_sided(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Points:
    """Draw no negative first coordinate."""
    vectors = centre(mechanism, ids)
    gap = honest(ids, eps, bits) - vectors
    gap[:, 0] = np.abs(gap[:, 0])
    return vectors + gap


def one_word(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Points:
    """Add no noise to one word."""
    points = honest(ids, eps, bits)
    return np.where((ids == 77)[:, None], centre(mechanism, ids), points)


def shared(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Points:
    """Give the words of a batch the noise of every second one."""
    return honest(ids, eps, bits.take(np.arange(len(ids)) // 2 * 2))


def first(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Points:
    """Take the epsilon of the batch's first word for all."""
    return honest(ids, np.full(len(eps), eps[0]), bits)


FAULTS = (half, coordinates, fixed, one_sided, one_word, shared, first)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_wrong_noise_is_refuted(name: str, fault: Fault) -> None:
    """Length, direction, words and epsilons: all are held against the formula."""
    # A fault in one word of 120 shows in few draws.
    effort = QUICK if fault is one_word else FEW
    result = audited(planted(wide(name), fault), **effort)
    assert result.program is not None
    assert result.program.refuted
    assert result.failed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1, 2, 50])
def test_honest_noise_passes(name: str, width: int) -> None:
    """In one dimension or many; false alarms in at most one audit of a thousand."""
    result = audited(wide(name, width), **FEW)
    assert result.program is not None
    assert result.program.tested
    assert not result.failed, result.program.deviation


@pytest.mark.parametrize(
    ("width", "fault"), [(50, half), (50, one_word), (300, half), (300, coordinates)]
)
def test_noise_of_another_package_without_a_density_is_refuted(
    width: int, fault: Fault
) -> None:
    """A claim in the distance of the space bounds the length of noise from below."""
    honest = planted(
        wide("laplace", width), lambda *given: given[-1](*given[1:4]), **BARE
    )
    fair = audited(honest, **QUICK)
    assert fair.program is not None
    assert fair.program.tested
    assert not fair.failed
    result = audited(planted(wide("laplace", width), fault, **BARE), **QUICK)
    assert result.failed


def test_a_formula_that_loses_more_than_its_claim_is_refuted() -> None:
    """Where the density is that of twice the epsilon, no draw is needed."""

    def density(self: Any, points: Points, eps: Eps, words: Ids) -> Any:
        return Laplace.log_density(self, points, 2.0 * eps, words)

    result = audited(planted(wide("laplace"), half, log_density=density), **QUICK)
    assert result.refuted
    assert result.ratio == pytest.approx(2.0, rel=1e-5)


def test_a_black_box_that_copies_is_refuted() -> None:
    """Without any formula the draws of two words tell them apart."""

    def ldp(self: Any, epsilon: float) -> Any:
        promise = Laplace.guarantee(self, epsilon)
        return replace(promise, notion=Notion.LDP, metric=ONE, max_distance=1.0)

    sanitizer = built(small.cloud(20, 3), "laplace", 2.0)
    result = audited(
        planted(sanitizer, lambda *given: centre(*given[:2]), guarantee=ldp, **BARE),
        **QUICK,
    )
    assert result.refuted
    assert result.confidence == pytest.approx(0.999)


@pytest.mark.parametrize(("fault", "members"), [(half, BARE), (coordinates, {})])
def test_real_vectors_are_no_obstacle(fault: Fault, members: dict[str, Any]) -> None:
    """Half a claim is refuted in the built-in lexicon of 100 dimensions.

    Without a density, and with one.
    """
    sanitizer = built(lexicons.find("builtin"), "laplace", 50.0)
    effort = {"runs": 500, "number": 10_000}
    assert audited(planted(sanitizer, fault, **members), **effort).failed


@pytest.mark.parametrize("name", components.NOISES)
@pytest.mark.parametrize("epsilon", [1e-3, 2.0, 1e4, 1e9])
def test_rounding_is_no_deviation(name: str, epsilon: float) -> None:
    """At the ends noise is not tested rather than called wrong."""
    sanitizer = components.built("SIX", name, "nearest", epsilon=epsilon)
    result = audited(sanitizer, runs=500, number=5000)
    assert not result.failed, result.program
