"""The audit finds what it should: exact worst losses, refutations, honest bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dptext import mechanisms
from dptext.arrays import log_normalised
from dptext.errors import UsageError
from dptext.guarantees import audit, binomial
from dptext.mechanisms import Aim, TextMechanism, WordMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Words
from tests import prepared, small

EPSILON = 2.0


def brute(law: NDArray[np.float64]) -> float:
    """Return the largest loss of a matrix of probabilities."""
    logs = np.log(law)
    return float((logs[:, None, :] - logs[None, :, :]).max())


def test_identity_finds_the_printed_losses() -> None:
    """Santext on {0, 1, 3}: L(0, 3) and L(3, 0) of the specification's vector."""
    result = audit.audit(prepared.ready("santext", small.line(0, 1, 3)), EPSILON, None)
    assert result.worst == pytest.approx(3.1791661972, abs=1e-9)
    assert result.claim_of_worst == pytest.approx(6.0)
    assert result.ratio <= 1.0
    assert not result.refuted


@pytest.mark.parametrize("seed", range(4))
def test_identity_equals_brute_force(seed: int) -> None:
    """The identity over all pairs of V agrees with every ratio of probabilities."""
    lexicon = small.cloud(30, 5, seed=seed)
    for mechanism in (
        prepared.ready("santext", lexicon),
        prepared.ready("tem", lexicon, gamma=1.5),
    ):
        finding = audit.audit(mechanism, EPSILON, None)
        worst = brute(prepared.probabilities(mechanism, EPSILON))
        assert finding.worst == pytest.approx(worst, abs=1e-9)
        assert not finding.refuted


def test_rank_attains_its_epsilon_and_no_more() -> None:
    """The subset audit of rank finds exactly epsilon."""
    mechanism = prepared.ready("rank", small.cloud(40, 3), k=5, c=1.0)
    result = audit.audit(mechanism, EPSILON, None)
    assert result.worst == pytest.approx(EPSILON, abs=1e-9)
    assert result.ratio == pytest.approx(1.0, abs=1e-9)
    assert not result.refuted
    assert result.infinite == 0.0


LDP = Guarantee.ldp("made for tests")


@dataclass(frozen=True, slots=True)
class Settings(mechanisms.Params):
    """No settings."""

    def prepare(self, space: Space, aim: Aim) -> Any:
        """Never asked for."""
        raise AssertionError


@dataclass(frozen=True, eq=False)
class Liar(WordMechanism):
    """Claims epsilon-LDP and spends factor times as much."""

    factor: float = 1.0
    hides: bool = False

    def guarantee(self, epsilon: float) -> Guarantee:
        """Claim epsilon."""
        return LDP

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Never asked for."""
        raise AssertionError

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Give the word itself factor times epsilon more than others."""
        logs = np.zeros((len(ids), 6))
        logs[np.arange(len(ids)), ids % 6] = self.factor * eps
        if self.hides:
            logs[np.arange(len(ids)), (ids + 1) % 6] = -np.inf
        return log_normalised(logs)


@pytest.mark.parametrize(
    ("factor", "refuted"), [(0.9, False), (1.0, False), (1.1, True)]
)
def test_a_false_claim_is_refuted(factor: float, refuted: bool) -> None:
    """A mechanism that loses more than it claims fails, one that does not passes."""
    mechanism = Liar(Settings(), prepared.space_of(small.cloud(6, 2)), factor)
    result = audit.audit(mechanism, EPSILON, None)
    assert result.worst == pytest.approx(factor * EPSILON)
    assert result.refuted is refuted


def test_an_impossible_output_is_an_infinite_loss() -> None:
    """Outputs that one input cannot have are found and counted."""
    mechanism = Liar(Settings(), prepared.space_of(small.cloud(6, 2)), hides=True)
    result = audit.audit(mechanism, EPSILON, None)
    assert math.isinf(result.worst)
    assert result.infinite > 0.1
    assert result.refuted


