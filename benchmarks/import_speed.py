"""Measure how fast files of vectors are read, against the usual ways.

    python benchmarks/import_speed.py [--words 20000] [--dimensions 300]

Prints seconds and the ratio to dptext's reader, all in one run on one core; the
figures of the ways compared are for the same file already in memory, dptext's with
its checks. Compare ratios between machines, not seconds.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import word2vec
from dptext.lexicons.lines import read_lines

Vectors = NDArray[np.float32]


def with_float(content: bytes) -> Vectors:
    """Read as most research scripts do."""
    lines = (line.split(" ") for line in content.decode().splitlines())
    return np.array([[float(field) for field in line[1:]] for line in lines], "f4")


def with_asarray(content: bytes) -> Vectors:
    """Read as gensim does: numpy turns the fields of a line into numbers."""
    lines = (line.rstrip().split(b" ") for line in content.splitlines())
    return np.array([np.asarray(line[1:], dtype=np.float32) for line in lines])


def with_fromstring(content: bytes) -> Vectors:
    """Read with numpy's parser of separated text."""
    lines = (line.partition(b" ")[2] for line in content.splitlines())
    return np.array([np.fromstring(line, np.float32, sep=" ") for line in lines])


def ours(content: bytes) -> Vectors:
    """Read with dptext."""
    return read_lines(io.BytesIO(content), "memory").vectors


def seconds(read: Callable[[bytes], Vectors], content: bytes) -> tuple[float, Vectors]:
    """Return the least of three times, and what was read."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = read(content)
        times.append(time.perf_counter() - start)
    return min(times), result


def main() -> None:
    """Make a file, read it in every way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=300)
    options = parser.parse_args()
    table = np.random.default_rng(0).normal(size=(options.words, options.dimensions))
    rows = [" ".join(f"{value:.5g}" for value in row) for row in table.tolist()]
    content = "".join(f"word{i} {row}\n" for i, row in enumerate(rows)).encode()
    base, expected = seconds(ours, content)
    print(f"{len(content) / 1e6:.0f} MB, {options.words} x {options.dimensions}")
    print(f"{'dptext':16} {base:7.2f} s {len(content) / base / 1e6:6.0f} MB/s")
    for read in (with_fromstring, with_float, with_asarray):
        took, vectors = seconds(read, content)
        np.testing.assert_array_equal(vectors, expected)
        print(f"{read.__name__:16} {took:7.2f} s  {took / base:5.1f} x the time")
    entries = zip(range(options.words), expected, strict=True)
    head = f"{options.words} {options.dimensions}\n".encode()
    packed = head + b"".join(b"word%d " % i + row.tobytes() for i, row in entries)
    took, _ = seconds(lambda c: word2vec.read(io.BytesIO(c), "memory").vectors, packed)
    print(f"{'word2vec binary':16} {took:7.2f} s  {took / base:5.2f} x the time")


if __name__ == "__main__":
    main()
