"""The tables of docs/replication.md about the four other documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import published_distributor as distributor
import published_figures as published
import published_thesis as thesis
from published_page_puc import Rows, table

Row = dict[str, Any]


def bounds(rows: Rows) -> str:
    """Recompute the sensitivity thesis's constants."""
    body = [
        [name.replace("_", " "), f"{printed:g}", f"{value:.4f}"]
        for name, (printed, value) in thesis.bounds().items()
    ]
    return table(("constant", "printed", "by its formula"), body)


def thresholds(rows: Rows) -> str:
    """Say from which epsilon Gumbel has a scale."""
    body = [
        [name, f"{low:.1f}", f"{above} of {len(thesis.EPSILONS)}"]
        for name, (low, above) in thesis.thresholds().items()
    ]
    return table(("space", "epsilon above", "tested epsilons that are"), body)


def _of(rows: Rows, part: str) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def lipschitz(rows: Rows) -> str:
    """Give exact Lipschitz constants and distances of the spaces."""
    printed = {
        row["sensitivity_approach"]: row
        for row in published.rows("sensitivity-thesis-table5.2")
    }
    body = []
    for row in _of(rows, "thesis"):
        if "lipschitz" in row:
            mine = printed[row["space"]]
            body.append(
                [
                    row["vectors"],
                    row["space"],
                    str(row["dimension"]),
                    mine["sensitivity_bound"],
                    f"{row['lipschitz']:g}",
                    mine["gumbel_distance_min"],
                    f"{row['least']:g}",
                    mine["gumbel_distance_max"],
                    f"{row['diameter']:g}",
                ]
            )
    head = ("vectors", "space", "dimensions", "bound printed", "exact constant")
    distances = ("least, printed", "least", "largest, printed", "largest")
    return table((*head, *distances), body)


def spaces(rows: Rows) -> str:
    """Give how often words are written as themselves, per space and mapping."""
    body = []
    for row in _of(rows, "thesis"):
        if "N_w" in row:
            shares = [f"{row['N_w'][f'{e:g}']:.1f}" for e in thesis.EPSILONS]
            body.append([row["vectors"], row["space"], row["mapping"], *shares])
    head = ("vectors", "space", "mapping", *(f"{e:g}" for e in thesis.EPSILONS))
    return table(head, body)


def custext_kept(rows: Rows) -> str:
    """Put Table 3.6 beside what was measured."""
    printed = {
        (row["stopwords_kept"], row["strategy"], row["epsilon"]): row[
            "original_kept_percent"
        ]
        for row in published.rows("custext-table3.6")
        if row["dataset"] == "SST-2"
    }
    body = []
    for row in _of(rows, "custext"):
        for stop, key in (("0", "kept"), ("1", "kept_stop")):
            for number, e in enumerate(("1", "5", "10") if key in row else ()):
                values = [printed[stop, s, e] for s in ("token", "record", "dataset")]
                label = "kept" if stop == "1" else "replaced"
                body.append([label, e, *values, f"{row[key][number]:.2f}"])
    head = ("stop words", "epsilon", "paper, token", "record", "data set", "dptext")
    return table(head, body)


def custext_sets(rows: Rows) -> str:
    """Put Tables 3.1, 3.3 and 3.4 beside what was measured."""
    accuracies = {
        ("balanced", row["K"]): 100.0 * float(row["accuracy"])
        for row in published.rows("custext-table3.1")
        if (row["dataset"], row["method"]) == ("SST-2", "custext")
    } | {
        (row["mapping"], row["K"]): float(row["accuracy_percent"])
        for row in published.rows("custext-table3.3")
    }
    alone = {
        (row["mapping"], row["K"]): row["not_NM_percent"]
        for row in published.rows("custext-table3.4")
    }
    body = []
    for row in _of(rows, "custext"):
        if "mapping" in row:
            key = row["mapping"], str(row["k"])
            body.append(
                [
                    *key,
                    alone.get(key, ""),
                    f"{row['alone']:.2f}",
                    f"{accuracies[key]:.2f}" if key in accuracies else "",
                    f"{row['accuracy']:.2f}",
                ]
            )
    plain = [row for row in _of(rows, "custext") if row.get("k") == 0]
    body += [["originals", "", "", "", "91.63", f"{r['accuracy']:.2f}"] for r in plain]
    head = ("mapping", "K", "alone, paper", "alone", "accuracy, paper (BERT)")
    return table((*head, "accuracy (TF-IDF)"), body)


def sentence(rows: Rows) -> str:
    """Make Table 5.1 of the epsilon-distributor thesis again, and by `linguistic`."""
    printed = published.rows("distributor-table5.1")
    body = []
    for mine, row in zip(_of(rows, "distributor"), printed, strict=False):
        line = [mine["token"], row["ic"], f"{mine['thesis ic']:.2f}"]
        line += [row["pos_weight"], f"{mine['pos']:g}"]
        for name in ("sentence", "word"):
            line += [row[f"{name}_similarity_score"], f"{mine[f'thesis {name}']:.4f}"]
            line.append(f"{mine[f'{name}-similarity']:.4f}")
        line += [row["epsilon"], f"{mine['thesis epsilon']:.4f}"]
        body.append([*line, f"{mine['epsilon']:.4f}"])
    head = ["token", "IC, printed", "IC", "part of speech, printed", "part of speech"]
    for name in ("sentence", "word", "epsilon"):
        head += [f"{name}, printed", f"{name}, its way", f"{name}, `linguistic`"]
    return table(head, body)


def arithmetic(rows: Rows) -> str:
    """Recompute Table 5.1, Figure 4.3 and PrivEmb's pairs."""
    scores, figure = distributor.table_5_1(), distributor.figure_4_3()
    body = [
        ["Table 5.1: final scores", f"{scores['score']:.5f} at most off"],
        ["Table 5.1: epsilons", f"{scores['epsilon_percent']:.2f}% at most off"],
        ["Table 5.1: score of the row left out", f"{scores['missing']:.4f}"],
        [
            "Figure 4.3: score times epsilon",
            f"{figure['least']:.3f} to {figure['greatest']:.3f}",
        ],
    ]
    for beta, m, product in distributor.jl_dimensions():
        body.append([f"PrivEmb: beta {beta:g}, m = {m}", f"m beta² = {product:.2f}"])
    return table(("figure", "by its formula"), body)


TABLES: dict[str, Callable[[Rows], str]] = {
    "bounds": bounds,
    "thresholds": thresholds,
    "lipschitz": lipschitz,
    "spaces": spaces,
    "custext_kept": custext_kept,
    "custext_sets": custext_sets,
    "sentence": sentence,
    "arithmetic": arithmetic,
}
