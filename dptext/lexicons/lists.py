"""English words listed by hand: closed classes, groups of them, names, vulgar words.

The lists are files of dptext/data/words: words that the glosses of WordNet hardly use
("I", "was", "don't"), names that WordNet does not have, and words that are known but
never written in the place of others.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.language_data import lines, sections, vulgar_words
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH, Lexicon


@cache
def classes() -> dict[str, dict[str, float]]:
    """Return class -> word -> tokens per thousand of running English."""
    return {
        name: dict(zip(parts[::2], map(float, parts[1::2]), strict=True))
        for name, parts in sections("english_classes")
    }


def frequencies() -> dict[str, float]:
    """Return word -> tokens per thousand, over all classes; the first class wins."""
    merged: dict[str, float] = {}
    for pairs in classes().values():
        merged |= {word: share for word, share in pairs.items() if word not in merged}
    return merged


def groups() -> tuple[tuple[str, ...], ...]:
    """Return groups of closed-class words that stand for each other, in lower case."""
    return tuple(tuple(line.lower().split()) for line in lines("english_groups"))


def names() -> dict[str, str]:
    """Return key -> name, for common names of men, women and families."""
    return {
        key_of(name): name for _, group in sections("english_names") for name in group
    }


def kinds_of_names() -> dict[str, list[str]]:
    """Return key -> man, woman or family, or several of them."""
    kinds: dict[str, list[str]] = {}
    for kind, group in sections("english_names"):
        for name in group:
            kinds.setdefault(key_of(name), []).append(kind)
    return kinds


def vulgar_rows(lexicon: Lexicon) -> NDArray[np.bool_]:
    """Tell which words of a lexicon, and the unknown word, are vulgar: (V + 1,)."""
    rows = np.zeros(len(lexicon.words) + 1, bool)
    row_of = lexicon.row_of
    rows[[row_of[word] for word in vulgar_words(ENGLISH) & row_of.keys()]] = True
    return rows
