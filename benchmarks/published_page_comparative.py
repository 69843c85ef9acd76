"""The tables of docs/replication.md about the comparative analysis."""

from __future__ import annotations

from collections.abc import Callable

import published_figures as published
import published_puc as puc
from published_page_puc import EPSILONS, Row, Rows, table

METRICS = ("N_w", "S_w", "PP", "LOW", "CS")
CORPORA = ("AG News", "IMDb")
KINDS = ("paper", "its code", "dptext")
SPREADS = {"N_w": "N_w_spread", "S_w": "S_w_spread", "CS": "CS_spread"}


def of(rows: Rows, dataset: str, kind: str) -> dict[tuple[str, str], Row]:
    """Return the measured rows of a corpus by mechanism and epsilon."""
    return {
        (row["mechanism"], f"{row['epsilon']:g}"): row
        for row in rows
        if row["part"] == "comparative"
        and (row["dataset"], row["kind"]) == (dataset, kind)
    }


def _cell(row: Row | None, metric: str) -> str:
    if row is None or metric not in row:
        return ""
    spread = SPREADS.get(metric)
    shown = f"{row[metric]:.1f}"
    return f"{shown} ± {row[spread]:.1f}" if spread and row[spread] >= 0.05 else shown


def side_by_side(dataset: str) -> Callable[[Rows], str]:
    """Make Table 6 or 7: published, as the authors' code does, dptext."""

    def made(rows: Rows) -> str:
        kinds = [of(rows, dataset, kind) for kind in ("fault", "dptext")]
        if not any(kinds):
            return f"{dataset}: not measured."
        figures = published.comparative()
        parts = []
        for metric in METRICS:
            body = []
            for name in puc.MECHANISMS:
                line = [name]
                for epsilon in EPSILONS:
                    line.append(f"{figures[dataset, '50', name, epsilon, metric]:g}")
                    line += [_cell(kind.get((name, epsilon)), metric) for kind in kinds]
                body.append(line)
            head = [f"{what}, {e}" for e in EPSILONS for what in KINDS]
            parts += [f"**{metric}**, {dataset}, 50 dimensions\n"]
            parts += [table(("mechanism", *head), body), ""]
        return "\n".join(parts)

    return made


def differences(rows: Rows) -> str:
    """Take the mean absolute difference from the paper over the epsilons."""
    figures = published.comparative()
    body = []
    for dataset in CORPORA:
        for name in puc.MECHANISMS:
            line = [dataset, name]
            for kind in ("fault", "dptext"):
                mine = of(rows, dataset, kind)
                for metric in METRICS:
                    gaps = [
                        abs(
                            mine[name, e][metric]
                            - figures[dataset, "50", name, e, metric]
                        )
                        for e in EPSILONS
                        if metric in mine.get((name, e), {})
                    ]
                    line.append(f"{sum(gaps) / len(gaps):.1f}" if gaps else "")
            if any(line[2:]):
                body.append(line)
    head = [f"{metric}, {kind}" for kind in KINDS[1:] for metric in METRICS]
    return table(("corpus", "mechanism", *head), body)


def english(rows: Rows) -> str:
    """Put Table 8 beside what was measured."""
    figures = published.figures(
        "comparative-analysis-table8", "dataset", "mechanism", "epsilon"
    )
    body = []
    for dataset in CORPORA:
        originals = [
            row
            for row in rows
            if row["part"] == "comparative"
            and row["dataset"] == dataset
            and row["kind"] == "original"
        ]
        if not originals:
            continue
        plain = f"{originals[0]['english']:.1f}"
        body.append(
            [
                dataset,
                "originals",
                f"{figures[dataset, 'baseline', '']:.1f}",
                plain,
                plain,
            ]
            + [""] * 6
        )
        kinds = [of(rows, dataset, kind) for kind in ("fault", "dptext")]
        for name in puc.MECHANISMS:
            line = [dataset, name]
            for e in EPSILONS:
                line.append(f"{figures[dataset, name, e]:.1f}")
                line += [_cell(kind.get((name, e)), "english") for kind in kinds]
            body.append(line)
    head = [f"{what}, {e}" for e in EPSILONS for what in KINDS]
    return table(("corpus", "mechanism", *head), body)


