"""The figures of given words: what orders are made of, and what lexicons carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import numbers
from dptext.lexicons.build import (
    groups,
    information,
    names,
    ordering,
    ordering_polarity,
    ordering_tags,
    synonyms,
)
from dptext.lexicons.build.resources import English
from dptext.tokens.regex import key_of


class Told(NamedTuple):
    """Figures for the orders, and the optional arrays of dptext.types.Lexicon."""

    figures: ordering.Figures
    synonym_ends: NDArray[np.int32]
    synonyms: NDArray[np.int32]
    information_content: NDArray[np.float32]
    parts: NDArray[np.uint8]


def tell(
    english: English,
    words: Sequence[str],
    vectors: NDArray[Any],
    counts: NDArray[np.float64],
    meaning: NDArray[np.float64] | None = None,
) -> Told:
    """Return what is known of words (as they are written).

    vectors (V + 1, d) of length 1, the last row for unknown words; counts (V,) > 0;
    meaning (V, e), other vectors of length 1 that tell synonyms from the rest.
    """
    database, ties, weights = english.wordnet, english.ties, english.weights
    keys = [key_of(word) for word in words]
    ends, alike = synonyms.synonyms(database, keys, ties)
    grammar, subject, parts = ordering_tags.profiles(
        database, words, keys, ties, weights, english.grammatical, vectors
    )
    figures = ordering.Figures(
        vectors=vectors,
        meaning=np.zeros((len(words), 0)) if meaning is None else meaning,
        grammar=grammar,
        subject=subject,
        polarity=ordering_polarity.of_words(database, keys, ties, weights),
        counts=counts,
        groups=ordering.grouped(keys, groups.groups()),
        antonyms=ordering.antonyms(database, keys, ties),
        barred=numbers.barred(words),
    )
    content = information.of_words(
        database, keys, ties, counts / counts.sum(), english.grammatical
    )
    return Told(figures, ends, alike, content, parts)


def only_names(english: English, words: Iterable[str]) -> list[int]:
    """Return which words only name a person or a place, in their order."""
    database, ties = english.wordnet, english.ties
    named = {key_of(name) for group in names.names() for name in group}
    rows = []
    for row, word in enumerate(words):
        key = key_of(word)
        instance = [
            any(pointer.symbol == "@i" for pointer in database.synsets[number].pointers)
            for link in ties.get(key, ())
            for number, _ in database.senses[link.lemma, link.pos]
        ]
        if word[:1].isupper() and (key in named or (instance and all(instance))):
            rows.append(row)
    return rows
