"""What an audit of a program draws: groups of words at one epsilon each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.draws import BATCH, Draws
from dptext.guarantees.audit.inputs import all_inputs, shuffled
from dptext.mechanisms import Mechanism
from dptext.types import Ids

_SEED = 2
# Parts of the epsilon that is audited, and of the draws that each gets.
PARTS = ((1.0, 0.4), (0.25, 0.2), (1.0 / 64.0, 0.4))
# Draws of every input, and how many of those that stand out are looked at again.
SCREEN, _STANDING_OUT = 16, 48
_SMALL_BATCHES = 400


@dataclass(frozen=True, slots=True)
class Group:
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
    power: bool = field(default=False, kw_only=True)


def standing_out(mechanism: Mechanism, draws: Draws, ladder: tuple[float, ...]) -> Ids:
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
    ladder: tuple[float, ...], draws: Draws, ids: Ids, number: int
) -> Iterator[Group]:
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
        yield Group(f"epsilon {epsilon:.6g}", epsilon, *parts, power=True)


def few(ids: Ids, epsilon: float, draws: Draws) -> Group:
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
    return Group(name, epsilon, rows, outputs, following, following)


def as_released(draws: Draws, ids: Ids, epsilon: float, number: int) -> Group:
    """Draw as the strategy does, each word once for a record or a run."""
    assert draws.released is not None
    times = max(1, number // len(ids))
    outputs = draws.released(ids, epsilon, times)
    rows = np.tile(np.arange(len(ids)), times)
    following = np.roll(ids, -1)[rows]
    first = np.full(len(rows), ids[0])
    name = f"epsilon {epsilon:.6g}, strategy {draws.strategy}"
    return Group(name, epsilon, rows, outputs.reshape(-1), following, first)
