"""The published tables, measured again: docs/results/replication.md.

    python -m benchmarks published comparative --glove FOLDER --encoder FOLDER
    python -m benchmarks published PART [--glove FOLDER] [--encoder FOLDER]
    python -m benchmarks published page

PART: rank, tries (with GLOVE), thesis (GLOVE), custext, distributor (ENCODER).

Each part replaces its older rows in docs/results/replication.jsonl, one by one; page
writes replication.md there from these and from the published figures.
GLOVE holds GloVe 6B in 50 dimensions as one .npy matrix with its list of words, ENCODER
a sentence encoder. Reads text/ and nltk_data/ of the test data (DPTEXT_TEST_DATA, else
../shared/data) and the published figures (PUBLISHED, else published/ beside the data).
Everything is drawn from fixed seeds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.private_rows import DATA, ROOT

RESULTS = ROOT / "docs" / "results" / "replication.jsonl"
Row = dict[str, Any]


def read(path: Path = RESULTS) -> list[Row]:
    """Read all rows measured so far."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def append(rows: Iterable[Row], replaced: dict[str, Any]) -> None:
    """Write rows as they come; those that agree with `replaced` go first."""
    older = [
        row
        for row in read()
        if any(row.get(key) != value for key, value in replaced.items())
    ]
    RESULTS.write_text("".join(json.dumps(row) + "\n" for row in older), "utf-8")
    for row in rows:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def comparative(chosen: argparse.Namespace) -> None:
    """Measure the comparative analysis."""
    from benchmarks.published import comparative as part

    with tempfile.TemporaryDirectory() as cache:
        for dataset in chosen.datasets:
            replaced = {"part": "comparative", "dataset": dataset}
            done = {
                (row["kind"], row["mechanism"], row["epsilon"])
                for row in read()
                if chosen.resume
                and "mechanism" in row
                and all(row.get(key) == value for key, value in replaced.items())
            }
            rows = part.rows(
                dataset,
                chosen.glove,
                Path(cache),
                chosen.encoder,
                chosen.kinds,
                done,
            )
            append(rows, {"part": None} if done else replaced)


def rank(chosen: argparse.Namespace) -> None:
    """Measure rank, drawn and decoded."""
    from benchmarks.published import rank as part

    for dataset in chosen.datasets:
        rows = part.rows(dataset, chosen.glove, chosen.encoder)
        append(rows, {"part": "rank", "dataset": dataset})


def tries(chosen: argparse.Namespace) -> None:
    """Try what might explain SanText's PP."""
    from benchmarks.published import tries as part

    for dataset in chosen.datasets:
        rows = part.rows(dataset, chosen.glove)
        append(rows, {"part": "tries", "dataset": dataset})


def thesis(chosen: argparse.Namespace) -> None:
    """Measure the spaces of the sensitivity thesis."""
    from benchmarks.published import thesis as part

    append(part.rows(chosen.glove, DATA), {"part": "thesis"})


def custext(chosen: argparse.Namespace) -> None:
    """Measure CusText."""
    from benchmarks.published import custext as part

    append(part.rows(DATA), {"part": "custext"})


def distributor(chosen: argparse.Namespace) -> None:
    """Score the sentence of Table 5.1."""
    from benchmarks.published import distributor as part

    append(part.rows(chosen.encoder), {"part": "distributor"})


def page(chosen: argparse.Namespace) -> None:
    """Write the page."""
    from benchmarks.published import page as part

    part.write(read())


PARTS = (comparative, rank, tries, thesis, custext, distributor, page)


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = {part.__name__: part for part in PARTS}
    parser.add_argument("what", choices=parts)
    parser.add_argument("--glove", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--datasets", nargs="+", default=["AG News", "IMDb"])
    parser.add_argument("--kinds", nargs="+", default=["fault", "dptext"])
    parser.add_argument("--resume", action="store_true")
    chosen = parser.parse_args()
    parts[chosen.what](chosen)


if __name__ == "__main__":
    main()