@dataclass(frozen=True, eq=False)
class OfTexts(TextMechanism):
    """A mechanism of whole texts; factor None: it offers no rows of any."""

    factor: float | None = None

    def guarantee(self, epsilon: float) -> Guarantee:
        """Claim epsilon."""
        return LDP

    def sample(self, words: Words, eps: Eps, bits: RandomBits) -> Ids:
        """Never asked for."""
        raise AssertionError

    def example_log_probs(self, epsilon: float) -> NDArray[np.float64] | None:
        """Give log-probabilities for three texts, with scores at most 1 apart."""
        if self.factor is None:
            return None
        scores = np.array([[0, 1, 0.5, 0, 0, 0], [1, 0, 0.5, 0, 0, 0], [0.5] * 6])
        return log_normalised(self.factor * epsilon * scores)


def of_texts(factor: float | None = None) -> OfTexts:
    """Make a mechanism of whole texts."""
    return OfTexts(Settings(), prepared.space_of(small.cloud(6, 2)), factor)


@pytest.mark.parametrize(("factor", "refuted"), [(1.0, False), (1.2, True)])
def test_laws_of_example_texts_are_compared(factor: float, refuted: bool) -> None:
    """A mechanism of whole texts is audited by the rows that it offers."""
    result = audit.audit(of_texts(factor), EPSILON, None)
    assert result.worst == pytest.approx(factor * EPSILON)
    assert result.worst_pair in {
        ("example text 1", "example text 2"),
        ("example text 2", "example text 1"),
    }
    assert result.pairs == 6
    assert result.refuted is refuted is (factor > 1.0)


def test_a_mechanism_of_texts_without_laws_says_what_its_epsilon_rests_on() -> None:
    """One line, no audit."""
    with pytest.raises(UsageError, match="no table of words to audit") as caught:
        audit.audit(of_texts(), EPSILON, None)
    assert "\n" not in str(caught.value)


@dataclass(frozen=True, eq=False)
class Quiet(Liar):
    """A mechanism that can only be drawn from."""

    has_log_probs = False


def quiet() -> Quiet:
    """Make a mechanism that can only be drawn from."""
    return Quiet(Settings(), prepared.space_of(small.cloud(20, 2)))


def test_samples_refute_a_mechanism_that_copies() -> None:
    """A mechanism without a formula that gives the word back is caught by its draws."""
    draws = audit.AuditDraws(lambda ids, eps: ids, None)
    result = audit.audit(quiet(), EPSILON, draws, runs=2000)
    assert result.refuted
    assert result.worst > EPSILON
    assert result.confidence == pytest.approx(0.999)
    assert result.program is not None
    assert not result.program.tested


def test_samples_do_not_refute_an_honest_mechanism() -> None:
    """Draws within the claim are not called a refutation (1 in 1,000 at most)."""
    rng = np.random.default_rng(3)

    def draw(ids: Ids, eps: Eps) -> Ids:
        kept = rng.random(len(ids)) < 0.2
        return np.where(kept, ids, rng.integers(0, 20, len(ids))).astype(np.int32)

    # P(x|x) = 0.24, P(x|x') = 0.04: a loss of 1.79 under a claim of 2.
    result = audit.audit(quiet(), EPSILON, audit.AuditDraws(draw, None))
    assert not result.refuted
    assert 1.0 < result.worst < math.log(6.0)


@pytest.mark.parametrize(
    ("k", "n"), [(0, 10), (3, 10), (10, 10), (7, 20000), (999, 1000)]
)
def test_limits_are_those_of_clopper_and_pearson(k: int, n: int) -> None:
    """Both limits agree with scipy's exact interval."""
    wanted = stats.binomtest(k, n).proportion_ci(0.99, method="exact")
    low, high = binomial.limits(k, n, 0.01)
    assert low == pytest.approx(wanted.low, abs=1e-10)
    assert high == pytest.approx(wanted.high, abs=1e-10)
