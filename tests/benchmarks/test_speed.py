"""The cells of the benchmark `speed`, and its page."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchmarks.speed import history, measure, page, texts
from dptext import lexicons

ROOT = Path(__file__).resolve().parents[2]


def a_run() -> dict[str, Any]:
    """Return a run in its written form: one cell, one refusal, two rows of a peer."""
    cell: dict[str, Any] = {"table": "mechanisms", "vocabulary": "200x4"}
    cell |= {"mechanism": "laplace"}
    cell |= {"length": 200, "jobs": 1, "words": 4000, "rate": 2000.0, "ratio": 0.8}
    cell |= {"wall_rate": 1000.0, "limit": 2500.0, "start_up": 0.5, "peak": 99.0}
    refusal = {"table": "mechanisms", "vocabulary": "200x4", "mechanism": "gumbel"}
    peer = {"vocabulary": "200x4", "peer": "slow 1.0", "counterpart": "laplace"}
    rates = {"words": 30, "failed": 2, "rate": 4.0, "start_up": 20.0, "peak": 300.0}
    machine = {"processor": "P", "cores": 2, "memory": 8, "system": "S"}
    return {
        "date": "2026-11-22",
        "dptext": "0.1.0",
        "machine": {**machine, "python": "3.11", "numpy": "2.0"},
        "limits": {"200x4": 2500.0},
        "seconds": 60,
        "other_work": 0.5,
        "cells": [
            cell,
            {**refusal, "reason": "epsilon is too small"},
            {**cell, "table": "jobs", "jobs": 1},
            {**cell, "table": "jobs", "jobs": 2, "wall_rate": 1900.0},
        ],
        "peers": [
            {**peer, "mechanism": "CMP", **rates},
            {**peer, "mechanism": "TEM", "reason": "every text fails"},
        ],
    }


def test_the_page_is_that_of_its_runs() -> None:
    """docs/results/speed.md is what `speed.page` makes of docs/results/speed.json."""
    runs = json.loads((ROOT / "docs" / "results" / "speed.json").read_text("utf-8"))
    written = page.page(runs)
    assert written == (ROOT / "docs" / "results" / "speed.md").read_text("utf-8")


def test_the_tables_of_a_run() -> None:
    """The page shows each figure in its table, refusals below, and peers beside us."""
    tables = page.TABLES
    lines = {name: make([a_run()]) for name, make in tables.items()}
    assert lines["mechanisms"][2:] == [
        "| **200 x 4**: matrix product alone |  | **2,500** | 1 |  |  |",
        "| `laplace` | 4,000 | 2,000 | 0.80 | 0.5 | 99 |",
    ]
    assert lines["refusals"] == ["- `gumbel` on 200 x 4: epsilon is too small"]
    assert lines["jobs"] == [
        "| mechanism | 1 | 2 |",
        "| --- | --- | --- |",
        "| `laplace` | 1,000 (2,000) | 1,900 (2,000) |",
    ]
    assert lines["peers"][2:] == [
        "| 200 x 4 | slow 1.0 | CMP | 30; 2 texts failed | 4 | 20.0 | 300 "
        "| 2,000 (`laplace`) | 500 |",
        "| 200 x 4 | slow 1.0 | TEM |  | every text fails |  |  "
        "| 2,000 (`laplace`) |  |",
    ]


def test_the_last_run_counts() -> None:
    """A cell measured again is shown once, by its last run, and not as a refusal."""
    first, again = a_run(), a_run()
    again["limits"] = {"200x4": 5000.0}
    again["cells"] = [
        {**again["cells"][0], "rate": 4500.0, "ratio": 0.9},
        {**again["cells"][0], "mechanism": "gumbel", "rate": 900.0, "ratio": 0.18},
    ]
    tables = page.TABLES
    assert tables["mechanisms"]([first, again])[2:] == [
        "| **200 x 4**: matrix product alone |  | **5,000** | 1 |  |  |",
        "| `laplace` | 4,000 | 4,500 | 0.90 | 0.5 | 99 |",
        "| `gumbel` | 4,000 | 900 | 0.18 | 0.5 | 99 |",
    ]
    assert tables["refusals"]([first, again]) == ["- none"]
    assert tables["refusals"]([again, first]) == [
        "- `gumbel` on 200 x 4: epsilon is too small"
    ]
    assert not any("gumbel" in line for line in tables["mechanisms"]([again, first]))


def test_texts_are_the_same_words() -> None:
    """Longer runs begin with the words of shorter ones; no element is two words."""
    lexicon = lexicons.find("builtin")
    first, again = (list(islice(texts.texts(lexicon, 500), count)) for count in (3, 2))
    assert first[:2] == again
    assert all(" " not in word for text in first for word in text)


def test_the_peak_is_that_of_the_run() -> None:
    """A script that holds much memory measures a small run as small."""
    ballast = bytearray(b"x") * (300 << 20)
    usage = measure.measured((sys.executable, "-S", "-c", "pass"), 60.0)
    assert len(ballast) > 200 << 20
    assert usage.peak < 100
    with pytest.raises(RuntimeError, match="no vectors"):
        measure.measured(
            (sys.executable, "-S", "-c", "raise SystemExit('no vectors')"), 60.0
        )


@pytest.mark.slow
def test_one_command_measures_and_writes(tmp_path: Path) -> None:
    """A tiny vocabulary is made and measured; a refusal has a reason."""
    path = tmp_path / "speed.json"
    chosen = ("--vocabularies", "150x4", "--mechanisms", "rank", "syntf", "mlm")
    small = ("--words", "1000", "--seconds", "0.1", "--folder", str(tmp_path))
    subprocess.run(
        (
            sys.executable,
            "-m",
            "benchmarks",
            "speed",
            *chosen,
            *small,
            "--json",
            str(path),
        ),
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    run = json.loads(path.read_text())
    rank, syntf, mlm = run["cells"]
    assert rank["rate"] > 0
    assert rank["ratio"] == pytest.approx(rank["rate"] / rank["limit"])
    assert rank["words"] > 400
    assert "no synonyms" in syntf["reason"]
    assert "masked language model" in mlm["reason"]
    assert run["machine"]["cores"]


def test_a_slower_default_pipe_is_behind_the_last_release() -> None:
    """Below 0.8 of a ratio, in the same run; the product counts on one processor."""
    row = {"processor": "P", "default": 400, "undecoded": 800, "product": 5}
    assert not [*history.behind({**row, "default": 330}, row)]
    assert len([*history.behind({**row, "default": 310}, row)]) == 2
    slower_machine = {**row, "default": 200, "undecoded": 400, "product": 2.5}
    assert not [*history.behind(slower_machine, row)]
    all_slower = {**row, "default": 200, "undecoded": 400}
    assert len([*history.behind(all_slower, row)]) == 1
    assert not [*history.behind({**all_slower, "processor": "Q"}, row)]


def test_each_release_has_its_row() -> None:
    """Rows stand by date, each with the figures that the check divides."""
    rows = history.rows()
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    for row in rows:
        assert row["kernel"]
        assert min(row[name] for name in ("default", "undecoded", "product")) > 0
