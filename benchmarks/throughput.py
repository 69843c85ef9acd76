"""Words per second and memory of `dptext sanitize`, for each profile, on real reviews.

Every profile runs in a process of its own, on one core, reading JSONL from a pipe and
writing to one, as a user's pipeline would. Two more figures of the same run: words per
second of nothing but the draws of `balanced`, randomness included; and, the limit of
the noise family, of nothing but the matrix product of noisy vectors with the
vocabulary. Memory is the growth of the peak between a run over a tenth of the
reviews and the whole run.

    python benchmarks/throughput.py [--reviews 100000] [--lexicon builtin] [PROFILE ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
# Each with the decoder that writes, where it is not none.
PROFILES = ("balanced", "balanced+ngram", "santext", "tem", "cmp")
# The noise family is bound by arithmetic: a smaller sample tells its speed.
SLOW = {"cmp": 500}


def reviews(count: int, path: Path) -> None:
    """Write `count` reviews as JSONL, the corpus over and over with other ids."""
    lines = [
        json.loads(row)["text"] for row in gzip.open(DATA / "text/imdb_5k.jsonl.gz")
    ]
    with path.open("w") as file:
        for number in range(count):
            row = {"id": number, "text": lines[number % len(lines)]}
            file.write(json.dumps(row) + "\n")


def measure(profile: str, path: Path, lexicon: str) -> dict[str, float]:
    """Run one profile through pipes; return words/s, seconds and peak MB."""
    report = path.with_suffix(".report.json")
    name, _, decoder = profile.partition("+")
    command = [
        sys.executable, "-m", "dptext", "sanitize", "--profile", name, "--quiet",
        "--decode", decoder or "none",
        "--lexicon", lexicon, "--no-bayes-risk", "--report", str(report),
    ]  # fmt: skip
    began = time.perf_counter()
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        with subprocess.Popen(
            command, stdin=cat.stdout, stdout=subprocess.DEVNULL
        ) as run:
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"{profile}: exit code {run.returncode}")
    private = json.loads(report.read_text())["private"]
    return {
        "seconds": time.perf_counter() - began,
        "rate": private["words_per_second"],
        "peak": usage.ru_maxrss / 1024,
    }


def limit(lexicon: str) -> float:
    """Return words per second of the matrix product alone, in float32."""
    import numpy as np

    from dptext import lexicons

    table = np.asarray(lexicons.find(lexicon).vectors, np.float32).T.copy()
    points = np.random.default_rng(0).normal(size=(512, len(table))).astype(np.float32)
    points @ table
    began = time.perf_counter()
    rounds = 10
    for _ in range(rounds):
        points @ table
    return rounds * len(points) / (time.perf_counter() - began)


def draws(lexicon: str) -> float:
    """Return words per second of the draws of `balanced`, words by public frequency."""
    import numpy as np

    from dptext import lexicons, pipeline, profile
    from dptext.randomness import RunKey

    vocabulary = lexicons.find(lexicon)
    sanitizer = pipeline.build(profile.load("balanced"), vocabulary)
    count, rounds = 2**17, 20
    rng = np.random.default_rng(0)
    ids = rng.choice(len(vocabulary.words), count, p=vocabulary.prior).astype(np.int32)
    eps = np.full(count, sanitizer.budget.description.high)
    randomness = sanitizer.randomness(RunKey.fresh())
    records = np.arange(count) // 200
    nonces = [rng.bytes(16) for _ in range(int(records[-1]) + 1)]
    began = time.perf_counter()
    for _ in range(rounds):
        sanitizer.draw(ids, eps, randomness.of(nonces, records))
    return rounds * count / (time.perf_counter() - began)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("profiles", nargs="*", default=PROFILES)
    parser.add_argument("--reviews", type=int, default=100_000)
    parser.add_argument("--lexicon", default="builtin")
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    bound = limit(arguments.lexicon)
    print(f"draws of rank alone: {draws(arguments.lexicon):,.0f} words/s on one core")
    print(f"matrix product alone: {bound:,.0f} words/s on one core")
    print(
        "profile            reviews      words/s  of limit  seconds  peak MB  growth MB"
    )
    for profile in arguments.profiles:
        count = SLOW.get(profile, arguments.reviews)
        complete, part = (
            arguments.folder / "whole.jsonl",
            arguments.folder / "part.jsonl",
        )
        reviews(count, complete)
        reviews(max(1, count // 10), part)
        small = measure(profile, part, arguments.lexicon)
        large = measure(profile, complete, arguments.lexicon)
        share = f"{large['rate'] / bound:8.2f}" if profile in SLOW else " " * 8
        print(
            f"{profile:17} {count:8,} {large['rate']:12,.0f}  {share} "
            f"{large['seconds']:8.1f} {large['peak']:8.0f} "
            f"{large['peak'] - small['peak']:10.0f}"
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(this script: {memory:.0f} MB)")


if __name__ == "__main__":
    main()
