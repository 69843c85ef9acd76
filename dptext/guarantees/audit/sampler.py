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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.guarantees.audit.draws import BATCH, Draws
from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.program import ALARM, Book, Program
from dptext.guarantees.audit.rows import chosen
from dptext.mechanisms import Mechanism
from dptext.types import Ids

_SEED = 2
# Parts of the epsilon that is audited, and of the draws that each gets.
_PARTS = ((1.0, 0.4), (0.25, 0.2), (1.0 / 64.0, 0.4))
# Draws of every input, and how many of those that stand out are looked at again.
_SCREEN, _STANDING_OUT = 16, 48
_SMALL_BATCHES = 400
# Up to this many rows of probabilities are held at once.
_ROWS = 256
_LEVELS = -np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0])
_COPIES = "copies of the input"
_RARE = 1e-3
_RARE_COPIES = "copies of the input where at most one in a thousand is due"
Progress = Callable[[str], None]


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
    book = Book()
    screened = mechanism.space.size + 1 > inputs
    ids = chosen(mechanism, inputs)
    if screened:
        progress(f"drawing every word {_SCREEN} times at {_listed(ladder)}")
        ids = np.unique(np.concatenate((ids, _standing_out(mechanism, draws, ladder))))
    progress(f"drawing {len(ids):,} words {number:,} times, epsilons mixed")
    groups = [*_mixed(mechanism, ladder, draws, ids, number), *_few(ids, ladder, draws)]
    if draws.released is not None:
        groups.append(_as_released(draws, ids, epsilon, number // 8))
    progress("comparing the counts with the exact output distributions")
    for group in groups:
        _hold(book, mechanism, ids, group, ALARM / len(groups))
    total = sum(len(group.outputs) for group in groups)
    return Program(
        tested=True,
        refuted=book.worst is not None,
        method=_method(mechanism, ids, screened, draws),
        draws=total,
        tests=book.tests,
        epsilons=ladder,
        power=tuple(book.power),
        deviation=book.worst,
        untested=("how a budget other than uniform spreads epsilon over a text",),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """Draws at one epsilon.

    inputs (n,) positions in the chosen words, outputs (n,) words, next_in_batch and
    first_in_batch (n,) the words that stand there.
    """

    name: str
    epsilon: float
    inputs: NDArray[np.int64]
    outputs: Ids
    next_in_batch: Ids
    first_in_batch: Ids
    power: bool = False


def _epsilons(mechanism: Mechanism, epsilon: float) -> tuple[float, ...]:
    """Return the epsilon to audit and smaller ones for which it is defined."""
    if mechanism.params.needs_one_epsilon:
        return (epsilon,)
    return tuple(
        epsilon * part
        for part, _ in _PARTS
        if part == 1.0 or _defined(mechanism, epsilon * part)
    )


def _defined(mechanism: Mechanism, epsilon: float) -> bool:
    try:
        mechanism.check(epsilon)
    except UsageError:
        return False
    return True


def _standing_out(mechanism: Mechanism, draws: Draws, ladder: tuple[float, ...]) -> Ids:
    """Choose the inputs that are copied most, or are most often one other word."""
    every = np.append(np.arange(mechanism.space.size), -1).astype(np.int32)
    rng = np.random.default_rng(_SEED)
    picked = []
    for epsilon in {ladder[0], ladder[-1]}:
        drawn = np.empty((_SCREEN, len(every)), np.int32)
        for row in range(_SCREEN):
            order = rng.permutation(len(every))
            for begin in range(0, len(every), BATCH):
                part = order[begin : begin + BATCH]
                eps = np.full(len(part), epsilon)
                drawn[row, part] = draws.words(every[part], eps)
        copies = (drawn == every).sum(axis=0)
        drawn = np.where(drawn == every, -np.arange(1, _SCREEN + 1)[:, None], drawn)
        drawn.sort(axis=0)
        same = np.zeros(len(every), np.int64)
        for lag in range(1, _SCREEN):
            same[(drawn[lag:] == drawn[:-lag]).any(axis=0)] = lag
        picked += [every[np.argsort(-each)[:_STANDING_OUT]] for each in (copies, same)]
        picked.append(every[np.argsort(copies, kind="stable")[:_STANDING_OUT]])
    return np.concatenate(picked)


def _mixed(
    mechanism: Mechanism,
    ladder: tuple[float, ...],
    draws: Draws,
    ids: Ids,
    number: int,
) -> list[_Group]:
    """Draw words at random from the chosen ones, epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    shares = np.array([part for _, part in _PARTS[: len(ladder)]])
    parts: list[list[tuple[NDArray[np.int64], Ids, Ids, Ids]]] = [[] for _ in ladder]
    for begin in range(0, number, BATCH):
        size = min(BATCH, number - begin)
        rows = rng.integers(0, len(ids), size)
        which = rng.choice(len(ladder), size, p=shares / shares.sum())
        words = ids[rows]
        drawn = draws.words(words, np.array(ladder)[which])
        following, first = np.roll(words, -1), np.full(size, words[0])
        for each, kept in enumerate(parts):
            at = np.flatnonzero(which == each)
            kept.append((rows[at], drawn[at], following[at], first[at]))
    groups = []
    for epsilon, kept in zip(ladder, parts, strict=True):
        joined = (
            np.concatenate([each[0] for each in kept]),
            np.concatenate([each[1] for each in kept]),
            np.concatenate([each[2] for each in kept]),
            np.concatenate([each[3] for each in kept]),
        )
        groups.append(_Group(f"epsilon {epsilon:.6g}", epsilon, *joined, power=True))
    return groups


def _few(ids: Ids, ladder: tuple[float, ...], draws: Draws) -> list[_Group]:
    """Draw in batches of one to four words, at the smallest epsilon."""
    rng = np.random.default_rng(_SEED + 2)
    rows, outputs, following = [], [], []
    for each in range(_SMALL_BATCHES):
        part = rng.integers(0, len(ids), 1 + each % 4)
        rows.append(part)
        outputs.append(draws.words(ids[part], np.full(len(part), ladder[-1])))
        following.append(np.roll(ids[part], -1))
    nexts = np.concatenate(following)
    joined = np.concatenate(rows), np.concatenate(outputs), nexts, nexts
    return [_Group(f"epsilon {ladder[-1]:.6g}, small batches", ladder[-1], *joined)]


def _as_released(draws: Draws, ids: Ids, epsilon: float, number: int) -> _Group:
    """Draw as the strategy does, each word once for a record or a run."""
    assert draws.released is not None
    times = max(1, number // len(ids))
    outputs = draws.released(ids, epsilon, times)
    rows = np.tile(np.arange(len(ids)), times)
    following = np.roll(ids, -1)[rows]
    first = np.full(len(rows), ids[0])
    name = f"epsilon {epsilon:.6g}, strategy {draws.strategy}"
    return _Group(name, epsilon, rows, outputs.reshape(-1), following, first)


def _hold(
    book: Book, mechanism: Mechanism, ids: Ids, group: _Group, alarm: float
) -> None:
    """Hold the draws of a group against the exact distribution of each input."""
    size = mechanism.space.size
    outside = (group.outputs < 0) | (group.outputs >= size)
    if outside.any():
        book.fail("an output that is no word", len(outside), int(outside.sum()))
        return
    pooled = _Pooled.of(mechanism, ids, group)
    counts = np.bincount(group.inputs, minlength=len(ids))
    for begin in range(0, len(ids), _ROWS):
        rows = np.arange(begin, min(begin + _ROWS, len(ids)))
        law = _probabilities(mechanism, ids[rows], group.epsilon)
        mine = np.flatnonzero((group.inputs >= begin) & (group.inputs <= rows[-1]))
        pooled.take(law, begin, mine, counts[rows])
        _pairs(book, mechanism, ids, group, mine, law, begin, counts[rows], alarm * 0.4)
    pooled.test(book, mechanism, group, alarm * 0.6)
    if group.power:
        n = int(np.median(counts))
        level = alarm * 0.4 / (2.0 * len(ids) * size)
        rare = f"one output of one input that should be rare, {group.name}"
        book.finds(rare, 1.0 / size, n, level)


def _probabilities(
    mechanism: Mechanism, ids: Ids, epsilon: float
) -> NDArray[np.float64]:
    return mechanism.probs(ids, epsilon)


def _pairs(
    book: Book,
    mechanism: Mechanism,
    ids: Ids,
    group: _Group,
    mine: NDArray[np.int64],
    law: NDArray[np.float64],
    begin: int,
    draws: NDArray[np.int64],
    alarm: float,
) -> None:
    """Test every output of some inputs: those drawn, and those expected but not."""
    size = law.shape[1]
    cells = (group.inputs[mine] - begin) * size + group.outputs[mine]
    hits = np.bincount(cells, minlength=law.size)
    # What was never drawn can only be too rare if it was expected often.
    looked = np.flatnonzero((hits > 0) | ((law * draws[:, None]).ravel() > 10.0))
    rows, words = looked // size, looked % size
    share = alarm * len(law) / len(ids)

    def named(at: int) -> str:
        word, other = label(mechanism, ids[begin + rows[at]]), words[at]
        return f"{word!r} becomes {label(mechanism, other)!r}, {group.name}"

    book.take(
        hits[looked],
        draws[rows],
        law.ravel()[looked],
        share,
        named,
        tests=law.size,
    )


@dataclass(slots=True)
class _Pooled:
    """Events over all chosen inputs together: counts, and what is expected.

    targets (n,) words by the name of the relation, -1 for none, and the sums of their
    chances; expected (V,) of the outputs; below and below_hits of the levels.
    """

    group: _Group
    targets: dict[str, Ids]
    expected: NDArray[np.float64]
    below: NDArray[np.float64]
    below_hits: NDArray[np.int64]
    chances: dict[str, float]

    @classmethod
    def of(cls, mechanism: Mechanism, ids: Ids, group: _Group) -> _Pooled:
        """Name the outputs that a mistake or a leak would show."""
        size = mechanism.space.size
        words = ids[group.inputs].astype(np.int64)
        near = np.asarray(mechanism.space.lexicon.orders)[:, :3].astype(np.int64)
        relations: dict[str, NDArray[Any]] = {
            _COPIES: words,
            "copies of the next word in the batch": group.next_in_batch,
            "copies of the first word in the batch": group.first_in_batch,
            "the word after the input in the vocabulary": np.where(
                words + 1 < size, words + 1, -1
            ),
            "the word before the input in the vocabulary": words - 1,
        }
        for rank in range(1, near.shape[1]):
            relations[f"the word at rank {rank + 1} of the input"] = near[words, rank]
        targets = {name: each.astype(np.int32) for name, each in relations.items()}
        targets[_RARE_COPIES] = np.full(len(words), -1, np.int32)
        zeros = np.zeros(len(_LEVELS))
        return cls(
            group,
            targets,
            np.zeros(size),
            zeros,
            zeros.astype(np.int64),
            dict.fromkeys(targets, 0.0),
        )

    def take(
        self,
        law: NDArray[np.float64],
        begin: int,
        mine: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> None:
        """Take in the exact rows (m, V) of inputs from begin on, and their draws."""
        self.expected += counts @ law
        rows = self.group.inputs[mine] - begin
        reached = law[rows, self.group.outputs[mine]]
        for number, level in enumerate(np.exp(_LEVELS)):
            inside = np.where(law <= level, law, 0.0).sum(axis=1)
            self.below[number] += counts @ np.minimum(inside, 1.0)
            self.below_hits[number] += int((reached <= level).sum())
        for name, words in list(self.targets.items())[:-1]:
            target = words[mine]
            known = target >= 0
            chances = law[rows[known], target[known]]
            self.chances[name] += float(chances.sum())
            if name == _COPIES:
                # Where a copy is rare one in ten thousand shows at any epsilon.
                rare = mine[np.flatnonzero(known)[chances <= _RARE]]
                self.targets[_RARE_COPIES][rare] = words[rare]
                self.chances[_RARE_COPIES] += float(chances[chances <= _RARE].sum())

    def test(
        self, book: Book, mechanism: Mechanism, group: _Group, alarm: float
    ) -> None:
        """Test outputs, relations and levels, with a third of the alarms each."""
        total, third = len(group.outputs), alarm / 3.0
        hits = np.bincount(group.outputs, minlength=len(self.expected))
        book.take(
            hits,
            total,
            np.clip(self.expected / total, 0.0, 1.0),
            third,
            lambda at: f"outputs {label(mechanism, at)!r}, {group.name}",
        )
        draws = [int((words >= 0).sum()) for words in self.targets.values()]
        seen = [int((words == group.outputs).sum()) for words in self.targets.values()]
        rates = [
            min(chance / max(n, 1), 1.0)
            for chance, n in zip(self.chances.values(), draws, strict=True)
        ]
        names = list(self.targets)
        book.take(
            np.array(seen),
            np.array(draws),
            np.array(rates),
            third,
            lambda at: f"{names[at]}, {group.name}",
        )
        book.take(
            self.below_hits,
            total,
            # Rounding of a sum over V, where an output is always or never so rare.
            np.where(
                np.abs(self.below / total - np.round(self.below / total)) < 1e-9,
                np.round(self.below / total),
                self.below / total,
            ),
            third,
            lambda at: f"outputs rarer than {np.exp(_LEVELS[at]):.2g}, {group.name}",
        )
        if group.power:
            level = third / (2.0 * len(names))
            for name, rate, n in zip(names, rates, draws, strict=True):
                if name in (_COPIES, _RARE_COPIES) and n:
                    book.finds(f"{name}, {group.name}", rate, n, level)
            level = third / (2.0 * len(hits))
            book.finds_missing(f"a word never written, {group.name}", total, level)


def _method(mechanism: Mechanism, ids: Ids, screened: bool, draws: Draws) -> str:
    text = f"{len(ids):,} inputs against their exact output distributions"
    if screened:
        text += f", {_SCREEN} draws of each of the {mechanism.space.size + 1:,} inputs"
        text += " to find those that stand out"
    if draws.released is not None:
        text += f", also by the strategy {draws.strategy}"
    return text


def _listed(values: tuple[float, ...]) -> str:
    return "epsilon " + " and ".join(f"{value:.4g}" for value in values)
