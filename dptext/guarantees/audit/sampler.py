"""The program of a mechanism with an exact output distribution, held against it.

Words are drawn by the path of a release, inputs and epsilons mixed in one batch, and
counts are compared with the exact distribution of each input:
- pairs: every output of every chosen input, too many and too few;
- outputs: every word, over all chosen inputs together (a word never written);
- relations: copies of the input, of its neighbours in the vocabulary, in the batch and
  by meaning, where a mistake or a leak would show;
- levels: the share of outputs below given probabilities (a wrong epsilon).
At small epsilons a copy is rare, so that one in ten thousand shows. Every input is
drawn a few times; those that stand out most are chosen, too, and drawn anew.
"""

from __future__ import annotations

import numpy as np

from dptext.guarantees.audit.draws import Draws, Progress
from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.groups import (
    PARTS,
    SCREEN,
    Group,
    as_released,
    few,
    mixed,
    standing_out,
)
from dptext.guarantees.audit.inputs import chosen
from dptext.guarantees.audit.pooled import Block, Pooled
from dptext.guarantees.audit.program import ALARM, MultipleTests, Program
from dptext.mechanisms import Mechanism
from dptext.types import Ids

# Up to this many rows of probabilities are held at once.
_ROWS = 256


def audit(
    mechanism: Mechanism,
    epsilon: float,
    draws: Draws,
    inputs: int,
    number: int,
    progress: Progress,
) -> Program:
    """Hold the program against its formula by so many draws of chosen words."""
    ladder = _epsilons(mechanism, epsilon)
    tests = MultipleTests()
    screened = mechanism.space.size + 1 > inputs
    ids = chosen(mechanism, inputs)
    if screened:
        progress(f"drawing every word {SCREEN} times at {_listed(ladder)}")
        ids = np.unique(np.concatenate((ids, standing_out(mechanism, draws, ladder))))
    progress(f"drawing {len(ids):,} words {number:,} times, epsilons mixed")
    groups = [*mixed(ladder, draws, ids, number), few(ids, ladder[-1], draws)]
    if draws.released is not None:
        groups.append(as_released(draws, ids, epsilon, number // 8))
    progress("comparing the counts with the exact output distributions")
    for group in groups:
        _hold(tests, mechanism, ids, group, ALARM / len(groups))
    return tests.concluded(
        Program(
            tested=True,
            refuted=False,
            method=_method(mechanism, ids, screened, draws),
            draws=sum(len(group.outputs) for group in groups),
            epsilons=ladder,
            untested=("how a budget other than uniform spreads epsilon over a text",),
        )
    )


def _epsilons(mechanism: Mechanism, epsilon: float) -> tuple[float, ...]:
    """Return the epsilon to audit and smaller ones for which it is defined."""
    if mechanism.params.needs_one_epsilon:
        return (epsilon,)
    return tuple(
        epsilon * part
        for part, _ in PARTS
        if part == 1.0 or mechanism.is_defined(epsilon * part)
    )


def _hold(
    tests: MultipleTests, mechanism: Mechanism, ids: Ids, group: Group, alarm: float
) -> None:
    """Hold the draws of a group against the exact distribution of each input."""
    size = mechanism.space.size
    outside = (group.outputs < 0) | (group.outputs >= size)
    if outside.any():
        tests.fail("an output that is no word", len(outside), int(outside.sum()))
        return
    pooled = Pooled(mechanism, ids, group)
    counts = np.bincount(group.inputs, minlength=len(ids))
    for begin in range(0, len(ids), _ROWS):
        inputs = ids[begin : begin + _ROWS]
        end = begin + len(inputs)
        draws = np.flatnonzero((group.inputs >= begin) & (group.inputs < end))
        block = Block(
            inputs,
            mechanism.probs(inputs, group.epsilon),
            counts[begin:end],
            draws,
            group.inputs[draws] - begin,
            group.outputs[draws],
        )
        pooled.take(block)
        share = alarm * 0.4 * len(inputs) / len(ids)
        _test_pairs(tests, mechanism, group, block, share)
    pooled.test(tests, mechanism, alarm * 0.6)
    if group.power:
        n = int(np.median(counts))
        level = alarm * 0.4 / (2.0 * len(ids) * size)
        rare = f"one output of one input that should be rare, {group.name}"
        tests.finds(rare, 1.0 / size, n, level)


def _test_pairs(
    tests: MultipleTests, mechanism: Mechanism, group: Group, block: Block, alarm: float
) -> None:
    """Test every output of some inputs: those drawn, and those expected but not."""
    probs, size = block.probs, mechanism.space.size
    hits = np.bincount(block.rows * size + block.outputs, minlength=probs.size)
    # What was never drawn can only be too rare if it was expected often.
    often = (probs * block.counts[:, None]).ravel() > 10.0
    looked = np.flatnonzero((hits > 0) | often)
    rows, words = looked // size, looked % size

    def named(at: int) -> str:
        word, other = label(mechanism, block.inputs[rows[at]]), words[at]
        return f"{word!r} becomes {label(mechanism, other)!r}, {group.name}"

    chances = probs.ravel()[looked]
    draws = block.counts[rows]
    tests.take(hits[looked], draws, chances, alarm, named, among=probs.size)


def _method(mechanism: Mechanism, ids: Ids, screened: bool, draws: Draws) -> str:
    text = f"{len(ids):,} inputs against their exact output distributions"
    if screened:
        text += f", {SCREEN} draws of each of the {mechanism.space.size + 1:,} inputs"
        text += " to find those that stand out"
    if draws.released is not None:
        text += f", also by the strategy {draws.strategy}"
    return text


def _listed(values: tuple[float, ...]) -> str:
    return "epsilon " + " and ".join(f"{value:.4g}" for value in values)
