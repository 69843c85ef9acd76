"""The program of a mechanism, held against its exact output distribution.

Words are drawn by the path of a release, inputs and epsilons mixed in one batch, and
counts are compared with the exact distribution of each input:
- pairs: every output of every chosen input, too many and too few;
- outputs: every word, over all chosen inputs together (a word never written);
- relations: copies of the input, of its neighbours in the vocabulary, in the batch and
  by meaning, where a mistake or a leak would show;
- levels: the share of outputs below given probabilities (a wrong epsilon).
At small epsilons a copy is rare, so that one in ten thousand shows; in a small
vocabulary more words are drawn until it does. Every input is drawn a few times; those
that stand out most are chosen, too, and drawn anew. Small batches come first: the many
draws after them would show a fault that begins late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
    excess,
    label,
    shuffled,
)
from dptext.mechanisms import Mechanism
from dptext.types import Floats, Ids, Ints

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


def mixed(
    ladder: tuple[float, ...], draws: AuditDraws, ids: Ids, number: int
) -> Iterator[DrawnGroup]:
    """Draw words at random from the chosen ones, epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    shares = np.array([part for _, part in PARTS[: len(ladder)]])
    batches = []
    for begin in range(0, number, BATCH):
        size = min(BATCH, number - begin)
        rows = rng.integers(0, len(ids), size)
        which = rng.choice(len(ladder), size, p=shares / shares.sum())
        words = ids[rows]
        drawn = draws.words(words, np.array(ladder)[which])
        first = np.full(size, words[0])
        batches.append((which, rows, drawn, np.roll(words, -1), first))
    which, *columns = (np.concatenate(each) for each in zip(*batches, strict=True))
    for each, epsilon in enumerate(ladder):
        at = np.flatnonzero(which == each)
        parts = (column[at] for column in columns)
        yield DrawnGroup(f"epsilon {epsilon:.6g}", epsilon, *parts, power=True)


def few(ids: Ids, epsilon: float, draws: AuditDraws) -> DrawnGroup:
    """Draw in batches of one to four words."""
    rng = np.random.default_rng(_SEED + 2)
    batches = []
    for each in range(_SMALL_BATCHES):
        rows = rng.integers(0, len(ids), 1 + each % 4)
        outputs = draws.words(ids[rows], np.full(len(rows), epsilon))
        batches.append((rows, outputs, np.roll(ids[rows], -1)))
    rows, outputs, following = (
        np.concatenate(each) for each in zip(*batches, strict=True)
    )
    name = f"epsilon {epsilon:.6g}, small batches"
    return DrawnGroup(name, epsilon, rows, outputs, following, following)


def as_released(draws: AuditDraws, ids: Ids, epsilon: float, number: int) -> DrawnGroup:
    """Draw as the strategy does, each word once for a record or a run."""
    assert draws.released is not None
    times = max(1, number // len(ids))
    outputs = draws.released(ids, epsilon, times)
    rows = np.tile(np.arange(len(ids)), times)
    following = np.roll(ids, -1)[rows]
    first = np.full(len(rows), ids[0])
    name = f"epsilon {epsilon:.6g}, strategy {draws.strategy}"
    return DrawnGroup(name, epsilon, rows, outputs.reshape(-1), following, first)


_LEVELS = -np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0])
COPIES = "copies of the input"
_RARE = 1e-3
_RARE_COPIES = "copies of the input where at most one in a thousand is due"


@dataclass(frozen=True, slots=True)
class InputBlock:
    """Some of the chosen inputs (m,), and what a group has drawn of them.

    probs (m, V) exact; counts (m,) of draws; draws (n,) positions in the group, with
    the rows in probs and the outputs of each.
    """

    inputs: Ids
    probs: Floats
    counts: Ints
    draws: NDArray[np.intp]
    rows: Ints
    outputs: Ids


@dataclass(slots=True)
class _Relation:
    """An output for each draw, -1 for none: targets (n,); chance, what they sum to."""

    name: str
    targets: Ids
    chance: float = 0.0


