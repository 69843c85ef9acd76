"""The table of a comparison: flat rows for machines, short cells for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dptext.evaluation.comparison import Row
from dptext.evaluation.run import Settings
from dptext.report import figures

KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
COLUMNS = (
    *("mechanism", "level", "lexicon", "dimensions", "epsilon", "notion"),
    *("worst_loss", "risk", "n_w", "s_w", "pp", "cs", "low"),
    *("utility", "utility_sd", "utility_original", "utility_chance"),
    *("attack", "attack_sd", "attack_original", "attack_chance"),
    *("trade_off", "words_per_second", "megabytes", "reason"),
)


def flat(row: Row) -> dict[str, Any]:
    """Return a row as one value for each column; alphas are further columns."""
    cells: dict[str, Any] = {name: getattr(row, name, None) for name in COLUMNS}
    result = row.result
    if result is None:
        return cells
    kept, deniability = result.kept, result.deniability
    cells["n_w"] = deniability.n_w if deniability else None
    cells["s_w"] = deniability.s_w if deniability else None
    cells |= {"pp": kept.perturbed, "cs": kept.similarity, "low": kept.low}
    cells["trade_off"] = result.trade_off
    for name, tasks in (
        ("utility", result.utility),
        ("attack", result.attribute_attacks),
    ):
        for task in tasks[:1]:
            cells[name] = task.private.accuracy
            cells[f"{name}_sd"] = task.private.accuracy_sd
            cells[f"{name}_original"] = task.original.accuracy
            cells[f"{name}_chance"] = task.chance
    for each in result.composite:
        cells[f"composite_{each.alpha:g}"] = each.value
    return cells


def as_csv(table: Sequence[Row], settings: Settings) -> str:
    """Return the table as CSV."""
    alphas = [f"composite_{alpha:g}" for alpha in settings.alphas]
    out = io.StringIO()
    writer = csv.DictWriter(out, [*COLUMNS, *alphas], lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow(flat(row))
    return out.getvalue()


def headings(settings: Settings) -> list[str]:
    """Return the headings of the columns that people are shown."""
    names = ["mechanism", "level", "epsilon", "loss", "risk", *KEPT]
    for name, fields in (("utility", settings.labels), ("attack", settings.attributes)):
        if fields:
            names += [name, f"{name} on originals", f"{name} by chance"]
    return [*names, "words/s", "MB"]


def cells(row: Row, settings: Settings) -> tuple[str, ...]:
    """Return the cells under `headings` of a row that has figures."""
    return tuple(_cells(flat(row), settings))


def _cells(row: dict[str, Any], settings: Settings) -> Iterator[str]:
    lexicon = "" if row["lexicon"] == "builtin" else f" ({Path(row['lexicon']).name})"
    yield f"{row['mechanism']}{lexicon}"
    yield row["level"]
    yield f"{row['epsilon']:.4g}"
    yield "none" if row["worst_loss"] is None else f"{row['worst_loss']:.4g}"
    yield figures.share(row["risk"])
    yield figures.share(row["n_w"])
    yield figures.distinct(row["s_w"])
    yield figures.share(row["pp"])
    yield figures.cosine(row["cs"])
    yield figures.share(row["low"])
    for name, fields in (("utility", settings.labels), ("attack", settings.attributes)):
        if fields:
            yield figures.accuracy(row[name], row[f"{name}_sd"])
            yield figures.accuracy(row[f"{name}_original"])
            yield figures.share(row[f"{name}_chance"])
    yield f"{row['words_per_second']:,.0f}"
    yield f"{row['megabytes']:.0f}"
