"""The page of the published tables: docs/results/replication.md.

Prose in text.md; each of its <!-- NAME --> becomes a table, made from the rows of
docs/results/replication.jsonl and from the published figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.private_rows import ROOT
from benchmarks.published import distributor, puc, thesis
from benchmarks.published import figures as published

Row = dict[str, Any]
Rows = Sequence[Row]
EPSILONS = ("1", "5", "10")
METRICS = ("N_w", "S_w", "PP", "LOW", "CS")
CORPORA = ("AG News", "IMDb")
KINDS = ("paper", "its code", "dptext")
SPREADS = {"N_w": "N_w_spread", "S_w": "S_w_spread", "CS": "CS_spread"}


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
            c.dataset,
            c.dimension,
            c.printed_for,
            c.epsilon,
            c.alpha,
            f"{c.value:.2f}",
            f"{c.by_formula:.2f}",
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
            ours = puc.published_scores("AG News", "50", name, epsilon)["0.5"]
            line += [f"{value:.2f}", f"{ours:.2f}"]
        body.append(line)
    head = [f"{source}, {e}" for e in EPSILONS for source in ("printed", "by formula")]
    return table(("mechanism", *head), body)


PUC: dict[str, Callable[[Rows], str]] = {
    "verdicts": verdicts,
    "misfits": misfits,
    "regression": regression,
    "order": order,
}


def rows_by_mechanism(
    rows: Rows, dataset: str, kind: str
) -> dict[tuple[str, str], Row]:
    """Return the measured rows of a corpus by mechanism and epsilon."""
    return {
        (row["mechanism"], f"{row['epsilon']:g}"): row
        for row in rows
        if row["part"] == "comparative"
        and (row["dataset"], row["kind"]) == (dataset, kind)
    }


def original(rows: Rows, dataset: str) -> Row | None:
    """Return the row of a corpus without noise, if it was measured."""
    return next(
        (
            row
            for row in rows
            if row["part"] == "comparative"
            and (row["dataset"], row["kind"]) == (dataset, "original")
        ),
        None,
    )


def _cell(row: Row | None, metric: str) -> str:
    if row is None or metric not in row:
        return ""
    spread = SPREADS.get(metric)
    shown = f"{row[metric]:.1f}"
    return f"{shown} ± {row[spread]:.1f}" if spread and row[spread] >= 0.05 else shown


def side_by_side(dataset: str) -> Callable[[Rows], str]:
    """Make Table 6 or 7: published, as the authors' code does, dptext."""

    def tables(rows: Rows) -> str:
        kinds = [rows_by_mechanism(rows, dataset, kind) for kind in ("fault", "dptext")]
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
            head = [f"{kind}, {e}" for e in EPSILONS for kind in KINDS]
            parts += [f"**{metric}**, {dataset}, 50 dimensions\n"]
            parts += [table(("mechanism", *head), body), ""]
        return "\n".join(parts)

    return tables


def differences(rows: Rows) -> str:
    """Take the mean absolute difference from the paper over the epsilons."""
    figures = published.comparative()
    body = []
    for dataset in CORPORA:
        for name in puc.MECHANISMS:
            line = [dataset, name]
            for kind in ("fault", "dptext"):
                mine = rows_by_mechanism(rows, dataset, kind)
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
    """Put Table 8 beside the measurements."""
    figures = published.figures(
        "comparative-analysis-table8", "dataset", "mechanism", "epsilon"
    )
    body = []
    for dataset in CORPORA:
        originals = original(rows, dataset)
        if originals is None:
            continue
        plain = f"{originals['english']:.1f}"
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
        kinds = [rows_by_mechanism(rows, dataset, kind) for kind in ("fault", "dptext")]
        for name in puc.MECHANISMS:
            line = [dataset, name]
            for e in EPSILONS:
                line.append(f"{figures[dataset, name, e]:.1f}")
                line += [_cell(kind.get((name, e)), "english") for kind in kinds]
            body.append(line)
    head = [f"{kind}, {e}" for e in EPSILONS for kind in KINDS]
    return table(("corpus", "mechanism", *head), body)