class PooledCounts:
    """Events over all chosen inputs together: counts and expectations.

    The outputs that a mistake or a leak would show, one relation each; expected (V,) of
    the outputs; below and below_hits of the levels.
    """

    def __init__(self, mechanism: Mechanism, ids: Ids, group: DrawnGroup) -> None:
        size = mechanism.space.size
        words = ids[group.inputs].astype(np.int64)
        orders = mechanism.space.lexicon.orders
        after = np.where(words + 1 < size, words + 1, -1)
        relations: dict[str, NDArray[np.integer]] = {
            COPIES: words,
            "copies of the next word in the batch": group.next_in_batch,
            "copies of the first word in the batch": group.first_in_batch,
            "the word after the input in the vocabulary": after,
            "the word before the input in the vocabulary": words - 1,
        }
        for rank in range(1, min(3, orders.shape[1])):
            relations[f"the word at rank {rank + 1} of the input"] = orders[words, rank]
        self._group = group
        self._relations = [
            _Relation(name, targets.astype(np.int32))
            for name, targets in relations.items()
        ]
        self._rare = _Relation(_RARE_COPIES, np.full(len(words), -1, np.int32))
        self._expected = np.zeros(size)
        self._below = np.zeros(len(_LEVELS))
        self._below_hits = np.zeros(len(_LEVELS), np.int64)

    def take(self, block: InputBlock) -> None:
        """Take in the exact rows of some inputs, and their draws."""
        probs, counts = block.probs, block.counts
        self._expected += counts @ probs
        drawn = probs[block.rows, block.outputs]
        for number, level in enumerate(np.exp(_LEVELS)):
            inside = np.where(probs <= level, probs, 0.0).sum(axis=1)
            self._below[number] += counts @ np.minimum(inside, 1.0)
            self._below_hits[number] += int((drawn <= level).sum())
        for relation in self._relations:
            targets = relation.targets[block.draws]
            known = targets >= 0
            chances = probs[block.rows[known], targets[known]]
            relation.chance += float(chances.sum())
            if relation.name == COPIES:
                # Where a copy is rare one in ten thousand shows at any epsilon.
                rare = block.draws[np.flatnonzero(known)[chances <= _RARE]]
                self._rare.targets[rare] = relation.targets[rare]
                self._rare.chance += float(chances[chances <= _RARE].sum())

    def test(self, tests: MultipleTests, mechanism: Mechanism, alarm: float) -> None:
        """Test outputs, relations and levels, with a third of the alarms each."""
        group, third = self._group, alarm / 3.0
        total = len(group.outputs)
        tests.take(
            np.bincount(group.outputs, minlength=len(self._expected)),
            total,
            np.clip(self._expected / total, 0.0, 1.0),
            third,
            lambda at: f"outputs {label(mechanism, at)!r}, {group.name}",
        )
        self._test_relations(tests, third)
        below = self._below / total
        # Rounding of a sum over V, where an output is always or never so rare.
        sure = np.abs(below - np.round(below)) < 1e-9
        tests.take(
            self._below_hits,
            total,
            np.where(sure, np.round(below), below),
            third,
            lambda at: f"outputs rarer than {np.exp(_LEVELS[at]):.2g}, {group.name}",
        )
        if group.power:
            level = third / (2.0 * len(self._expected))
            tests.finds_missing(f"a word never written, {group.name}", total, level)

    def _test_relations(self, tests: MultipleTests, alarm: float) -> None:
        group, relations = self._group, [*self._relations, self._rare]
        draws = [int((each.targets >= 0).sum()) for each in relations]
        hits = [int((each.targets == group.outputs).sum()) for each in relations]
        rates = [
            min(each.chance / max(n, 1), 1.0)
            for each, n in zip(relations, draws, strict=True)
        ]
        tests.take(
            np.array(hits),
            np.array(draws),
            np.array(rates),
            alarm,
            lambda at: f"{relations[at].name}, {group.name}",
        )
        if group.power:
            level = alarm / (2.0 * len(relations))
            for each, rate, n in zip(relations, rates, draws, strict=True):
                if each.name in (COPIES, _RARE_COPIES) and n:
                    tests.finds(f"{each.name}, {group.name}", rate, n, level)


# Up to this many rows of probabilities are held at once.
_ROWS = 256
# Copies that often beyond the formula show: one in ten thousand of words that the
# formula itself does not copy.
_SHOWS = 9e-5
_LEAST_MORE, _MOST_MORE = 2**20, 2**25


