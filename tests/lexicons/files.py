"""Small files of vectors in every format, made for tests."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

WORDS = ("the", "Cat", "sat", "on", "don't")


def rows(size: int, d: int = 3) -> list[list[float]]:
    """Return numbers with a short and exact decimal form."""
    return [[(row * d + column) / 8 - 1 for column in range(d)] for row in range(size)]


def text(words: Sequence[str] = WORDS, d: int = 3, *, header: bool = False) -> bytes:
    """Write GloVe text, or word2vec text with its header."""
    lines = [
        f"{word} {' '.join(map(str, row))}"
        for word, row in zip(words, rows(len(words), d), strict=True)
    ]
    head = [f"{len(words)} {d}"] if header else []
    return "".join(f"{line}\n" for line in [*head, *lines]).encode()


def binary(words: Sequence[str] = WORDS, d: int = 3, *, feed: bytes = b"\n") -> bytes:
    """Write word2vec binary; feed ends each entry."""
    parts = [f"{len(words)} {d}\n".encode()]
    for word, row in zip(words, rows(len(words), d), strict=True):
        parts += [word.encode(), b" ", struct.pack(f"<{d}f", *row), feed]
    return b"".join(parts)


def npz(**arrays: object) -> bytes:
    """Write an .npz of the given arrays."""
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    return sink.getvalue()


def put(path: Path, content: bytes) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content)
    return path


def real(name: str) -> Path:
    """Return a file of the test data; skip the test, naming the file, without it."""
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("DPTEXT_TEST_DATA", default)) / name
    if not path.exists():
        pytest.skip(f"{name} is not there; DPTEXT_TEST_DATA names the folder")
    return path