def scores(rows: Rows) -> str:
    """Give the measured accuracy and PUC."""
    body = []
    for dataset in CORPORA:
        originals = original(rows, dataset)
        if originals is None:
            continue
        line = [
            dataset,
            "originals",
            "",
            f"{originals['tfidf']:.1f}",
            f"{originals['means']:.1f}",
        ]
        body.append([*line, *[""] * 5])
        for row in rows:
            mine = row["part"] in ("comparative", "rank") and row["dataset"] == dataset
            if not mine or "means" not in row or row["kind"] == "original":
                continue
            parts = {name: row[name] for name in puc.PARTS}
            values = [
                puc.puc(row["means"], originals["means"], parts, alpha)
                for alpha in (0.75, 0.5, 0.25)
            ]
            published_value = ""
            if row["mechanism"] in puc.MECHANISMS:
                key = dataset, "50", row["mechanism"], f"{row['epsilon']:g}"
                published_value = f"{puc.published_scores(*key)['0.5']:.1f}"
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
    """List the tries for the PP of a mechanism."""

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
    mine = rows_by_mechanism(rows, "AG News", "fault")
    body = [
        [
            name,
            epsilon,
            f"{figures['AG News', '50', name, epsilon, 'LOW']:g}",
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
        mine = rows_by_mechanism(rows, dataset, "fault")
        for metric in METRICS:
            line = [dataset, metric]
            for epsilon in EPSILONS:
                if ("SanText+", epsilon) in mine:
                    value = figures[dataset, "50", "SanText", epsilon, metric]
                    line += [f"{value:g}", _cell(mine["SanText+", epsilon], metric)]
            if len(line) == 2 + 2 * len(EPSILONS):
                body.append(line)
    head = [f"{source}, {e}" for e in EPSILONS for source in ("paper", "SanText+")]
    return table(("corpus", "", *head), body)


COMPARATIVE: dict[str, Callable[[Rows], str]] = {
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


def _select(rows: Rows, part: str) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def lipschitz(rows: Rows) -> str:
    """Give exact Lipschitz constants and distances of the spaces."""
    printed = {
        row["sensitivity_approach"]: row
        for row in published.rows("sensitivity-thesis-table5.2")
    }
    body = []
    for row in _select(rows, "thesis"):
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
    for row in _select(rows, "thesis"):
        if "N_w" in row:
            shares = [f"{row['N_w'][f'{e:g}']:.1f}" for e in thesis.EPSILONS]
            body.append([row["vectors"], row["space"], row["mapping"], *shares])
    head = ("vectors", "space", "mapping", *(f"{e:g}" for e in thesis.EPSILONS))
    return table(head, body)


def custext_kept(rows: Rows) -> str:
    """Put Table 3.6 beside the measurements."""
    printed = {
        (row["stopwords_kept"], row["strategy"], row["epsilon"]): row[
            "original_kept_percent"
        ]
        for row in published.rows("custext-table3.6")
        if row["dataset"] == "SST-2"
    }
    body = []
    for row in _select(rows, "custext"):
        for stop, key in (("0", "kept"), ("1", "kept_stop")):
            for number, e in enumerate(("1", "5", "10") if key in row else ()):
                values = [printed[stop, s, e] for s in ("token", "record", "dataset")]
                label = "kept" if stop == "1" else "replaced"
                body.append([label, e, *values, f"{row[key][number]:.2f}"])
    head = ("stop words", "epsilon", "paper, token", "record", "data set", "dptext")
    return table(head, body)


def custext_sets(rows: Rows) -> str:
    """Put Tables 3.1, 3.3 and 3.4 beside the measurements."""
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
    for row in _select(rows, "custext"):
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
    plain = [row for row in _select(rows, "custext") if row.get("k") == 0]
    body += [["originals", "", "", "", "91.63", f"{r['accuracy']:.2f}"] for r in plain]
    head = ("mapping", "K", "alone, paper", "alone", "accuracy, paper (BERT)")
    return table((*head, "accuracy (TF-IDF)"), body)


def sentence(rows: Rows) -> str:
    """Make Table 5.1 of the epsilon-distributor thesis again, and by `linguistic`."""
    printed = published.rows("distributor-table5.1")
    body = []
    for mine, row in zip(_select(rows, "distributor"), printed, strict=False):
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


OTHERS: dict[str, Callable[[Rows], str]] = {
    "bounds": bounds,
    "thresholds": thresholds,
    "lipschitz": lipschitz,
    "spaces": spaces,
    "custext_kept": custext_kept,
    "custext_sets": custext_sets,
    "sentence": sentence,
    "arithmetic": arithmetic,
}


TABLES = {**PUC, **COMPARATIVE, **OTHERS}


def page(rows: Rows) -> str:
    """Return the text of the page."""
    text = Path(__file__).with_name("text.md").read_text("utf-8")
    return re.sub(r"<!-- (\w+) -->", lambda mark: TABLES[mark[1]](rows), text)


def write(rows: Rows) -> None:
    """Write docs/results/replication.md."""
    (ROOT / "docs" / "results" / "replication.md").write_text(page(rows), "utf-8")
