"""The audit holds the program against the exact output distribution.

Honest programs are called wrong in at most one audit of a thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dptext import lexicons, pipeline
from dptext.guarantees.audit import findings
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids
from tests import small
from tests.conformance import components
from tests.guarantees.planted import (
    Fault,
    audited,
    built,
    copied,
    planted,
    sometimes,
)

Draw = Callable[[Ids, Eps, RandomBits], Ids]

QUICK = {"inputs": 61, "number": 200_000}
STATES = (0.3, 3.0)


@cache
def small_one(name: str, **keys: Any) -> Pipeline:
    """Build a mechanism for sixty words."""
    rank = {"name": "rank", "weights": "power", "k": 20}
    mechanism = rank if name == "rank" else name
    return built(small.cloud(60, 5), mechanism, 4.0, **keys)


def shifted(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Ids:
    """Write the word one row further in the vocabulary, now and then."""
    drawn = honest(ids, eps, bits)
    return np.where(sometimes(bits, 0.02), (ids + 1) % 60, drawn).astype(np.int32)


def off_by_one(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Ids:
    """Begin the order of replacements at the second word."""
    orders = np.roll(mechanism.orders, -1, axis=1)
    shifted_lists = replace(mechanism, orders=orders)
    kind: Any = type(mechanism).__mro__[1]
    drawn: Ids = kind.sample(shifted_lists, ids, eps, bits)
    return drawn


def first_epsilon(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Ids:
    """Take the epsilon of the batch's first word for all."""
    return honest(ids, np.full(len(eps), eps[0]), bits)


