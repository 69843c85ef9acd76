"""The default pipe beside the matrix product and `--decode none`, release by release.

    python -m benchmarks speed.history [--check | --add] [--words 1000000] [--tries 3]

Runs `dptext sanitize` with default settings from JSONL to JSONL, with its decoder and
without, and the matrix product (`speed`) before and after, and prints words per second
of processor time, start-up taken off. Each release has a row in
docs/results/speed-history.jsonl: --add writes one for the commit that is checked out,
the middle one of some tries.

--check ends with exit code 1 where the default pipe is below 0.8 of the last row, of
`--decode none` or of the product, in each of some tries. The product is compared only
where that row is of the same processor: others multiply at other speeds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.speed.measure import ONE_THREAD, Product, machine, measured
from benchmarks.speed.texts import dptext, open_lexicon, texts, write
from dptext import __version__
from dptext.attackers import kernel

ROWS = Path(__file__).parents[2] / "docs" / "results" / "speed-history.jsonl"
LEAST = 0.8
FEW, LENGTH, LONGEST = 400, 35, 60.0


def rows() -> list[dict[str, Any]]:
    """Return the rows of all releases, the latest last."""
    return [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]


def measure(folder: Path, words: int) -> dict[str, Any]:
    """Measure all three once."""
    lexicon = open_lexicon("builtin")
    product = Product(lexicon)
    limits = [product.measure()]

    def seconds(words: int, *options: str) -> tuple[int, float]:
        path = folder / "words.jsonl"
        count = write(path, texts(lexicon, LENGTH), words)
        command = dptext("sanitize", str(path), "--field", "text", "--quiet")
        run = measured((*command, "--no-bayes-risk", *options), LONGEST)
        return count, run.seconds

    def rate(words: int, *options: str) -> float:
        few, first = min(seconds(FEW, *options) for _ in range(2))
        many, second = seconds(words, *options)
        return (many - few) / max(second - first, 1e-3)

    # Both runs take about the same time.
    default, undecoded = rate(words), rate(2 * words, "--decode", "none")
    limits.append(product.measure())
    return {
        "default": round(default),
        "undecoded": round(undecoded),
        "product": round(sum(limits) / 2),
        "kernel": kernel.library is not None,
    }


def behind(row: Mapping[str, Any], last: Mapping[str, Any]) -> Iterator[str]:
    """Yield in which respect a row is below what the last one asks for."""
    same = row["processor"] == last["processor"]
    for base in ("undecoded", *(["product"] if same else [])):
        now, before = (each["default"] / each[base] for each in (row, last))
        if now < LEAST * before:
            yield f"default / {base}: {now:.3g}, below {LEAST} of {before:.3g}"


def described(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with when and where it was measured."""
    git = ("git", "rev-parse", "--short=7", "HEAD")
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.strip(),
        "dptext": __version__,
        "processor": machine()["processor"],
        **row,
    }


def main() -> None:
    """Measure, then print, write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--tries", type=int, default=3)
    chosen = parser.parse_args()
    os.environ.update(ONE_THREAD)
    reasons = [""]
    tried: list[dict[str, Any]] = []
    while reasons and len(tried) < chosen.tries:
        with TemporaryDirectory() as folder:
            row = described(measure(Path(folder), chosen.words))
        print(json.dumps(row), flush=True)
        tried.append(row)
        if chosen.check:
            reasons = list(behind(row, rows()[-1]))
    if chosen.add:
        tried.sort(key=lambda row: float(row["default"] / row["undecoded"]))
        with ROWS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(tried[len(tried) // 2]) + "\n")
    if chosen.check and reasons:
        sys.exit("slower than the last release: " + "; ".join(reasons))


if __name__ == "__main__":
    main()
