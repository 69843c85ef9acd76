"""The program of a mechanism, held against its exact output distribution.

Words are drawn by the path of a release, inputs and epsilons mixed in one batch, and
counts are compared with the exact distribution of each input:
- pairs: every output of every chosen input, too many and too few;
- outputs: every word, over all chosen inputs together (a word never written);
- relations: copies of the input, of its neighbours in the vocabulary, in the batch and
  by meaning, where a mistake or a leak would show;
- levels: the share of outputs below given probabilities (a wrong epsilon).
At small epsilons a copy is rare, so that one in ten thousand shows. Every input is
drawn a few times; those that stand out most are chosen, too, and drawn anew. Small
batches come first: the many draws after them would show a fault that begins late.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.findings import (
    ALARM,
    BATCH,
    AuditDraws,
    MultipleTests,
    ProgramTest,
    Progress,
    all_inputs,
    chosen,
    label,
    shuffled,
)
from dptext.mechanisms import Mechanism
from dptext.types import Eps, Floats, Ids, Ints

_SEED = 2
# Parts of the epsilon that is audited, and of the draws that each gets.
PARTS = ((1.0, 0.4), (0.25, 0.2), (1.0 / 64.0, 0.4))
# Draws of every input, and how many of those that stand out are looked at again.
SCREEN, _STANDING_OUT = 16, 48
_SMALL_BATCHES = 400


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """Draws at one epsilon.

    inputs (n,) positions in the chosen words, outputs (n,) words, next_in_batch and
    first_in_batch (n,) the words that stand there.
    """

    name: str
    epsilon: float
    inputs: Ints
    outputs: Ids
    next_in_batch: Ids
    first_in_batch: Ids
    power: bool = field(default=False, kw_only=True)


def standing_out(
    mechanism: Mechanism, draws: AuditDraws, ladder: tuple[float, ...]
) -> Ids:
    """Choose the inputs that are copied most, or are most often one other word."""
    every = all_inputs(mechanism)
    rng = np.random.default_rng(_SEED)
    picked = []
    for epsilon in {ladder[0], ladder[-1]}:
        drawn = np.empty((SCREEN, len(every)), np.int32)
        for turn, part in shuffled(len(every), SCREEN, BATCH, rng):
            eps = np.full(len(part), epsilon)
            drawn[turn, part] = draws.words(every[part], eps)
        copies = (drawn == every).sum(axis=0)
        drawn = np.where(drawn == every, -np.arange(1, SCREEN + 1)[:, None], drawn)
        drawn.sort(axis=0)
        same = np.zeros(len(every), np.int64)
        for lag in range(1, SCREEN):
            same[(drawn[lag:] == drawn[:-lag]).any(axis=0)] = lag
        picked += [every[np.argsort(-each)[:_STANDING_OUT]] for each in (copies, same)]
        picked.append(every[np.argsort(copies, kind="stable")[:_STANDING_OUT]])
    return np.concatenate(picked)


def _in_batches(
    draws: AuditDraws, ids: Ids, batches: Iterable[tuple[Ints, Eps]]
) -> list[NDArray[Any]]:
    """Draw batches of positions and epsilons; return these and the rest of a group."""
    drawn = []
    for rows, eps in batches:
        words = ids[rows]
        outputs = draws.words(words, eps)
        first = words[:1].repeat(len(words))
        drawn.append((eps, rows, outputs, np.roll(words, -1), first))
    return [np.concatenate(column) for column in zip(*drawn, strict=True)]


def mixed(
    ladder: tuple[float, ...], draws: AuditDraws, ids: Ids, number: int
) -> Iterator[DrawnGroup]:
    """Draw words at random from the chosen ones, epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    shares = np.array([part for _, part in PARTS[: len(ladder)]])
    sizes = (min(BATCH, number - begin) for begin in range(0, number, BATCH))
    batches = (
        (
            rng.integers(0, len(ids), size),
            np.array(ladder)[rng.choice(len(ladder), size, p=shares / shares.sum())],
        )
        for size in sizes
    )
    eps, *columns = _in_batches(draws, ids, batches)
    for epsilon in ladder:
        parts = (column[eps == epsilon] for column in columns)
        yield DrawnGroup(f"epsilon {epsilon:.6g}", epsilon, *parts, power=True)


def few(ids: Ids, epsilon: float, draws: AuditDraws) -> DrawnGroup:
    """Draw in batches of one to four words."""
    rng = np.random.default_rng(_SEED + 2)
    sizes = (1 + number % 4 for number in range(_SMALL_BATCHES))
    batches = (
        (rng.integers(0, len(ids), size), np.full(size, epsilon)) for size in sizes
    )
    _, *columns = _in_batches(draws, ids, batches)
    return DrawnGroup(f"epsilon {epsilon:.6g}, small batches", epsilon, *columns)


