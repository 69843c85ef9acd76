"""Measure the import of a large file of vectors: wall time, CPU time, peak memory.

    python benchmarks/import_large.py FOLDER [--words 400000] [--dimensions 300]
        [--format text|npy] [-- OPTIONS OF lexicon import]

Makes the file in FOLDER where it is not there yet (1 GB of text by default), then runs
`dptext lexicon import` on it in a process of its own. The vectors have the structure of
real ones: topics within topics, lengths that fall with frequency, a direction that all
words share (which makes hubs). Words are made of syllables.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_BLOCK = 10_000
_SYLLABLES = [c + v for c in "bdfghjklmnprstvz" for v in "aeiou"]
_TOPICS, _SUBTOPICS = 60, 4_000


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


def make_npy(folder: Path, size: int, dimensions: int) -> None:
    """Write a folder with vocab.txt and vectors.npy."""
    folder.mkdir()
    table = np.lib.format.open_memmap(
        folder / "vectors.npy", "w+", np.float32, (size, dimensions)
    )
    begin = 0
    for block in vectors(size, dimensions):
        table[begin : begin + len(block)] = block
        begin += len(block)
    table.flush()
    (folder / "vocab.txt").write_text("\n".join(words(0, size)) + "\n")


def main() -> None:
    """Make the file, import it, print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--format", choices=("text", "npy"), default="text")
    parser.add_argument("options", nargs="*", help="of lexicon import, after --")
    options = parser.parse_args()
    suffix, make = (".txt", make_text) if options.format == "text" else ("", make_npy)
    path = options.folder / f"{options.words}x{options.dimensions}{suffix}"
    if not path.exists():
        make(path, options.words, options.dimensions)
    environment = {**os.environ, "DPTEXT_HOME": str(options.folder / "home")}
    command = [sys.executable, "-m", "dptext", "lexicon", "import", str(path)]
    begin = time.perf_counter()
    subprocess.run(
        [*command, "--name", "large", *options.options], check=True, env=environment
    )
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{path.name}: {wall:.0f} s wall, {used.ru_utime + used.ru_stime:.0f} s CPU, "
        f"peak {used.ru_maxrss / 2**20:.2f} GiB"
    )


if __name__ == "__main__":
    main()
