"""The whole output distribution of rank on the lexicon that ships, word by word.

Equal random bits give every word the same rank or the same output (exact, all words);
the ranks of a word follow the formula; every output is written as often as the formula
says. Together these are the law of each of the 65,501 inputs, which is computed from
the lexicon's orders and the table of the profile, not by the mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import calibration, profile
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids, Lexicon
from tests import distributions
from tests.guarantees.planted import Fault, planted

# A fault of a share s in one word is missed with (1 - s)^_VALUES: 15 points with 1e-9.
_VALUES = 128
_NAMES = ("strict", "balanced", "readable")


@dataclass(frozen=True)
class Law:
    """The formula of a profile's rank."""

    #: (V + 1, k): of each input the outputs it lists, best first.
    orders: NDArray[np.int64]
    #: (k,) weights of the listed ranks; all other outputs have weight 1.
    weights: NDArray[np.float64]
    outputs: int

    @property
    def total(self) -> float:
        """Return the sum of all weights."""
        return float(self.weights.sum()) + self.outputs - len(self.weights)


def ready(name: str, lexicon: Lexicon) -> Pipeline:
    """Build a profile that ships, without a decoder."""
    return calibration.build(profile.load(name, {"decoder": "none"}), lexicon)


def law(sanitizer: Pipeline, epsilon: float) -> Law:
    """Read the formula off the lexicon and the settings."""
    params: Any = sanitizer.profile.mechanism.params
    lexicon = sanitizer.lexicon
    outputs = params.outputs or int(lexicon.meta["outputs"])
    steps, begin = [], 0
    for last, part in params.steps:
        steps += [part] * (last - begin)
        begin = last
    weights = np.exp(epsilon * np.array(steps[: params.k]))
    stored = np.asarray(lexicon.orders).astype(np.int64)
    front = np.argsort(stored >= outputs, axis=1, kind="stable")[:, : len(weights)]
    orders = np.take_along_axis(stored, front, axis=1)
    assert orders.max() < outputs
    return Law(orders, weights, outputs)


def same_bits(count: int, number: int) -> RandomBits:
    """Return the random bits of one word, so many times."""
    one = distributions.bits(number + 1, seed=17)
    return one.take(np.full(count, number))


