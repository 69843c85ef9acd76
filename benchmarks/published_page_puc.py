"""The tables of docs/replication.md that follow from the paper's own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import published_figures as published
import published_puc as puc

Row = dict[str, Any]
Rows = Sequence[Row]
EPSILONS = ("1", "5", "10")


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdicts(rows: Rows) -> str:
    """Compare Table 9 with the formula."""
    return table(
        ("corpus", "scores", "follow", "follow for another mechanism", "do not follow"),
        [
            [v.dataset, *map(str, (v.scores, v.follow, v.of_another, v.of_none))]
            for v in puc.verdicts(puc.cells())
        ],
    )


def misfits(rows: Rows) -> str:
    """List the scores of Table 9 that no mechanism has by the formula."""
    body = [
        [
            *(c.dataset, c.dimension, c.printed_for, c.epsilon, c.alpha),
            *(f"{c.value:.2f}", f"{c.by_formula:.2f}"),
        ]
        for c in puc.cells()
        if not c.belongs_to and abs(c.value - c.by_formula) > puc.ROUNDING
    ]
    head = ("corpus", "dimensions", "mechanism", "epsilon", "alpha")
    return table((*head, "printed", "by the formula"), body)


def regression(rows: Rows) -> str:
    """Fit Table 4 again."""
    fit = puc.regression()
    printed = {
        row["term"]: float(row["value"])
        for row in published.rows("comparative-analysis-table4")
        if row["statistic"] in ("coefficient", "r_squared")
    }
    printed["r_squared"] = printed.pop("model")
    body = [
        [term.replace("r_squared", "R²"), f"{printed[term]:.4g}", f"{value:.4f}"]
        for term, value in fit.items()
    ]
    return table(("term", "printed", "fitted again"), body)


def order(rows: Rows) -> str:
    """Put AG News' scores beside those by the formula, alpha 0.5."""
    body = []
    for name in puc.MECHANISMS:
        line = [name]
        for epsilon in EPSILONS:
            (value,) = [
                float(row["value"])
                for row in published.rows("comparative-analysis-table9")
                if row["mechanism_as_printed"] == name
                and (row["dataset"], row["dimension"]) == ("AG News", "50")
                and (row["epsilon"], row["alpha"]) == (epsilon, "0.5")
            ]
            ours = puc.of_tables("AG News", "50", name, epsilon)["0.5"]
            line += [f"{value:.2f}", f"{ours:.2f}"]
        body.append(line)
    head = [f"{what}, {e}" for e in EPSILONS for what in ("printed", "by formula")]
    return table(("mechanism", *head), body)


TABLES: dict[str, Callable[[Rows], str]] = {
    "verdicts": verdicts,
    "misfits": misfits,
    "regression": regression,
    "order": order,
}
