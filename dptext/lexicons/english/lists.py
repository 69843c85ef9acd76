"""English words listed by hand: closed classes, groups of them, names.

The lists are files of dptext/data/words. They are of words that the glosses of WordNet
hardly use ("I", "was", "don't") and of names that WordNet does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "data" / "words"


@cache
def classes() -> dict[str, dict[str, float]]:
    """Return class -> word -> tokens per thousand of running English."""
    return {name: _pairs(words) for name, words in _sections("english_classes").items()}


def frequencies() -> dict[str, float]:
    """Return word -> tokens per thousand, over all classes; the first class wins."""
    merged: dict[str, float] = {}
    for pairs in classes().values():
        for word, per_mille in pairs.items():
            merged.setdefault(word, per_mille)
    return merged


def groups() -> tuple[tuple[str, ...], ...]:
    """Return groups of closed-class words that stand for each other, in lower case."""
    return tuple(tuple(line.lower().split()) for line in _lines("english_groups"))


def names() -> tuple[tuple[str, ...], ...]:
    """Return three groups: given names of men and of women, family names."""
    return tuple(tuple(words) for words in _sections("english_names").values())


def _lines(name: str) -> Iterator[str]:
    """Yield the lines of a list but its comments."""
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line


def _sections(name: str) -> dict[str, list[str]]:
    """Return the words under each [heading] of a list."""
    found: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("["):
            words = found[line[1:-1]] = []
        else:
            words += line.split()
    return found


def _pairs(parts: list[str]) -> dict[str, float]:
    figures = map(float, parts[1::2])
    return dict(zip(parts[::2], figures, strict=True))
