"""A folder with `vocab.txt`, a word a line, and `vectors.npy` or `vectors.f16.npy`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dptext.errors import LexiconError
from dptext.lexicons.npz import assemble
from dptext.lexicons.raw import RawVectors

VOCABULARY = "vocab.txt"
VECTORS = ("vectors.f16.npy", "vectors.npy")


def files(folder: Path) -> tuple[Path, Path] | None:
    """Return the files of words and of vectors if the folder has them."""
    for name in VECTORS:
        if (folder / VOCABULARY).is_file() and (folder / name).is_file():
            return folder / VOCABULARY, folder / name
    return None


def read(folder: Path, location: str, *, limit: int | None = None) -> RawVectors:
    """Read a folder, or its first `limit` words; the order is by frequency."""
    paths = files(folder)
    if paths is None:
        msg = f"{location}: no {VOCABULARY} beside {' or '.join(VECTORS)} in it"
        raise LexiconError(msg)
    words = _read_words(paths[0], f"{location}/{VOCABULARY}")
    try:
        vectors = np.load(paths[1], mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        msg = f"{location}/{paths[1].name}: not a whole array ({type(error).__name__})"
        raise LexiconError(msg) from None
    return assemble(words, np.asarray(vectors), None, location, limit=limit)


def _read_words(path: Path, location: str) -> list[str]:
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    words = []
    for number, line in enumerate(lines, 1):
        try:
            words.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            msg = f"{location}, line {number}: the word is not UTF-8"
            raise LexiconError(msg) from None
    return words
