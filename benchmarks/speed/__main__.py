"""Words per second of every mechanism on every vocabulary, beside the limit.

    python -m benchmarks speed [--mechanisms rank laplace ...] [--json FILE]
        [--vocabularies builtin 20000x50 34000x300 100000x300 400000x300]
        [--lengths 200] [--jobs 1] [--epsilon 10] [--seconds 6] [--longest 60]
        [--words 10000000]
        [--growth] [--peers FOLDER [--peer-vocabularies 20000x50 34000x300]
        [--peer-names dp-diffractor]]
        [--texts FILE.jsonl] [--folder DIR]

Vocabularies other than the built-in one are generated (words x dimensions) and
imported, once for a folder (400,000 x 300 takes over a minute and 1.5 GB). Texts are
public words by their frequencies, the same in every cell, or those of `--texts`, with
words counted between blanks. Each cell is runs of `dptext sanitize` from JSONL to
JSONL, short ones and a long one, of 2,000, 5,000, 10,000 ... words, the most that
take no more than about so many seconds: their difference is the speed, the rest of
the short one the start-up. All in processor time, reading and writing included, so that
other work on the machine counts little. Mechanisms that compute a table for each word
that occurs are faster the longer the run.

The limit is the product of noisy vectors with the vocabulary in float32, in blocks
that stay in the cache, measured just before and after: no exact search for the nearest
word can do without it. Mechanisms that look up lists go far above it.

`--growth` adds how a few mechanisms grow with words, dimensions, the length of texts
and jobs; only for jobs does the clock count, which needs cores without other work.
`--peers` adds released peers (`speed.peers` makes their environments).
With `--json` the measurements are written after every line, for tracking and for
`speed.page`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from benchmarks.speed.measure import (
    ONE_THREAD,
    Effort,
    Product,
    Setting,
    cell,
    machine,
)
from benchmarks.speed.peers import RELEASES
from benchmarks.speed.peers import measure as measure_peers
from benchmarks.speed.texts import open_lexicon
from dptext import __version__, registry
from dptext.types import Lexicon

VOCABULARIES = ("builtin", "20000x50", "34000x300", "100000x300", "400000x300")
NEEDS_MODEL = {"mlm": "needs a masked language model: python -m benchmarks speed.mlm"}
GROWING = ("rank", "laplace", "santext")
# The size that grows -> vocabularies, lengths of texts, jobs.
GROWTH: dict[str, tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]] = {
    "words": (("10000x100", "20000x100", "40000x100", "80000x100"), (200,), (1,)),
    "dimensions": (("20000x50", "20000x100", "20000x200", "20000x400"), (200,), (1,)),
    "length": (("builtin",), (20, 200, 2000), (1,)),
    "jobs": (("builtin",), (200,), (1, 2)),
}
JOBS_LONGER = 4  # runs that the clock measures are longer by this


class Run:
    """The measurements of one run of this script, as written to the file."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.path: Path | None = chosen.json
        self.began = time.time()
        self.busy = busy()
        self.lexicons: dict[str, tuple[Lexicon, Product]] = {}
        arguments = {
            name: str(value) if isinstance(value, Path) else value
            for name, value in vars(chosen).items()
            if name not in ("json", "folder", "peers")
        }
        self.content: dict[str, Any] = {
            "date": datetime.now(UTC).date().isoformat(),
            "dptext": __version__,
            "machine": machine(),
            "arguments": arguments,
            "limits": {},
            "cells": [],
            "peers": [],
        }

    def open(self, vocabulary: str) -> tuple[Lexicon, Product]:
        """Return a vocabulary and its product, opened once."""
        if vocabulary not in self.lexicons:
            lexicon = open_lexicon(vocabulary)
            bound = Product(lexicon)
            self.lexicons[vocabulary] = lexicon, bound
            first = f"{vocabulary:12} {'matrix product':20} {'':22}"
            print(f"{first} {bound.measure():17,.0f}", flush=True)
        return self.lexicons[vocabulary]

    def add(self, to: str, row: dict[str, Any]) -> None:
        """Print a row and write all."""
        self.content[to].append(row)
        print(line(row), flush=True)
        children = os.times()
        used = sum(children[:4])
        elapsed = time.time() - self.began
        for vocabulary, (_, bound) in self.lexicons.items():
            self.content["limits"][vocabulary] = median(bound.rates)
        self.content["seconds"] = round(elapsed)
        self.content["processor_seconds"] = round(used)
        self.content["other_work"] = max(0.0, (busy() - self.busy - used) / elapsed)
        if self.path:
            self.path.write_text(json.dumps(self.content, indent=1) + "\n")


def busy() -> float:
    """Return the seconds that the cores of this machine have worked."""
    times = psutil.cpu_times()
    return times.user + times.system + getattr(times, "nice", 0.0)


