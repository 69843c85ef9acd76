"""The figures of the five documents, read from their CSV files.

They lie in a folder beside the test data (PUBLISHED, else ../shared/published); no file
of them is in this repository.
"""

from __future__ import annotations

import csv
import functools
import os
from pathlib import Path

from benchmarks.private_rows import DATA

PUBLISHED = Path(os.environ.get("PUBLISHED", DATA.parent / "published"))
ROW = dict[str, str]
COMPARATIVE = ("dataset", "dimension", "mechanism", "epsilon", "metric")


@functools.cache
def rows(table: str) -> tuple[ROW, ...]:
    """Read one table, by its name without ending: one observation a row."""
    with (PUBLISHED / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@functools.cache
def figures(table: str, *keys: str) -> dict[tuple[str, ...], float]:
    """Return the values of one table by the columns given; empty cells left out."""
    return {
        tuple(row[key] for key in keys): float(row["value"])
        for row in rows(table)
        if row["value"]
    }


def comparative() -> dict[tuple[str, ...], float]:
    """Return Tables 3, 6 and 7 of the comparative analysis by COMPARATIVE."""
    tables = ("table3", "table6", "table7")
    return {
        key: value
        for table in tables
        for key, value in figures(f"comparative-analysis-{table}", *COMPARATIVE).items()
    }