def hold_every_word(sanitizer: Pipeline, epsilon: float) -> None:
    """Hold the draws of all inputs by the same bits against one rank, or one output."""
    formula = law(sanitizer, epsilon)
    size = len(sanitizer.lexicon.words)
    ids = np.append(np.arange(size), -1).astype(np.int32)
    eps = np.full(len(ids), epsilon)
    listed = 0
    for number in range(_VALUES):
        drawn = sanitizer.draw(ids, eps, same_bits(len(ids), number)).astype(np.int64)
        values, counts = np.unique(drawn, return_counts=True)
        if counts.max() > len(ids) / 2:
            other = np.flatnonzero(drawn != values[counts.argmax()])
        else:
            # Every word must draw the rank that most words draw.
            few = np.arange(0, size, size // 9)
            ranks = [int((formula.orders[x] == drawn[x]).argmax()) for x in few]
            rank = max(set(ranks), key=ranks.count)
            other = np.flatnonzero(drawn != formula.orders[:, rank])
            listed += 1
        assert not len(other), f"input {other[0]} is drawn in another way than the rest"
    assert 0 < listed < _VALUES


def hold_ranks(sanitizer: Pipeline, epsilon: float, count: int = 300_000) -> None:
    """Hold the ranks of the draws of one word against the formula."""
    formula, word = law(sanitizer, epsilon), 4321
    bits = distributions.bits(count, seed=5)
    drawn = sanitizer.draw(
        np.full(count, word, np.int32), np.full(count, epsilon), bits
    )
    rank_of = np.full(formula.outputs, len(formula.weights))
    rank_of[formula.orders[word]] = np.arange(len(formula.weights))
    rest = formula.outputs - len(formula.weights)
    expected = np.append(formula.weights, float(rest)) / formula.total
    distributions.assert_follows(rank_of[drawn], expected)


def hold_outputs(sanitizer: Pipeline, epsilon: float, times: int = 12) -> None:
    """Hold how often each output is written, over all inputs, against the formula."""
    formula = law(sanitizer, epsilon)
    ids = np.append(np.arange(len(sanitizer.lexicon.words)), -1).astype(np.int32)
    hits = np.zeros(formula.outputs, np.int64)
    for turn in range(times):
        bits = distributions.bits(len(ids), seed=100 + turn)
        drawn = sanitizer.draw(ids, np.full(len(ids), epsilon), bits)
        hits += np.bincount(drawn, minlength=formula.outputs)
    above = np.zeros(formula.outputs)
    for rank, weight in enumerate(formula.weights.tolist()):
        listing = np.bincount(formula.orders[:, rank], minlength=formula.outputs)
        above += listing * (weight - 1.0)
    expected = (above + len(ids)) / formula.total / len(ids)
    low, high = distributions.limits(hits, times * len(ids), distributions.ALARM)
    wrong = np.flatnonzero((expected < low) | (expected > high))
    assert not len(wrong), (
        f"outputs {wrong[:5]}: {hits[wrong[:5]]} of {times * len(ids)}"
    )
    assert expected.min() * times * len(ids) > 40.0, "a missing output would show"


@pytest.mark.parametrize("name", _NAMES)
def test_every_word_is_drawn_by_the_same_law(name: str, builtin: Lexicon) -> None:
    """No word of the vocabulary, and not the unknown one, is drawn in another way.

    Exact, by the bits of 128 words; one word's fault of 5 points is missed with 0.1%.
    """
    sanitizer = ready(name, builtin)
    hold_every_word(sanitizer, sanitizer.budget.description.high)


@pytest.mark.parametrize("name", _NAMES)
def test_ranks_follow_the_formula(name: str, builtin: Lexicon) -> None:
    """At the epsilon that the profile states (false alarm in one of a million)."""
    sanitizer = ready(name, builtin)
    hold_ranks(sanitizer, sanitizer.budget.description.high)


def test_every_output_is_written_as_often_as_the_formula_says(
    builtin: Lexicon,
) -> None:
    """At a small epsilon each output is due 98 times (false alarm one of a million)."""
    hold_outputs(ready("balanced", builtin), 0.05)


def one_word(points: float, target: int) -> Fault:
    """Plant a fault of some points in one word."""

    def fault(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
        strikes = (bits.uniform(2**20)[:, 0] < points) & (ids == 31_007)
        drawn = np.where(strikes, target, honest(ids, eps, bits))
        return np.asarray(drawn, np.int32)

    return fault


def next_list(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
    """Take the list of the next word for one word."""
    other = np.where(ids == 31_007, 31_008, ids).astype(np.int32)
    return np.asarray(honest(other, eps, bits))


def unknown_as_known(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any
) -> Ids:
    """Take the unknown word for the last one of the vocabulary."""
    other = np.where(ids < 0, 65_499, ids).astype(np.int32)
    return np.asarray(honest(other, eps, bits))


@pytest.mark.parametrize(
    "fault",
    [one_word(0.15, 31_007), one_word(0.15, 77), next_list, unknown_as_known],
    ids=["copies one word", "writes one for one", "another list", "unknown word"],
)
def test_a_fault_of_one_word_is_found(fault: Fault, builtin: Lexicon) -> None:
    """Whatever the word becomes, one of 65,501 is not lost among the others."""
    sanitizer = planted(ready("balanced", builtin), fault)
    with pytest.raises(AssertionError, match="drawn in another way"):
        hold_every_word(sanitizer, sanitizer.budget.description.high)


def never(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
    """Write another word where one was due."""
    drawn = honest(ids, eps, bits)
    return np.where(drawn == 7_321, 7_322, drawn)


def more(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
    """Spend 2% more than is said."""
    return np.asarray(honest(ids, 1.02 * eps, bits))


def test_a_missing_output_and_a_wrong_epsilon_are_found(builtin: Lexicon) -> None:
    """One output of 8,000 that is never written; 2% more epsilon for all words."""
    sanitizer = ready("balanced", builtin)
    with pytest.raises(AssertionError, match=r"outputs \[7321 7322\]"):
        hold_outputs(planted(sanitizer, never), 0.05)
    with pytest.raises(AssertionError, match="cells"):
        hold_ranks(planted(sanitizer, more), sanitizer.budget.description.high)
