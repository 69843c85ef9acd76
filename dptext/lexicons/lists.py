"""English words listed by hand: closed classes, groups of them, names, vulgar words.

The lists are files of dptext/data/words: words that the glosses of WordNet hardly use
("I", "was", "don't"), names that WordNet does not have, and words that are known but
never written in the place of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.regex import key_of
from dptext.types import Lexicon

_FOLDER = Path(__file__).parents[1] / "data" / "words"


@cache
def classes() -> dict[str, dict[str, float]]:
    """Return class -> word -> tokens per thousand of running English."""
    return {
        name: dict(zip(parts[::2], map(float, parts[1::2]), strict=True))
        for name, parts in sections("english_classes").items()
    }


def frequencies() -> dict[str, float]:
    """Return word -> tokens per thousand, over all classes; the first class wins."""
    merged: dict[str, float] = {}
    for pairs in classes().values():
        merged |= {word: share for word, share in pairs.items() if word not in merged}
    return merged


def groups() -> tuple[tuple[str, ...], ...]:
    """Return groups of closed-class words that stand for each other, in lower case."""
    return tuple(tuple(line.lower().split()) for line in _lines("english_groups"))


def names() -> dict[str, str]:
    """Return key -> name, for common names of men, women and families."""
    return {
        key_of(name): name
        for group in sections("english_names").values()
        for name in group
    }


def kinds_of_names() -> dict[str, list[str]]:
    """Return key -> man, woman or family, or several of them."""
    kinds: dict[str, list[str]] = {}
    for kind, group in sections("english_names").items():
        for name in group:
            kinds.setdefault(key_of(name), []).append(kind)
    return kinds


@cache
def vulgar() -> frozenset[str]:
    """Return the words that are known, and never written in the place of others."""
    return frozenset(sections("english_vulgar")["vulgar"])


def vulgar_rows(lexicon: Lexicon) -> NDArray[np.bool_]:
    """Tell which words of a lexicon, and the unknown word, are vulgar: (V + 1,)."""
    rows = np.zeros(len(lexicon.words) + 1, bool)
    row_of = lexicon.row_of
    rows[[row_of[word] for word in vulgar() & row_of.keys()]] = True
    return rows


def sections(name: str) -> dict[str, list[str]]:
    """Return the words under each [heading] of a list."""
    words_under: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("["):
            words = words_under[line[1:-1]] = []
        else:
            words += line.split()
    return words_under


def _lines(name: str) -> Iterator[str]:
    """Yield the lines of a list, comments left out."""
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line
