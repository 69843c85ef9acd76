"""Memory of `dptext sanitize` over a long stream: it must not grow with the input.

JSONL of any size is generated during the run, of public words by their frequencies,
with numbers and unknown words that never come again, so that anything kept of texts
shows. It goes in by a pipe and out to nothing. Memory is the resident size of the
process and of its workers, taken as often as a hundredth of the input is read.

    python -m benchmarks flat_memory --gigabytes 10 [--profile balanced] [--decode none]
        [--jobs 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

STEPS = 100
TEXTS = 5_000  # different ones, apart from the new words in each
WORDS = 60  # of a text


class Sample(NamedTuple):
    """Seconds since the start, megabytes read, resident megabytes."""

    seconds: float
    read: float
    resident: float


def texts() -> list[str]:
    """Return texts of public words, by their frequencies."""
    from dptext import lexicons

    lexicon = lexicons.find("builtin")
    rng = np.random.default_rng(0)
    shape = TEXTS, WORDS
    rows = rng.choice(len(lexicon.words), shape, p=lexicon.prior)
    return [" ".join(lexicon.words[row] for row in each) for each in rows]


def lines(size: float) -> Iterator[bytes]:
    """Give about so many bytes of JSONL."""
    known = [json.dumps(text)[1:-1] for text in texts()]
    number = 0
    while size > 0:
        text = f"{known[number % TEXTS]} zq{number:x} {number * 7919 % 10**9}"
        line = b'{"id": %d, "text": "%s"}\n' % (number, text.encode())
        yield line
        size -= len(line)
        number += 1


def resident(process: psutil.Process) -> float:
    """Return the megabytes of a process and of those that it started."""
    total = 0
    for each in (process, *process.children(recursive=True)):
        try:
            total += each.memory_info().rss
        except psutil.Error:
            continue
    return total / 2**20


def measured(command: list[str], size: float) -> Iterator[Sample]:
    """Run a command over generated lines; give a sample at each step."""
    began, read, taken = time.perf_counter(), 0, 0.0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as run:
        assert run.stdin is not None
        process = psutil.Process(run.pid)
        for line in lines(size):
            run.stdin.write(line)
            read += len(line)
            if read >= taken:
                taken += size / STEPS
                yield Sample(time.perf_counter() - began, read / 1e6, resident(process))
        run.stdin.close()
    if run.returncode:
        raise SystemExit(f"exit code {run.returncode}")


def main() -> None:
    """Print samples, and by how much the second half is above the first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--profile", default="balanced")
    parser.add_argument("--decode", default="none")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    command = [
        sys.executable,
        "-m",
        "dptext",
        "sanitize",
        "--format",
        "jsonl",
        "--quiet",
        "--field",
        "text",
        "--profile",
        chosen.profile,
        "--decode",
        chosen.decode,
        "--no-bayes-risk",
        "--jobs",
        chosen.jobs,
    ]
    samples = []
    print("seconds  MB read  resident MB", file=sys.stderr)
    for sample in measured(command, chosen.gigabytes * 1e9):
        samples.append(sample)
        if len(samples) % (STEPS // 10) == 1:
            print("{:7.0f} {:8.0f} {:12.0f}".format(*sample), file=sys.stderr)
    # The first tenth fills memory of a fixed size.
    peaks = [
        max(each.resident for each in part)
        for part in (samples[STEPS // 10 : STEPS // 2], samples[STEPS // 2 :])
    ]
    result = {
        "command": command[3:],
        "megabytes": samples[-1].read,
        "seconds": samples[-1].seconds,
        "peak_first_half": peaks[0],
        "peak_second_half": peaks[1],
        "samples": samples,
    }
    print(
        f"{samples[-1].read:,.0f} MB in {samples[-1].seconds:,.0f} s: at most "
        f"{peaks[0]:.0f} MB in the first half, {peaks[1]:.0f} MB in the second"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
