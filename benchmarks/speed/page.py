"""The page of speed and memory: docs/results/speed.md.

    python -m benchmarks speed.page [RUN.json ...]

Prose in text.md; each of its <!-- NAME --> becomes a table, made from the runs
in docs/results/speed.json. Runs that are given take the place of those that are there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.private_rows import ROOT

DOCS = ROOT / "docs" / "results"
RUNS = DOCS / "speed.json"
Runs = Sequence[dict[str, Any]]
Row = dict[str, Any]
TITLES = {
    "mechanisms": "mechanisms",
    "words": "growth with words",
    "dimensions": "with dimensions",
    "length": "with length",
    "jobs": "with jobs",
}


def page(runs: Runs) -> str:
    """Return the text of the page."""
    text = Path(__file__).with_name("text.md").read_text("utf-8")
    return re.sub(
        r"<!-- (\w+) -->", lambda mark: "\n".join(TABLES[mark[1]](runs)), text
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    marks = ["---"] * len(columns)
    return ["| " + " | ".join(row) + " |" for row in (columns, marks, *rows)]


def headings(runs: Runs) -> list[str]:
    """Return a table of the runs: when, on what, under which load."""
    rows = []
    for run in runs:
        machine = run["machine"]
        names = {row.get("table", "peers") for row in run["cells"] + run["peers"]}
        order = [name for name in (*TITLES, "peers") if name in names]
        rows.append(
            [
                run["date"],
                ", ".join(TITLES.get(name, name) for name in order),
                run["dptext"],
                f"{machine['processor']}, {machine['cores']} cores, "
                f"{machine['memory']} GB, {machine['system']}",
                f"{machine['python']}, {machine['numpy']}",
                f"{run['seconds'] / 60:.0f} min",
                f"{run['other_work']:.1f} cores",
            ]
        )
    columns = (
        "date",
        "tables",
        "dptext",
        "machine",
        "Python, numpy",
        "took",
        "other work",
    )
    return table(columns, rows)


def mechanisms(runs: Runs) -> list[str]:
    """Return the table of every mechanism on every vocabulary."""
    rows = []
    for run, cells in zip(runs, latest(runs), strict=True):
        for vocabulary in dict.fromkeys(row["vocabulary"] for row in cells):
            bound = f"**{figure(run['limits'][vocabulary])}**"
            product = f"**{shown(vocabulary)}**: matrix product alone"
            rows.append([product, "", bound, "1", "", ""])
            here = [row for row in cells if row["vocabulary"] == vocabulary]
            rows += [measured(row) for row in here if "rate" in row]
    columns = (
        "mechanism",
        "words in the run",
        "words/s and core",
        "of the limit",
        "start-up, s",
        "peak, MB",
    )
    return table(columns, rows)


def refusals(runs: Runs) -> list[str]:
    """Return a list of the mechanisms that do not run on a vocabulary, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in itertools.chain(*latest(runs)):
        if "reason" in row:
            reason = row["reason"].replace(f"'{row['vocabulary']}'", "").strip()
            key = row["mechanism"], re.sub(r"\s+", " ", reason)
            reasons.setdefault(key, []).append(shown(row["vocabulary"]))
    return [
        f"- `{mechanism}` on {'; '.join(names)}: {reason}"
        for (mechanism, reason), names in reasons.items()
    ] or ["- none"]


def latest(runs: Runs) -> list[list[Row]]:
    """Return for each run its rows of mechanisms that no later run has again."""
    rows = [select_rows([run], "mechanisms") for run in runs]
    last = {
        (row["vocabulary"], row["mechanism"]): number
        for number, of_run in enumerate(rows)
        for row in of_run
    }
    return [
        [row for row in of_run if last[row["vocabulary"], row["mechanism"]] == number]
        for number, of_run in enumerate(rows)
    ]


def measured(row: Row) -> list[str]:
    """Return the line of one mechanism."""
    ratio = f"{row['ratio']:.2f}" if row["ratio"] < 10 else f"{row['ratio']:,.0f}"
    return [
        f"`{row['mechanism']}`",
        f"{row['words']:,}",
        figure(row["rate"]),
        ratio,
        f"{row['start_up']:.1f}",
        f"{row['peak']:,.0f}",
    ]


