"""Events over all chosen inputs together: rare words, copies, a wrong epsilon."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.groups import Group
from dptext.guarantees.audit.program import MultipleTests
from dptext.mechanisms import Mechanism
from dptext.types import Ids

_LEVELS = -np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0])
_COPIES = "copies of the input"
_RARE = 1e-3
_RARE_COPIES = "copies of the input where at most one in a thousand is due"


@dataclass(frozen=True, slots=True)
class Block:
    """Some of the chosen inputs (m,), and what a group has drawn of them.

    probs (m, V) exact; counts (m,) of draws; draws (n,) positions in the group, with
    the rows in probs and the outputs of each.
    """

    inputs: Ids
    probs: NDArray[np.float64]
    counts: NDArray[np.int64]
    draws: NDArray[np.intp]
    rows: NDArray[np.int64]
    outputs: Ids


@dataclass(slots=True)
class _Relation:
    """An output for each draw, -1 for none: targets (n,); chance, what they sum to."""

    name: str
    targets: Ids
    chance: float = 0.0


class Pooled:
    """Events over all chosen inputs together: counts, and what is expected.

    The outputs that a mistake or a leak would show, one relation each; expected (V,) of
    the outputs; below and below_hits of the levels.
    """

    def __init__(self, mechanism: Mechanism, ids: Ids, group: Group) -> None:
        size = mechanism.space.size
        words = ids[group.inputs].astype(np.int64)
        orders = mechanism.space.lexicon.orders
        after = np.where(words + 1 < size, words + 1, -1)
        relations: dict[str, NDArray[np.integer]] = {
            _COPIES: words,
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

    def take(self, block: Block) -> None:
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
            if relation.name == _COPIES:
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
                if each.name in (_COPIES, _RARE_COPIES) and n:
                    tests.finds(f"{each.name}, {group.name}", rate, n, level)
