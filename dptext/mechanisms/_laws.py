"""Laws of rank by a table: how ln w falls over the ranks, and the tables that ship.

A table is a tuple of (last rank, ln w / epsilon) pairs: up to this rank, from the one
before on. The first value is 1; beyond the last rank stands the floor, 0.
dptext/data/rank_weights.json holds one for each of a grid of risks, for all words and
for all but stop words (docs/rank.md).
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Outputs of the built-in lexicon, for which the shipped tables are made.
OUTPUTS = 8000
Table = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A table made for a risk, and the epsilon that it takes with the built-in words.

    closeness: the expected cosine of a word with what is written for it, from 0.
    """

    risk: float
    epsilon: float
    closeness: float
    steps: Table


def check(table: Table) -> None:
    """Raise ValueError for a table that is no law."""
    if not table:
        msg = "weights: steps needs a table of [last rank, part of epsilon] pairs"
        raise ValueError(msg)
    rank, before = 0, 1.0
    if table[0][1] != 1.0:
        msg = f"steps begin with 1, the whole epsilon, not with {table[0][1]:g}"
        raise ValueError(msg)
    for last, value in table:
        if last <= rank:
            msg = f"the ranks of steps grow from 1: {last} does not follow {rank}"
            raise ValueError(msg)
        if not 0.0 < value <= before:
            msg = f"steps fall from 1 and stay above 0: {value:g} after {before:g}"
            raise ValueError(msg)
        rank, before = last, value


def values(table: Table, listed: int) -> NDArray[np.float64]:
    """Return the values of the first ranks: (listed,), all within the table."""
    ends, steps = zip(*cut(table, listed), strict=True)
    found: NDArray[np.float64] = np.repeat(steps, np.diff((0, *ends)))
    return found.astype(np.float64)


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


@lru_cache(maxsize=1)
def shipped() -> tuple[tuple[Row, ...], ...]:
    """Return what data/rank_weights.json holds: rows by rising risk, of each prior."""
    path = Path(__file__).parent.parent / "data" / "rank_weights.json"
    found = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return tuple(tuple(_row(row) for row in each["weights"]) for each in found)


def _row(row: dict[str, Any]) -> Row:
    steps = tuple((last, value) for last, value in row.pop("steps"))
    return Row(steps=steps, **row)


def first(enough: Callable[[Row], bool], risk: float | None = None) -> Row:
    """Return the first row that is enough, else the last; those after it must be, too.

    Looks at few of them. With a risk, of all priors the row made for the nearest risk.
    """
    tables = shipped() if risk is not None else shipped()[:1]
    found = [rows[bisect_left(rows[:-1], True, key=enough)] for rows in tables]
    return min(found, key=lambda row: abs(row.risk - (risk or 0.0)))
