"""Weights fitted: the tables that ship, and which of them serves a lexicon and an aim.

dptext/data/rank_weights.json holds one for each of a grid of risks, for all words and
for all but stop words (docs/rank.md).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.mechanisms import Aim
from dptext.mechanisms.rank import _lists, _tables
from dptext.mechanisms.rank._tables import Table
from dptext.spaces import Space

if TYPE_CHECKING:
    from dptext.mechanisms.rank import Params

# The risk that is taken where there is neither a risk nor an epsilon of a word.
_USUAL = 0.2
# An epsilon of a table, rounded down, just misses its own risk.
_NEARLY = 0.998


@dataclass(frozen=True, slots=True)
class Row:
    """A table made for a risk, and the epsilon that it takes with the built-in words.

    closeness: the expected cosine of a word with what is written for it, from 0.
    """

    risk: float
    epsilon: float
    closeness: float
    steps: Table


@lru_cache(maxsize=1)
def shipped() -> tuple[tuple[Row, ...], ...]:
    """Return the tables that ship: rows by rising risk, of each prior."""
    path = Path(__file__).parents[2] / "data" / "rank_weights.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return tuple(tuple(_row(row) for row in each["weights"]) for each in tables)


def _row(row: dict[str, Any]) -> Row:
    steps = tuple((last, value) for last, value in row.pop("steps"))
    return Row(steps=steps, **row)


def params(settings: Params, space: Space, aim: Aim) -> Params:
    """Put a shipped table in the place of weights fitted: the first that is enough.

    For a risk, the first whose own epsilon makes guesses succeed so often; for an
    epsilon, the first of at least as much; else that of risk 20%. Of fewer outputs than
    it was made for it lists fewer, and no more than the lexicon's orders hold.
    """
    if aim.risk is not None and aim.prior is not None:
        row = _for_risk(settings, space, aim.risk, aim.prior)
    elif aim.epsilon is not None:
        least = aim.epsilon * _NEARLY
        row = _first(shipped()[0], lambda row: row.epsilon >= least)
    else:
        row = _first(shipped()[0], lambda row: row.risk >= _USUAL)
    return _cut(settings, row, space)


def _for_risk(
    settings: Params, space: Space, risk: float, prior: NDArray[np.float64]
) -> Row:
    """Return the first row of each prior that is enough, of these the nearest risk."""

    def enough(row: Row) -> bool:
        return _success(_cut(settings, row, space), space, row, prior) >= risk * _NEARLY

    rows = [_first(rows, enough) for rows in shipped()]
    return min(rows, key=lambda row: abs(row.risk - risk))


def _first(rows: tuple[Row, ...], enough: Callable[[Row], bool]) -> Row:
    """Return the first row that is enough, else the last; those after it must be, too.

    Looks at few of them.
    """
    return rows[bisect_left(rows[:-1], True, key=enough)]


def _cut(settings: Params, row: Row, space: Space) -> Params:
    outputs = _lists.count_outputs(space, settings.outputs)
    table = _tables.scaled(row.steps, outputs)
    most = min(outputs, _lists.longest(space, outputs), settings.k or table[-1][0])
    table = _tables.cut(table, most)
    return replace(settings, weights="steps", steps=table, k=table[-1][0])


def _success(cut: Params, space: Space, row: Row, prior: NDArray[np.float64]) -> float:
    """Return the success of the best guess of a word, as the Bayes risk has it."""
    digest = cache.digest(prior)
    what = (space.lexicon.digest, space.identity, asdict(cut), digest, row.epsilon)

    def compute() -> dict[str, float]:
        mechanism = cut.prepare(space, Aim())
        best = mechanism.best_guesses(prior, row.epsilon, [(0, len(prior))])
        return {"success": float(best.sum())}

    return float(cache.numbers(cache.key_of("fitted", 1, *what), compute)["success"])