def never_seven(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Ids:
    """Write another word where word 7 was due."""
    drawn = honest(ids, eps, bits)
    return np.where(drawn == 7, 8, drawn)


def unknown_as_last(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Ids:
    """Take the unknown word for the last word of the vocabulary."""
    return honest(np.where(ids < 0, 59, ids).astype(np.int32), eps, bits)


def alone(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Ids:
    """Copy in batches of one word."""
    # The unknown word is no output: the first word stands for it.
    return np.maximum(ids, 0) if len(ids) == 1 else honest(ids, eps, bits)


def neighbour(
    mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
) -> Ids:
    """Write the batch's next word now and then."""
    drawn = honest(ids, eps, bits)
    return np.where(sometimes(bits, 0.02), np.maximum(np.roll(ids, -1), 0), drawn)


def wider(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Ids:
    """Spend 3% more epsilon than is said."""
    return honest(ids, eps * 1.03, bits)


FAULTS = {
    "returns its input": copied(1.0),
    "off by one row": shifted,
    "first epsilon of the batch": first_epsilon,
    "never writes a word": never_seven,
    "unknown word taken for another": unknown_as_last,
    "copies alone": alone,
    "writes its neighbour": neighbour,
    "spends more": wider,
}


@pytest.mark.parametrize("name", ["rank", "santext"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_refuted(name: str, fault: Fault) -> None:
    """The formula holds, and the program departs from it."""
    effort = dict(QUICK, number=1_000_000) if fault is wider else QUICK
    result = audited(planted(small_one(name), fault), **effort)
    assert not result.refuted
    assert result.program is not None
    assert result.program.refuted
    assert result.failed
    deviation = result.program.deviation
    assert deviation is not None
    assert deviation.p_value < findings.ALARM


def test_an_order_that_begins_too_late_is_refuted() -> None:
    """Rank that never gives a word itself is not its formula."""
    result = audited(planted(small_one("rank"), off_by_one), **QUICK)
    assert result.program is not None
    assert result.program.refuted


@pytest.mark.parametrize("strategy", ["record", "data-set"])
def test_strategies_are_drawn_as_a_release_does(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strategy that hands the mechanism another word is refuted."""
    honest = audited(small_one("rank", strategy=strategy), **QUICK)
    assert honest.program is not None
    assert strategy in honest.program.method
    assert not honest.failed

    def another_word(self: Pipeline, ids: Ids, *rest: Any, **named: Any) -> Ids:
        return replaced(self, np.roll(ids, 1), *rest, **named)

    replaced = pipeline.Pipeline.replace
    monkeypatch.setattr(pipeline.Pipeline, "replace", another_word)
    wrong = audited(small_one("rank", strategy=strategy), **QUICK)
    assert wrong.program is not None
    assert wrong.program.refuted


def one_word(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw) -> Ids:
    """Copy one rare word in 15 of 100 draws more, and no other."""
    drawn = honest(ids, eps, bits)
    return np.where(sometimes(bits, 0.15) & (ids == 31_007), ids, drawn)


@pytest.mark.parametrize("fault", [copied(1e-4), one_word], ids=["copies", "one word"])
def test_rare_faults_show_in_the_built_in_lexicon(fault: Fault) -> None:
    """A copy in ten thousand, or 15 points in one word of 65,500, at epsilon 8."""
    lexicon = lexicons.find("builtin")
    sanitizer = built(lexicon, {"name": "rank", "weights": "staircase"}, 8.0)
    effort = {"inputs": 40, "number": 1_500_000}
    result = audited(planted(sanitizer, fault), **effort)
    assert result.program is not None
    assert result.program.refuted
    if fault is one_word:
        assert result.program.deviation is not None
        assert repr(lexicon.words[31_007]) in result.program.deviation.event


@pytest.mark.parametrize("name", components.EXACT)
@pytest.mark.parametrize("lexicon", ["SIX", "ENGLISH"])
@pytest.mark.parametrize("epsilon", STATES)
def test_honest_mechanisms_pass(name: str, lexicon: str, epsilon: float) -> None:
    """No registered mechanism deviates from its own formula."""
    sanitizer = components.built(lexicon, name, None, epsilon=epsilon)
    result = audited(sanitizer, number=100_000)
    assert result.program is not None
    assert result.program.tested
    assert not result.program.refuted, result.program.deviation


def late(calls: int, seen: list[int]) -> Fault:
    """Copy the input after so many calls; seen counts the words of each call."""

    def fault(
        mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Draw
    ) -> Ids:
        seen.append(len(ids))
        return np.maximum(ids, 0) if len(seen) > calls else honest(ids, eps, bits)

    return fault


@pytest.mark.parametrize("calls", [380, 1000])
def test_a_fault_that_begins_late_is_found_or_named(calls: int) -> None:
    """The audit says how many batches it drew, and that later faults are not tested."""
    seen: list[int] = []
    program = audited(planted(small_one("rank"), late(calls, seen)), **QUICK).program
    assert program is not None
    assert program.batches == len(seen)
    assert program.refuted == (calls < len(seen))
    assert f"begins after the first {len(seen)} batches" in program.untested[-1]
    assert calls == 380 or not program.refuted


def test_the_power_that_is_stated_is_there() -> None:
    """Copies that exceed the formula by the stated amount are found, nearly always."""
    honest = small_one("rank")
    report = audited(honest, **QUICK).program
    assert report is not None
    assert not report.refuted
    stated = min(
        (
            each
            for each in report.power
            if each.event.startswith("copies of the input,")
        ),
        key=lambda each: each.smallest,
    )
    assert 1e-4 < stated.smallest < 0.1
    assert stated.draws > 10_000
    # Copies replace other outputs, which may be copies as well.
    chance = 1.05 * stated.smallest / (1.0 - stated.probability)
    result = audited(planted(honest, copied(chance)), **QUICK)
    assert result.program is not None
    assert result.program.refuted


def test_a_book_raises_few_false_alarms() -> None:
    """Of 2,000 honest books at an alarm of 5% at most 5% and chance are refuted.

    More than 140 would be a chance of one in a million.
    """
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.ones(40))
    wrong = 0
    for _ in range(2000):
        tests = findings.MultipleTests()
        tests.take(rng.multinomial(500, p), 500, p, 0.05, str)
        wrong += tests.worst is not None
    assert 0 < wrong <= 140
