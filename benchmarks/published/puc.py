"""PUC of the comparative analysis, Table 9, by its equations from Tables 3, 6 and 7.

PUC = a 100 A / B + (1 - a) ((100 - N_w) + S_w + PP + CS + (100 - LOW)) / 5, with the
accuracy A and that of the baseline B, of the same corpus and dimension; all in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.published import figures as published

# The published tables have one or two decimals: what follows from rounded inputs.
ROUNDING = 0.06
MECHANISMS = (
    "SynTF",
    "CMP",
    "Mahalanobis",
    "SanText",
    "Gumbel",
    "Vickrey",
    "TEM",
)
PARTS = ("N_w", "S_w", "PP", "CS", "LOW")
ROWS = dict[str, float]


def privacy(parts: Mapping[str, float]) -> float:
    """Return the privacy score, the second term of PUC: 0 to 100."""
    low = (100.0 - parts["N_w"]) + (100.0 - parts["LOW"])
    return (low + parts["S_w"] + parts["PP"] + parts["CS"]) / 5.0


def puc(
    accuracy: float, baseline: float, parts: Mapping[str, float], alpha: float
) -> float:
    """Return PUC; accuracies in percent."""
    return alpha * 100.0 * accuracy / baseline + (1.0 - alpha) * privacy(parts)


class Cell(NamedTuple):
    """One printed score: its row, its label, and who has it by the formula."""

    dataset: str
    dimension: str
    epsilon: str
    alpha: str
    printed_for: str
    value: float
    by_formula: float
    belongs_to: tuple[str, ...]


def published_scores(
    dataset: str, dimension: str, mechanism: str, epsilon: str
) -> ROWS:
    """Return PUC of one setting by alpha, from Tables 3, 6 and 7."""
    figures = published.comparative()
    key = (dataset, dimension, mechanism, epsilon)
    parts = {name: figures[*key, name] for name in PARTS}
    baseline = figures[dataset, dimension, "baseline", "", "accuracy"]
    return {
        alpha: puc(figures[*key, "accuracy"], baseline, parts, float(alpha))
        for alpha in ("0.75", "0.5", "0.25")
    }


def cells() -> list[Cell]:
    """Compare every printed score with the formula's."""
    table = []
    for row in published.rows("comparative-analysis-table9"):
        where = row["dataset"], row["dimension"], row["epsilon"]
        value, alpha = float(row["value"]), row["alpha"]
        scores = {
            name: published_scores(where[0], where[1], name, where[2])[alpha]
            for name in MECHANISMS
        }
        label = row["mechanism_as_printed"]
        fits = [n for n, score in scores.items() if abs(score - value) <= ROUNDING]
        cell = Cell(*where, alpha, label, value, scores[label], tuple(fits))
        table.append(cell)
    return table


@dataclass(frozen=True)
class Verdict:
    """Properties of the scores of one corpus."""

    dataset: str
    scores: int
    follow: int
    of_another: int
    of_none: int


def verdicts(table: list[Cell]) -> list[Verdict]:
    """Count the scores that follow, that belong to another row, and that do neither."""
    results = []
    for dataset in ("IMDb", "AG News"):
        mine = [cell for cell in table if cell.dataset == dataset]
        follow = [abs(c.by_formula - c.value) <= ROUNDING for c in mine]
        other = [
            bool(c.belongs_to) and not right
            for c, right in zip(mine, follow, strict=True)
        ]
        none = len(mine) - sum(follow) - sum(other)
        results.append(Verdict(dataset, len(mine), sum(follow), sum(other), none))
    return results


def sorted_columns() -> int:
    """Return how many of AG News' 9 columns are in falling order at alpha 0.5."""
    columns: dict[tuple[str, str], list[float]] = {}
    for row in published.rows("comparative-analysis-table9"):
        if (row["dataset"], row["alpha"]) == ("AG News", "0.5"):
            column = columns.setdefault((row["dimension"], row["epsilon"]), [])
            column.append(float(row["value"]))
    return sum(column == sorted(column, reverse=True) for column in columns.values())


def regression() -> dict[str, float]:
    """Fit CS on epsilon, N_w, S_w and PP over the 126 rows, as Table 4 does."""
    import numpy as np

    figures = published.comparative()
    keys = {key[:4] for key in figures if key[4] == "CS"}
    names = ("epsilon", "N_w", "S_w", "PP")
    inputs = np.array(
        [
            [1.0, float(key[3]), *(figures[*key, name] for name in names[1:])]
            for key in sorted(keys)
        ]
    )
    target = np.array([figures[*key, "CS"] for key in sorted(keys)])
    weights, *_ = np.linalg.lstsq(inputs, target, rcond=None)
    left = target - inputs @ weights
    centred = target - target.mean()
    fit = dict(zip(("const", *names), weights.tolist(), strict=True))
    return {**fit, "r_squared": 1.0 - float(left @ left / (centred @ centred))}
