"""Tables of weights over ranks: how ln w falls, step by step.

A table is a tuple of (last rank, ln w / epsilon) pairs: up to this rank, from the one
before on. The first value is 1; beyond the last rank stands the floor, 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Outputs of the built-in lexicon, for which the shipped tables are made.
OUTPUTS = 8000
Table = tuple[tuple[int, float], ...]


def check(table: Table) -> None:
    """Raise ValueError for a table that does not fall from 1 over rising ranks."""
    if not table:
        raise ValueError(
            "weights: steps needs a table of [last rank, part of epsilon] pairs"
        )
    rank, before = 0, 1.0
    if table[0][1] != 1.0:
        raise ValueError(
            f"steps begin with 1, the whole epsilon, not with {table[0][1]:g}"
        )
    for last, value in table:
        if last <= rank:
            raise ValueError(
                f"the ranks of steps grow from 1: {last} does not follow {rank}"
            )
        if not 0.0 < value <= before:
            raise ValueError(
                f"steps fall from 1 and stay above 0: {value:g} after {before:g}"
            )
        rank, before = last, value


def values(table: Table, listed: int) -> NDArray[np.float64]:
    """Return the values of the first ranks: (listed,), all within the table."""
    ends, steps = zip(*cut(table, listed), strict=True)
    return np.repeat(np.array(steps, np.float64), np.diff((0, *ends)))


def cut(table: Table, most: int) -> Table:
    """Return the table up to a rank."""
    kept, before = [], 0
    for last, value in table:
        if before < most:
            kept.append((min(last, most), value))
        before = last
    return tuple(kept)


def scaled(table: Table, outputs: int) -> Table:
    """Return a table for fewer outputs than those it was made for: ranks in proportion.

    So that a small lexicon is not all top: of a step that shrinks to nothing no rank is
    left.
    """
    part = min(1.0, outputs / OUTPUTS)
    kept: list[tuple[int, float]] = []
    for last, value in table:
        shrunk = math.ceil(last * part)
        if not kept or shrunk > kept[-1][0]:
            kept.append((shrunk, value))
    return tuple(kept)