def as_released(draws: AuditDraws, ids: Ids, epsilon: float, number: int) -> DrawnGroup:
    """Draw as the strategy does, each word once for a record or a run."""
    assert draws.released is not None
    times = max(1, number // len(ids))
    outputs = draws.released(ids, epsilon, times).reshape(-1)
    rows = np.tile(np.arange(len(ids)), times)
    following, first = np.roll(ids, -1)[rows], ids[:1].repeat(len(rows))
    name = f"epsilon {epsilon:.6g}, strategy {draws.strategy}"
    return DrawnGroup(name, epsilon, rows, outputs, following, first)


_LEVELS = -np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0])
COPIES = "copies of the input"
_RARE = 1e-3
_RARE_COPIES = "copies of the input where at most one in a thousand is due"


def _relations(mechanism: Mechanism, ids: Ids, group: DrawnGroup) -> dict[str, Ints]:
    """Return the outputs that a mistake or a leak would show, -1 for none: (n,) each.

    Where a copy is rare follows from the exact distributions; none is named yet.
    """
    words = ids[group.inputs].astype(np.int64)
    orders = mechanism.space.lexicon.orders
    relations: dict[str, NDArray[np.integer]] = {
        COPIES: words,
        "copies of the next word in the batch": group.next_in_batch,
        "copies of the first word in the batch": group.first_in_batch,
        "the word after the input in the vocabulary": np.where(
            words + 1 < mechanism.space.size, words + 1, -1
        ),
        "the word before the input in the vocabulary": words - 1,
    }
    for rank in range(1, min(3, orders.shape[1])):
        relations[f"the word at rank {rank + 1} of the input"] = orders[words, rank]
    relations[_RARE_COPIES] = np.full(len(words), -1)
    return {name: targets.astype(np.int64) for name, targets in relations.items()}


# Up to this many rows of probabilities are held at once.
_ROWS = 256