def scores(rows: Rows) -> str:
    """Give accuracy and PUC of what was measured."""
    body = []
    for dataset in CORPORA:
        originals = [
            row
            for row in rows
            if row["part"] == "comparative"
            and row["dataset"] == dataset
            and row["kind"] == "original"
        ]
        if not originals:
            continue
        (plain,) = originals
        line = [
            dataset,
            "originals",
            "",
            f"{plain['tfidf']:.1f}",
            f"{plain['means']:.1f}",
        ]
        body.append([*line, *[""] * 5])
        for row in rows:
            mine = row["part"] in ("comparative", "rank") and row["dataset"] == dataset
            if not mine or "means" not in row or row["kind"] == "original":
                continue
            parts = {name: row[name] for name in puc.PARTS}
            values = [
                puc.puc(row["means"], plain["means"], parts, alpha)
                for alpha in (0.75, 0.5, 0.25)
            ]
            published_value = ""
            if row["mechanism"] in puc.MECHANISMS:
                key = dataset, "50", row["mechanism"], f"{row['epsilon']:g}"
                published_value = f"{puc.of_tables(*key)['0.5']:.1f}"
            body.append(
                [
                    dataset,
                    row["mechanism"],
                    f"{row['epsilon']:g}",
                    f"{row['tfidf']:.1f}",
                    f"{row['means']:.1f}",
                    f"{puc.privacy(parts):.1f}",
                    *(f"{v:.1f}" for v in values),
                    published_value,
                ]
            )
    head = ("corpus", "mechanism", "epsilon", "TF-IDF", "vectors", "privacy score")
    alphas = ("PUC, 0.75", "PUC, 0.5", "PUC, 0.25", "paper's tables, 0.5")
    return table((*head, *alphas), body)


def tries(name: str) -> Callable[[Rows], str]:
    """List what was tried for the PP of a mechanism."""

    def listed(rows: Rows) -> str:
        figures = published.comparative()
        body = []
        for dataset in CORPORA:
            mine = [r for r in rows if r["part"] == "tries" and r["dataset"] == dataset]
            mine = [row for row in mine if row["mechanism"] == name]
            if mine:
                line = [f"{dataset}, paper"]
                for metric in ("N_w", "PP"):
                    printed = [
                        figures[dataset, "50", name, e, metric] for e in EPSILONS
                    ]
                    line += [f"{value:g}" for value in printed]
                body.append(line)
            for tried in dict.fromkeys(row["tried"] for row in mine):
                values = [row for row in mine if row["tried"] == tried]
                line = [tried]
                for metric in ("N_w", "PP"):
                    line += [f"{r[metric]:.1f}" if metric in r else "" for r in values]
                body.append(line)
        head = [f"{metric}, {e}" for metric in ("N_w", "PP") for e in EPSILONS]
        return table(("tried", *head), body)

    return listed


def low(rows: Rows) -> str:
    """Give LOW by both readings, as the authors' code perturbs AG News."""
    figures = published.comparative()
    mine = of(rows, "AG News", "fault")
    body = [
        [
            *(name, epsilon, f"{figures['AG News', '50', name, epsilon, 'LOW']:g}"),
            f"{mine[name, epsilon]['LOW']:.1f}",
            f"{mine[name, epsilon]['present']:.1f}",
        ]
        for name in ("TEM", "CMP")
        for epsilon in EPSILONS
    ]
    head = ("mechanism", "epsilon", "paper", "in both lists of 1,000")
    return table((*head, "still present"), body)


def plus(rows: Rows) -> str:
    """Put SanText+ beside the paper's SanText."""
    figures = published.comparative()
    body = []
    for dataset in CORPORA:
        mine = of(rows, dataset, "fault")
        for metric in METRICS:
            line = [dataset, metric]
            for epsilon in EPSILONS:
                if ("SanText+", epsilon) in mine:
                    value = figures[dataset, "50", "SanText", epsilon, metric]
                    line += [f"{value:g}", _cell(mine["SanText+", epsilon], metric)]
            if len(line) == 2 + 2 * len(EPSILONS):
                body.append(line)
    head = [f"{what}, {e}" for e in EPSILONS for what in ("paper", "SanText+")]
    return table(("corpus", "", *head), body)


TABLES: dict[str, Callable[[Rows], str]] = {
    "agnews": side_by_side("AG News"),
    "imdb": side_by_side("IMDb"),
    "differences": differences,
    "english": english,
    "scores": scores,
    "tries": tries("SanText"),
    "synonyms": tries("SynTF"),
    "low": low,
    "plus": plus,
}
