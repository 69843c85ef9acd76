"""The table of a comparison: flat rows for machines, short cells for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dptext.evaluation.classify import Task
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
    for name, tasks in _tasks(row):
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


def named(row: Row) -> str:
    """Name a row by its mechanism, and its lexicon where that is another."""
    if row.lexicon in ("builtin", "english"):
        return row.mechanism
    return f"{row.mechanism} ({Path(row.lexicon).name})"


def cells(row: Row) -> dict[str, str]:
    """Return the figures of a row as people read them, by the headings of columns."""
    value = flat(row)
    loss = value["worst_loss"]
    shown = {
        "mechanism": named(row),
        "level": row.level,
        "epsilon": f"{row.epsilon:.4g}",
        "guarantee": str(row.notion),
        "worst loss, nats": "none" if loss is None else f"{loss:.4g}",
        "risk": figures.share(row.risk),
        "N_w": figures.share(value["n_w"]),
        "S_w": figures.distinct(value["s_w"]),
        "PP": figures.share(value["pp"]),
        "CS": figures.cosine(value["cs"]),
        "LOW": figures.share(value["low"]),
        "dimensions": str(row.dimensions),
        "words a second": f"{row.words_per_second or 0:,.0f}",
        "peak memory, MB": f"{row.megabytes:.0f}",
    }
    for name, tasks in _tasks(row):
        task = next(iter(tasks), None)
        shown[name] = str(task.private) if task else figures.NOTHING
        shown[f"{name} on originals"] = str(task.original) if task else figures.NOTHING
        shown[f"{name} by chance"] = figures.share(task.chance if task else None)
    return shown


def line(row: Row) -> str:
    """Return the figures of a row that a person looks at first, in one line."""
    shown = cells(row)
    return ", ".join(f"{name} {shown[name]}" for name in ("epsilon", "risk", *KEPT))


def headings(settings: Settings) -> list[str]:
    """Return the headings of the columns that a terminal shows."""
    names = ["mechanism", "level", "epsilon", "worst loss, nats", "risk", *KEPT]
    for name, fields in (("utility", settings.labels), ("attack", settings.attributes)):
        if fields:
            names += of_task(name)
    return [*names, "words a second", "peak memory, MB"]


def of_task(name: str) -> tuple[str, str, str]:
    """Return the headings of a classifier's accuracies."""
    return name, f"{name} on originals", f"{name} by chance"


def _tasks(row: Row) -> tuple[tuple[str, tuple[Task, ...]], ...]:
    result = row.result
    return (
        ("utility", result.utility if result else ()),
        ("attack", result.attribute_attacks if result else ()),
    )
