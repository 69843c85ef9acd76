"""Synonyms: words in the same inflection whose lemmas share a synset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet

# A shared meaning must be at least this part of the use of both words.
SMALLEST = 0.05
MOST = 12


def synonyms(
    wordnet: WordNet, words: Sequence[str], links: Mapping[str, tuple[Link, ...]]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (ends (V,), ids (s,)): those of x are ids[ends[x - 1] : ends[x]].

    words are keys. The most alike come first: by the product of the parts that the
    shared meanings have in the use of both words, then by id.
    """
    bearing = _bearing(wordnet, words, links)
    weights: list[dict[int, float]] = [{} for _ in words]
    for members in bearing.values():
        for x, part in members:
            for y, other in members:
                if x != y:
                    weights[x][y] = weights[x].get(y, 0.0) + part * other
    chosen = [
        sorted(alike, key=lambda y, alike=alike: (-alike[y], y))[:MOST]  # type: ignore[misc]
        for alike in weights
    ]
    ends = np.cumsum([len(ids) for ids in chosen]).astype(np.int32)
    return ends, np.array([y for ids in chosen for y in ids], np.int32)


def _bearing(
    wordnet: WordNet, words: Sequence[str], links: Mapping[str, tuple[Link, ...]]
) -> dict[tuple[int, str], list[tuple[int, float]]]:
    """Return (synset, inflection) -> the words that can express it, with their part."""
    bearing: dict[tuple[int, str], list[tuple[int, float]]] = {}
    for x, word in enumerate(words):
        for link in links.get(word, ()):
            senses = wordnet.senses[link.lemma, link.pos]
            total = sum(count + 1.0 for _, count in senses)
            for synset, count in senses:
                part = (count + 1.0) / total
                if part >= SMALLEST:
                    bearing.setdefault((synset, link.kind), []).append((x, part))
    return bearing