def growth(name: str, show: Callable[[Row], str], key: str) -> Callable[[Runs], Any]:
    """Return what makes a table with a column for each size of what grows."""

    def lines(runs: Runs) -> list[str]:
        rows = [row for row in select_rows(runs, name) if "rate" in row]
        sizes = list(dict.fromkeys(row[key] for row in rows))
        body = [
            [f"`{mechanism}`", *(cells.get(size, "") for size in sizes)]
            for mechanism in dict.fromkeys(row["mechanism"] for row in rows)
            for cells in [
                {row[key]: show(row) for row in rows if row["mechanism"] == mechanism}
            ]
        ]
        return table(["mechanism", *map(shown, sizes)], body)

    return lines


def by_core(row: Row) -> str:
    """Show the rate by processor time, the ratio to the limit, and the words."""
    ratio = f"{row['ratio']:.2f}" if row["ratio"] < 10 else f"{row['ratio']:,.0f}"
    return f"{figure(row['rate'])} ({ratio}; {row['words']:,})"


def by_clock(row: Row) -> str:
    """Show the rates by the clock and by processor time."""
    return f"{figure(row['wall_rate'])} ({figure(row['rate'])})"


def peers(runs: Runs) -> list[str]:
    """Return the table of the peers beside dptext in the same run."""
    rows = []
    for run in runs:
        rates = {
            (row["vocabulary"], row["mechanism"]): row["rate"]
            for row in run["cells"]
            if row["table"] == "mechanisms" and "rate" in row
        }
        for row in run["peers"]:
            ours = rates.get((row["vocabulary"], row["counterpart"]))
            rows.append([*beside(row, ours)])
    columns = (
        "vocabulary",
        "peer",
        "mechanism",
        "words in the run",
        "words/s and core",
        "start-up, s",
        "peak, MB",
        "dptext, words/s and core",
        "times",
    )
    return table(columns, rows)


def beside(row: Row, ours: float | None) -> Iterator[str]:
    """Yield the line of one mechanism of a peer."""
    yield from (shown(row["vocabulary"]), row["peer"], row["mechanism"])
    if "reason" in row:
        yield from ("", row["reason"].replace("|", " "), "", "")
    else:
        failed = f"; {row['failed']:,} texts failed" if row["failed"] else ""
        yield from (f"{row['words']:,}{failed}", figure(row["rate"]))
        yield from (f"{row['start_up']:.1f}", f"{row['peak']:,.0f}")
    yield f"{figure(ours)} (`{row['counterpart']}`)" if ours else ""
    yield figure(ours / row["rate"]) if ours and "rate" in row else ""


def select_rows(runs: Runs, name: str) -> list[Row]:
    """Return the rows of one table over all runs."""
    return [row for run in runs for row in run["cells"] if row["table"] == name]


def figure(value: float) -> str:
    """Write a rate with three figures."""
    if value < 100:
        return f"{value:.3g}"
    digits = len(str(int(value))) - 3
    return f"{round(value, -digits):,.0f}"


def shown(value: str | int) -> str:
    """Write a vocabulary, or a number, for people."""
    size, times, dimensions = str(value).partition("x")
    if str(value) == "builtin":
        return "built-in"
    return f"{int(size):,}" + (f" x {dimensions}" if times else "")


TABLES: dict[str, Callable[[Runs], list[str]]] = {
    "runs": headings,
    "mechanisms": mechanisms,
    "refusals": refusals,
    "words": growth("words", by_core, "vocabulary"),
    "dimensions": growth("dimensions", by_core, "vocabulary"),
    "length": growth("length", by_core, "length"),
    "jobs": growth("jobs", by_clock, "jobs"),
    "peers": peers,
}


def main() -> None:
    """Write speed.json, where runs are given, and speed.md to docs/results/."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="*", type=Path)
    paths = parser.parse_args().runs
    if paths:
        runs = [json.loads(path.read_text("utf-8")) for path in paths]
        RUNS.write_text(json.dumps(runs, indent=1) + "\n", "utf-8")
    text = page(json.loads(RUNS.read_text("utf-8")))
    (DOCS / "speed.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