def audit_sampler(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws,
    inputs: int,
    number: int,
    progress: Progress,
    *,
    until_copies_show: bool = False,
) -> ProgramTest:
    """Hold the program against its formula by so many draws of chosen words.

    until_copies_show: draw more words where copies of one input in ten thousand would
    not be found, up to a limit.
    """
    ladder = _epsilons(mechanism, epsilon)
    tests = MultipleTests()
    screened = mechanism.space.size + 1 > inputs
    ids = chosen(mechanism, inputs)
    if screened:
        progress(f"drawing every word {SCREEN} times at {_listed(ladder)}")
        ids = np.unique(np.concatenate((ids, standing_out(mechanism, draws, ladder))))
    progress(f"drawing {len(ids):,} words {number:,} times, epsilons mixed")
    first = few(ids, ladder[-1], draws)
    groups = [*mixed(ladder, draws, ids, number), first]
    if draws.released is not None:
        groups.append(as_released(draws, ids, epsilon, number // 8))
    progress("comparing the counts with the exact output distributions")
    alarm = ALARM / (len(groups) + until_copies_show)
    for group in groups:
        _hold(tests, mechanism, ids, group, alarm)
    more = 0
    smallest = (each.smallest for each in tests.power if each.event.startswith(COPIES))
    if until_copies_show and min(smallest, default=1.0) > _SHOWS:
        more = _further(tests, mechanism, ids, ladder[-1], draws, alarm, progress)
    return tests.concluded(
        ProgramTest(
            tested=True,
            refuted=False,
            method=_method(mechanism, ids, screened, draws),
            draws=sum(len(group.outputs) for group in groups) + more,
            epsilons=ladder,
            untested=("how a budget other than uniform spreads epsilon over a text",),
        )
    )


def further(chance: float, alarm: float) -> int:
    """Return how many draws show copies in excess of a chance; at most as many."""
    number = _LEAST_MORE
    while number < _MOST_MORE and excess(chance, number, alarm / 2.0) > _SHOWS:
        number *= 2
    return number


def _further(
    tests: MultipleTests,
    mechanism: Mechanism,
    ids: Ids,
    epsilon: float,
    draws: AuditDraws,
    alarm: float,
    progress: Progress,
) -> int:
    """Draw the chosen words again, and count copies alone; return the draws."""
    ids = ids[ids >= 0]
    probs = (mechanism.probs(ids[at : at + 1], epsilon)[0] for at in range(len(ids)))
    chance = sum(float(row[word]) for row, word in zip(probs, ids, strict=True))
    chance = min(chance / len(ids), 1.0)
    number = further(chance, alarm)
    progress(f"drawing {len(ids):,} words {number:,} times more, to find rarer copies")
    rng, hits = np.random.default_rng(_SEED + 3), 0
    for _ in range(number // BATCH):
        words = ids[rng.integers(0, len(ids), BATCH)]
        hits += int((draws.words(words, np.full(BATCH, epsilon)) == words).sum())
    name = f"{COPIES}, epsilon {epsilon:.6g}, {number:,} draws more"
    tests.take(np.array([hits]), number, np.array([chance]), alarm, lambda _: name)
    tests.finds(name, chance, number, alarm / 2.0)
    return number


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
    tests: MultipleTests,
    mechanism: Mechanism,
    ids: Ids,
    group: DrawnGroup,
    alarm: float,
) -> None:
    """Hold the draws of a group against the exact distribution of each input."""
    size = mechanism.space.size
    outside = (group.outputs < 0) | (group.outputs >= size)
    if outside.any():
        tests.fail("an output that is no word", len(outside), int(outside.sum()))
        return
    pooled = PooledCounts(mechanism, ids, group)
    counts = np.bincount(group.inputs, minlength=len(ids))
    for begin in range(0, len(ids), _ROWS):
        inputs = ids[begin : begin + _ROWS]
        end = begin + len(inputs)
        draws = np.flatnonzero((group.inputs >= begin) & (group.inputs < end))
        block = InputBlock(
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
    tests: MultipleTests,
    mechanism: Mechanism,
    group: DrawnGroup,
    block: InputBlock,
    alarm: float,
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


def _method(mechanism: Mechanism, ids: Ids, screened: bool, draws: AuditDraws) -> str:
    text = f"{len(ids):,} inputs against their exact output distributions"
    if screened:
        text += f", {SCREEN} draws of each of the {mechanism.space.size + 1:,} inputs"
        text += " to find those that stand out"
    if draws.released is not None:
        text += f", also by the strategy {draws.strategy}"
    return text


def _listed(values: tuple[float, ...]) -> str:
    return "epsilon " + " and ".join(f"{value:.4g}" for value in values)