def audit_sampler(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws,
    inputs: int,
    number: int,
    progress: Progress,
) -> ProgramTest:
    """Hold the program against its formula by so many draws of chosen words."""
    # The epsilon to audit, and smaller ones for which the mechanism is defined.
    ladder: tuple[float, ...] = (epsilon,)
    if not mechanism.params.needs_one_epsilon:
        smaller = (epsilon * part for part, _ in PARTS[1:])
        ladder += tuple(each for each in smaller if mechanism.is_defined(each))
    tests = MultipleTests()
    ids = chosen(mechanism, inputs)
    screening = ""
    if mechanism.space.size + 1 > inputs:
        listed = " and ".join(f"{value:.4g}" for value in ladder)
        progress(f"drawing every word {SCREEN} times at epsilon {listed}")
        ids = np.unique(np.concatenate((ids, standing_out(mechanism, draws, ladder))))
        screening = (
            f", {SCREEN} draws of each of the {mechanism.space.size + 1:,} inputs to "
            "find those that stand out"
        )
    progress(f"drawing {len(ids):,} words {number:,} times, epsilons mixed")
    first = few(ids, ladder[-1], draws)
    groups = [*mixed(ladder, draws, ids, number), first]
    strategy = ""
    if draws.released is not None:
        groups.append(as_released(draws, ids, epsilon, number // 8))
        strategy = f", also by the strategy {draws.strategy}"
    progress("comparing the counts with the exact output distributions")
    for group in groups:
        _hold(tests, mechanism, ids, group, ALARM / len(groups))
    inputs_said = f"{len(ids):,} inputs against their exact output distributions"
    return tests.concluded(
        ProgramTest(
            tested=True,
            refuted=False,
            method=inputs_said + screening + strategy,
            draws=sum(len(group.outputs) for group in groups),
            epsilons=ladder,
            untested=("how a budget other than uniform spreads epsilon over a text",),
        )
    )


def _hold(
    tests: MultipleTests,
    mechanism: Mechanism,
    ids: Ids,
    group: DrawnGroup,
    alarm: float,
) -> None:
    """Hold the draws of a group against the exact distribution of each input.

    Pairs have two fifths of the alarms; outputs, relations and levels a fifth each.
    """
    size, total, fifth = mechanism.space.size, len(group.outputs), alarm / 5.0
    outside = (group.outputs < 0) | (group.outputs >= size)
    if outside.any():
        tests.fail("an output that is no word", total, int(outside.sum()))
        return
    relations = _relations(mechanism, ids, group)
    due = dict.fromkeys(relations, 0.0)
    levels = np.exp(_LEVELS)
    expected, below = np.zeros(size), np.zeros(len(levels))
    chances_of_drawn = np.empty(total)
    counts = np.bincount(group.inputs, minlength=len(ids))
    for begin in range(0, len(ids), _ROWS):
        part = slice(begin, begin + _ROWS)
        probs = mechanism.probs(ids[part], group.epsilon)
        draws = np.flatnonzero(group.inputs // _ROWS == begin // _ROWS)
        rows = group.inputs[draws] - begin
        outputs, share = group.outputs[draws], 2.0 * fifth * len(probs) / len(ids)
        _test_pairs(
            tests, mechanism, ids[part], probs, rows, outputs, share, group.name
        )
        expected += counts[part] @ probs
        chances_of_drawn[draws] = probs[rows, outputs]
        for number, level in enumerate(levels):
            inside = np.where(probs <= level, probs, 0.0).sum(axis=1)
            below[number] += counts[part] @ np.minimum(inside, 1.0)
        for relation, targets in relations.items():
            known = targets[draws] >= 0
            at = draws[known]
            chances = probs[rows[known], targets[at]]
            due[relation] += float(chances.sum())
            if relation == COPIES:
                # Where a copy is rare one in ten thousand shows at any epsilon.
                at = at[chances <= _RARE]
                relations[_RARE_COPIES][at] = targets[at]
    tests.take(
        np.bincount(group.outputs, minlength=size),
        total,
        np.clip(expected / total, 0.0, 1.0),
        fifth,
        lambda at: f"outputs {label(mechanism, at)!r}, {group.name}",
    )
    _test_relations(tests, group, relations, due, fifth)
    below /= total
    # Rounding of a sum over V, where an output is always or never so rare.
    sure = np.abs(below - np.round(below)) < 1e-9
    tests.take(
        (chances_of_drawn <= levels[:, None]).sum(axis=1),
        total,
        np.where(sure, np.round(below), below),
        fifth,
        lambda at: f"outputs rarer than {levels[at]:.2g}, {group.name}",
    )
    if group.power:
        missing = f"a word never written, {group.name}"
        tests.finds_missing(missing, total, fifth / (2.0 * size))
        rare = f"one output of one input that should be rare, {group.name}"
        of_pair = 2.0 * fifth / (2.0 * len(ids) * size)
        tests.finds(rare, 1.0 / size, int(np.median(counts)), of_pair)


def _test_relations(
    tests: MultipleTests,
    group: DrawnGroup,
    relations: dict[str, Ints],
    due: dict[str, float],
    alarm: float,
) -> None:
    """Test how often outputs are those of the relations; due, how often they should."""
    names = list(relations)
    draws = [int((targets >= 0).sum()) for targets in relations.values()]
    hits = [int((targets == group.outputs).sum()) for targets in relations.values()]
    rates = [
        min(due[name] / max(n, 1), 1.0) for name, n in zip(names, draws, strict=True)
    ]
    tests.take(
        np.array(hits),
        np.array(draws),
        np.array(rates),
        alarm,
        lambda at: f"{names[at]}, {group.name}",
    )
    for name, rate, n in zip(names, rates, draws, strict=True):
        if group.power and n and name in (COPIES, _RARE_COPIES):
            tests.finds(f"{name}, {group.name}", rate, n, alarm / (2.0 * len(names)))


def _test_pairs(
    tests: MultipleTests,
    mechanism: Mechanism,
    inputs: Ids,
    probs: Floats,
    rows: Ints,
    outputs: Ids,
    alarm: float,
    group: str,
) -> None:
    """Test every output of some inputs: those drawn, and those expected but not.

    probs (m, V) exact; rows (n,) which of the inputs was drawn for, outputs (n,).
    """
    size = probs.shape[1]
    counts = np.bincount(rows, minlength=len(inputs))
    hits = np.bincount(rows * size + outputs, minlength=probs.size)
    # What was never drawn can only be too rare if it was expected often.
    often = (probs * counts[:, None]).ravel() > 10.0
    looked = np.flatnonzero((hits > 0) | often)

    def named(at: int) -> str:
        row, word = divmod(int(looked[at]), size)
        before, after = label(mechanism, inputs[row]), label(mechanism, word)
        return f"{before!r} becomes {after!r}, {group}"

    draws, chances = counts[looked // size], probs.ravel()[looked]
    tests.take(hits[looked], draws, chances, alarm, named, among=probs.size)
