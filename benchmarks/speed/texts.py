"""Vocabularies and texts to measure speed with, and the command that it measures."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.imports import vectors, words
from dptext import lexicons
from dptext.types import Lexicon


def dptext(*arguments: str) -> tuple[str, ...]:
    """Return a command of the tool that this Python runs."""
    return (sys.executable, "-m", "dptext", *arguments)


def open_lexicon(vocabulary: str) -> Lexicon:
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
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    path.unlink()
    return lexicons.find(vocabulary)


def texts(lexicon: Lexicon, length: int) -> Iterator[list[str]]:
    """Yield texts of public words by their frequencies, the same ones every time."""
    rng = np.random.default_rng(20_26)
    names = lexicon.words
    ends = np.cumsum(lexicon.prior * single(names))
    while True:
        rows = ends.searchsorted(rng.random(length) * ends[-1])
        yield [names[row] for row in rows.tolist()]


def single(names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Tell which elements of a vocabulary are words; "<number 10-19>" is not."""
    return np.array([" " not in name for name in names])


def read(path: Path) -> Iterator[list[str]]:
    """Yield the texts of a JSONL file in pieces without blanks, over and over."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        pieces = [json.loads(row)["text"].split() for row in file]
    while True:
        yield from pieces


def write(path: Path, source: Iterator[list[str]], count: int) -> int:
    """Write at least so many words as JSONL; return how many."""
    written = 0
    with path.open("w") as file:
        for number, text in enumerate(source):
            file.write(json.dumps({"id": number, "text": " ".join(text)}) + "\n")
            written += len(text)
            if written >= count:
                break
    return written
