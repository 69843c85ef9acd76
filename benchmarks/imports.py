"""The cost of importing vectors: whole imports of a large file, and reading alone.

    python -m benchmarks imports large FOLDER [--words 400000] [--dimensions 300]
        [-- OPTIONS OF lexicon import]
    python -m benchmarks imports reading [--words 20000] [--dimensions 300]

`large` makes the file in FOLDER where it is not there yet (1 GB of text by default),
then runs `dptext lexicon import` on it in a separate process: wall time, CPU time, peak
memory. The vectors have the structure of real ones: topics within topics, lengths
that fall with frequency, a direction that all words share (which makes hubs). Words are
made of syllables.

`reading` prints seconds and the ratio to dptext's reader against the usual ways, all in
one run on one core; the figures of the ways compared are for the same file already in
memory, dptext's with its checks. Compare ratios between machines, not seconds.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import sources
from dptext.lexicons.sources import read_lines

_BLOCK = 10_000
_SYLLABLES = [c + v for c in "bdfghjklmnprstvz" for v in "aeiou"]
_TOPICS, _SUBTOPICS = 60, 4_000
Vectors = NDArray[np.float32]


def words(begin: int, end: int) -> list[str]:
    """Write each number in syllables: distinct words of the letters a to z."""
    base = len(_SYLLABLES)
    names = []
    for number in range(begin + base, end + base):
        name = ""
        while number:
            number, digit = divmod(number, base)
            name = _SYLLABLES[digit] + name
        names.append(name)
    return names


def vectors(size: int, dimensions: int) -> Iterator[NDArray[np.float32]]:
    """Yield blocks of vectors, the most frequent words first."""
    rng = np.random.default_rng(20_26)
    topics = rng.normal(size=(_TOPICS, dimensions))
    within = rng.integers(_TOPICS, size=_SUBTOPICS)
    centres = 0.7 * topics[within] + 0.7 * rng.normal(size=(_SUBTOPICS, dimensions))
    shared = rng.normal(size=dimensions)
    scales = np.arange(1, dimensions + 1) ** -0.25  # a few directions tell the most
    for begin in range(0, size, _BLOCK):
        count = min(_BLOCK, size - begin)
        # Some topics are larger than others.
        chosen = (_SUBTOPICS * rng.random(count) ** 2).astype(int)
        spread = rng.gamma(8.0, 1 / 8.0, size=(count, 1))
        block = centres[chosen] + spread * rng.normal(size=(count, dimensions))
        frequent = (begin + np.arange(count) + 10.0) ** -0.12
        block = (0.6 * shared + block) * scales * (0.4 + 2.0 * frequent)[:, None]
        yield block.astype(np.float32)


def make_text(path: Path, size: int, dimensions: int) -> None:
    """Write GloVe text."""
    line = " ".join(["%s"] + ["%.5f"] * dimensions) + "\n"
    begin = 0
    with open(path, "w", encoding="ascii") as file:
        for block in vectors(size, dimensions):
            names = words(begin, begin + len(block))
            rows = zip(names, block.tolist(), strict=True)
            file.writelines(line % (name, *row) for name, row in rows)
            begin += len(block)


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
    """Return the least of three times, and the vectors."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = read(content)
        times.append(time.perf_counter() - start)
    return min(times), result


def large(folder: Path, size: int, dimensions: int, options: list[str]) -> None:
    """Make the file, import it, print one line."""
    path = folder / f"{size}x{dimensions}.txt"
    if not path.exists():
        make_text(path, size, dimensions)
    environment = {**os.environ, "DPTEXT_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "dptext", "lexicon", "import", str(path)]
    begin = time.perf_counter()
    subprocess.run([*command, "--name", "large", *options], check=True, env=environment)
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{path.name}: {wall:.0f} s wall, {used.ru_utime + used.ru_stime:.0f} s CPU, "
        f"peak {used.ru_maxrss / 2**20:.2f} GiB"
    )


def reading(size: int, dimensions: int) -> None:
    """Make a file, read it in every way, print a table."""
    table = np.random.default_rng(0).normal(size=(size, dimensions))
    rows = [" ".join(f"{value:.5g}" for value in row) for row in table.tolist()]
    content = "".join(f"word{i} {row}\n" for i, row in enumerate(rows)).encode()
    base, expected = seconds(ours, content)
    print(f"{len(content) / 1e6:.0f} MB, {size} x {dimensions}")
    print(f"{'dptext':16} {base:7.2f} s {len(content) / base / 1e6:6.0f} MB/s")
    for read in (with_fromstring, with_float, with_asarray):
        took, vectors = seconds(read, content)
        np.testing.assert_array_equal(vectors, expected)
        print(f"{read.__name__:16} {took:7.2f} s  {took / base:5.1f} x the time")
    entries = zip(range(size), expected, strict=True)
    head = f"{size} {dimensions}\n".encode()
    packed = head + b"".join(b"word%d " % i + row.tobytes() for i, row in entries)
    took, _ = seconds(
        lambda c: sources.read_word2vec(io.BytesIO(c), "memory").vectors, packed
    )
    print(f"{'word2vec binary':16} {took:7.2f} s  {took / base:5.2f} x the time")


def main() -> None:
    """Measure what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    whole = kinds.add_parser("large")
    whole.add_argument("folder", type=Path)
    whole.add_argument("options", nargs="*", help="of lexicon import, after --")
    for kind, words in ((whole, 400_000), (kinds.add_parser("reading"), 20_000)):
        kind.add_argument("--words", type=int, default=words)
        kind.add_argument("--dimensions", type=int, default=300)
    arguments = parser.parse_args()
    if arguments.what == "large":
        large(
            arguments.folder, arguments.words, arguments.dimensions, arguments.options
        )
    else:
        reading(arguments.words, arguments.dimensions)


if __name__ == "__main__":
    main()
