"""Words per second of every mechanism on every vocabulary, beside the limit.

    python benchmarks/speed.py [--mechanisms rank laplace ...] [--words 2000000]
        [--vocabularies builtin 20000x50 34000x300 100000x300 400000x300]
        [--seconds 60] [--epsilon 10] [--lengths 200] [--jobs 1] [--json FILE]
        [--folder DIR]

Vocabularies other than the built-in one are generated (words x dimensions) and
imported, once for a folder. Texts are public words by their frequencies. Each cell is
two runs of `dptext sanitize` from JSONL to JSONL, a short one and a long one, of so
many words or, if that takes longer, about so many seconds: their difference is the
speed, what is left of the short one the start-up. All in processor time, reading and
writing included, so that other work on the machine counts little. Mechanisms that
compute a table for each word that occurs are faster the longer the run.

The limit is the product of noisy vectors with the vocabulary in float32, measured just
before: no exact search for the nearest word can do without it. Mechanisms that look up
lists go far above it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from import_large import vectors, words

from dptext import lexicons, registry
from dptext.types import Lexicon

VOCABULARIES = ("builtin", "20000x50", "34000x300", "100000x300", "400000x300")
NEEDS_MODEL = ("mlm",)
SHORT = 400  # words of a short run
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Cell:
    """Words per second and core, and what goes with it."""

    vocabulary: str
    mechanism: str
    length: int
    jobs: int
    words: int
    rate: float
    limit: float
    start_up: float
    peak: float

    @property
    def ratio(self) -> float:
        """Return the rate as a multiple of the limit."""
        return self.rate / self.limit


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds of a run, with its workers', and the peak in megabytes."""

    seconds: float
    peak: float


def lexicon_of(vocabulary: str) -> Lexicon:
    """Open a vocabulary; one that is not there yet is generated and imported."""
    if vocabulary == "builtin":
        return lexicons.find(vocabulary)
    try:
        return lexicons.find(vocabulary)
    except ValueError:
        size, dimensions = map(int, vocabulary.split("x"))
    path = Path(os.environ["DPTEXT_HOME"], f"{vocabulary}.npz")
    np.savez(
        path,
        words=np.array(words(0, size)),
        vectors=np.concatenate(list(vectors(size, dimensions))),
        counts=1e9 / (np.arange(size) + 10.0),
    )
    command = (*dptext("lexicon", "import", str(path)), "--name", vocabulary)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    path.unlink()
    return lexicons.find(vocabulary)


def dptext(*arguments: str) -> tuple[str, ...]:
    """Return a command of the tool that this Python runs."""
    return (sys.executable, "-m", "dptext", *arguments)


def limit(lexicon: Lexicon) -> float:
    """Return words per second of the matrix product alone."""
    table = np.asarray(lexicon.vectors, np.float32).T.copy()
    points = np.random.default_rng(0).normal(size=(512, len(table))).astype(np.float32)
    points @ table
    began, rounds = time.process_time(), 0
    while time.process_time() - began < 2.0:
        points @ table
        rounds += 1
    return rounds * len(points) / (time.process_time() - began)


def write(path: Path, lexicon: Lexicon, count: int, length: int) -> None:
    """Write about so many words as texts of a length."""
    rng = np.random.default_rng(count)
    with path.open("w") as file:
        for number in range(max(1, count // length)):
            rows = rng.choice(len(lexicon.words), length, p=lexicon.prior)
            text = " ".join(lexicon.words[row] for row in rows)
            file.write(json.dumps({"id": number, "text": text}) + "\n")


def run(source: Path, vocabulary: str, mechanism: str, arguments: list[str]) -> Usage:
    """Sanitize a file; raise RuntimeError with what is said where it is refused."""
    command = dptext(
        *("sanitize", str(source), "--lexicon", vocabulary, "--mechanism", mechanism),
        *("--decode", "none", "--quiet", "--no-bayes-risk", *arguments),
    )
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said.strip())
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def cell(
    lexicon: Lexicon,
    bound: float,
    names: tuple[str, str, int, int],
    chosen: argparse.Namespace,
) -> Cell:
    """Measure one mechanism on one vocabulary."""
    vocabulary, mechanism, length, jobs = names
    source = Path(chosen.folder, "speed.jsonl")
    arguments = ["--epsilon", str(chosen.epsilon), "--jobs", str(jobs)]

    def used(count: int) -> Usage:
        write(source, lexicon, count, length)
        return run(source, vocabulary, mechanism, arguments)

    used(SHORT)  # fills caches
    short, count = used(SHORT), 8 * SHORT
    while True:
        long = used(count)
        more = long.seconds - short.seconds
        if more > chosen.seconds / 2 or count >= chosen.words:
            break
        grown = count * chosen.seconds / max(more, chosen.seconds / 32)
        count = min(chosen.words, max(2 * count, int(grown)))
    rate = (count - SHORT) / max(more, 1e-3)
    start_up = short.seconds - SHORT / rate
    return Cell(*names, count, rate, bound, start_up, long.peak)


def main() -> None:
    """Print a table, a line as soon as it is measured."""
    parser = argparse.ArgumentParser()
    every = [name for name in registry.names("mechanisms") if name not in NEEDS_MODEL]
    parser.add_argument("--mechanisms", nargs="+", default=every)
    parser.add_argument("--vocabularies", nargs="+", default=VOCABULARIES)
    parser.add_argument("--lengths", nargs="+", type=int, default=[200])
    parser.add_argument("--jobs", nargs="+", type=int, default=[1])
    parser.add_argument("--epsilon", type=float, default=10.0)
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", default="/tmp/dptext-speed")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    Path(chosen.folder).mkdir(parents=True, exist_ok=True)
    os.environ.update(ONE_THREAD, DPTEXT_HOME=chosen.folder)
    cells: list[Cell] = []
    print(
        "vocabulary   mechanism            length jobs      words  words/s and core"
        "  of limit  start-up s  peak MB"
    )
    for vocabulary in chosen.vocabularies:
        lexicon = lexicon_of(vocabulary)
        bound = limit(lexicon)
        print(f"{vocabulary:12} {'matrix product':20} {'':22} {bound:17,.0f}")
        for rest in product(chosen.mechanisms, chosen.lengths, chosen.jobs):
            try:
                cells.append(cell(lexicon, bound, (vocabulary, *rest), chosen))
            except RuntimeError as error:
                print(f"{vocabulary:12} {rest[0]:20} {error}")
                continue
            each = cells[-1]
            print(
                f"{vocabulary:12} {each.mechanism:20} {each.length:6} {each.jobs:4} "
                f"{each.words:10,} {each.rate:17,.0f} {each.ratio:9.2f} "
                f"{each.start_up:11.1f} {each.peak:8.0f}",
                flush=True,
            )
    if chosen.json:
        rows = [{**asdict(each), "ratio": each.ratio} for each in cells]
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