def line(row: dict[str, Any]) -> str:
    """Return the printed line of a cell, or of a peer."""
    start = f"{row['vocabulary']:12} "
    if "peer" in row:
        start += f"{row['peer']}: "
    if "reason" in row:
        return f"{start}{row['mechanism']:20} {row['reason']}"
    ends = f"{row['start_up']:11.1f} {row['peak']:8.0f}"
    if "peer" in row:
        rate = f"{row['words']:10,} {row['rate']:17,.1f} {'':9} {ends}"
        failed = f"  ({row['failed']} texts failed)" if row["failed"] else ""
        return f"{start + row['mechanism']:60} {rate}{failed}"
    by_clock = f"{row['wall_rate']:12,.0f}"
    return (
        f"{start}{row['mechanism']:20} {row['length']:6} {row['jobs']:4} "
        f"{row['words']:10,} {row['rate']:17,.0f} {row['ratio']:9.2f} {ends} {by_clock}"
    )


def measure_rows(
    run: Run, table: str, settings: list[Setting], by: Effort
) -> Iterator[dict[str, Any]]:
    """Yield the cells of settings that differ in one thing, or why they are missing."""
    count = 0
    for setting in settings:
        if setting.mechanism in NEEDS_MODEL:
            yield refused(table, setting, NEEDS_MODEL[setting.mechanism])
            continue
        lexicon, bound = run.open(setting.vocabulary)
        try:
            row = cell(lexicon, bound, setting, by, count)
        except RuntimeError as error:
            yield refused(table, setting, str(error))
            continue
        if table == "jobs":  # the same words for all of them
            count = row["words"]
        yield {"table": table, **row}


def refused(table: str, setting: Setting, reason: str) -> dict[str, Any]:
    """Return the row of a mechanism that does not run on a vocabulary."""
    names = {"vocabulary": setting.vocabulary, "mechanism": setting.mechanism}
    return {"table": table, **names, "reason": reason}


def measure(run: Run, chosen: argparse.Namespace, folder: Path) -> None:
    """Measure all that is asked for; `folder` is for what it needs meanwhile."""
    effort = chosen.epsilon, chosen.words, chosen.seconds, chosen.longest
    by = Effort(folder, *effort, chosen.texts)
    for vocabulary in chosen.vocabularies:
        run.open(vocabulary)
        for names in product(chosen.mechanisms, chosen.lengths, chosen.jobs):
            for row in measure_rows(
                run, "mechanisms", [Setting(vocabulary, *names)], by
            ):
                run.add("cells", row)
        run.lexicons.pop(vocabulary)
    if chosen.growth:
        measure_growth(run, chosen.growth_mechanisms, by)
    for vocabulary in chosen.peer_vocabularies if chosen.peers else ():
        lexicon = open_lexicon(vocabulary)
        for row in measure_peers(
            chosen.peers,
            folder,
            vocabulary,
            lexicon,
            chosen.epsilon,
            chosen.peer_seconds,
            chosen.peer_names,
        ):
            run.add("peers", row)


def measure_growth(run: Run, mechanisms: Sequence[str], by: Effort) -> None:
    """Measure what grows with words, dimensions, the length of texts and jobs."""
    longer = replace(
        by,
        words=JOBS_LONGER * by.words,
        seconds=JOBS_LONGER * by.seconds,
        longest=JOBS_LONGER * by.longest,
    )
    for table, (vocabularies, lengths, jobs) in GROWTH.items():
        for name in mechanisms:
            settings = [
                Setting(vocabulary, name, length, job)
                for vocabulary, length, job in product(vocabularies, lengths, jobs)
            ]
            effort = longer if table == "jobs" else by
            for row in measure_rows(run, table, settings, effort):
                run.add("cells", row)


def main() -> None:
    """Print a table, each line immediately after its measurement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    every = registry.names("mechanisms")
    parser.add_argument("--mechanisms", nargs="*", default=every)
    parser.add_argument("--vocabularies", nargs="*", default=VOCABULARIES)
    parser.add_argument("--lengths", nargs="+", type=int, default=[200])
    parser.add_argument("--jobs", nargs="+", type=int, default=[1])
    parser.add_argument("--epsilon", type=float, default=10.0)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--longest", type=float, default=60.0, help="of a run, s")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--growth-mechanisms", nargs="+", default=GROWING)
    parser.add_argument("--peers", type=Path, metavar="FOLDER")
    parser.add_argument("--peer-vocabularies", nargs="+", default=VOCABULARIES[1:3])
    names = [*RELEASES]
    parser.add_argument("--peer-names", nargs="+", choices=names, default=names)
    parser.add_argument("--peer-seconds", type=float, default=5.0)
    parser.add_argument("--texts", type=Path, help="JSONL, also gzipped")
    parser.add_argument("--folder", default="/tmp/dptext-speed")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    Path(chosen.folder).mkdir(parents=True, exist_ok=True)
    os.environ.update(ONE_THREAD, DPTEXT_HOME=chosen.folder)
    print(
        "vocabulary   mechanism            length jobs      words  words/s and core"
        "  of limit  start-up s  peak MB words/s, clock"
    )
    with TemporaryDirectory(dir=chosen.folder) as folder:
        measure(Run(chosen), chosen, Path(folder))


if __name__ == "__main__":
    main()
