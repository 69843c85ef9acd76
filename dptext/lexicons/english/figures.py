"""The figures of given words: what orders are made of, and what lexicons carry.

Synonyms are words in the same inflection whose lemmas share a synset; information
content (Resnik 1995) is how much is said by naming a word's meanings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import numbers
from dptext.lexicons.english import lists, ordering, polarity
from dptext.lexicons.english.forms import Link
from dptext.lexicons.english.grammar import profiles
from dptext.lexicons.english.vocabulary import English
from dptext.lexicons.english.wordnet import WordNet
from dptext.tokens.regex import key_of

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


_UP = ("@", "@i")


def of_synsets(wordnet: WordNet) -> NDArray[np.float64]:
    """Return -ln of the share of each synset and all below it: (s,) nats.

    Tagged counts plus one, so that every synset has some; the whole is that of its part
    of speech. Adjectives and adverbs have nothing below them.
    """
    uses = np.ones(len(wordnet.synsets))
    for senses in wordnet.senses.values():
        for synset, count in senses:
            uses[synset] += count
    total = np.zeros(len(uses))
    use_of_part: dict[str, float] = {}
    for number, meaning in enumerate(wordnet.synsets):
        for above in _ancestors(wordnet, number):
            total[above] += uses[number]
        use_of_part[meaning.pos] = use_of_part.get(meaning.pos, 0.0) + uses[number]
    shares = np.array([use_of_part[meaning.pos] for meaning in wordnet.synsets])
    return np.asarray(np.log(shares / total))


def information_content(
    wordnet: WordNet,
    words: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    prior: NDArray[np.float64],
    grammatical: frozenset[str],
) -> NDArray[np.float32]:
    """Return the information content of each word: (V,) float32, nats, >= 0.

    The mean over the synsets of its lemmas. Grammatical words and words outside WordNet
    have -ln of their share of the public prior (V,) instead.
    """
    by_synset = of_synsets(wordnet)
    content = -np.log(prior)
    for row, word in enumerate(words):
        lemmas = sorted({(link.lemma, link.pos) for link in links.get(word, ())})
        numbers = [n for lemma in lemmas for n, _ in wordnet.senses[lemma]]
        if numbers and word not in grammatical:
            content[row] = by_synset[numbers].mean()
    return content.astype(np.float32)


def _ancestors(wordnet: WordNet, number: int) -> list[int]:
    """Return the synset and everything above it, each once."""
    ancestors = [number]
    seen = {number}
    for here in ancestors:
        for pointer in wordnet.synsets[here].pointers:
            if pointer.symbol in _UP and pointer.target not in seen:
                seen.add(pointer.target)
                ancestors.append(pointer.target)
    return ancestors


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
    ends, alike = synonyms(database, keys, ties)
    grammar, subject, parts = profiles(
        database, words, keys, ties, weights, english.grammatical, vectors
    )
    figures = ordering.Figures(
        vectors=vectors,
        meaning=np.zeros((len(words), 0)) if meaning is None else meaning,
        grammar=grammar,
        subject=subject,
        polarity=polarity.of_words(database, keys, ties, weights),
        counts=counts,
        groups=ordering.grouped(keys, lists.groups()),
        antonyms=ordering.antonyms(database, keys, ties),
        barred=numbers.barred(words),
    )
    content = information_content(
        database, keys, ties, counts / counts.sum(), english.grammatical
    )
    return Told(figures, ends, alike, content, parts)


def only_names(english: English, words: Iterable[str]) -> list[int]:
    """Return which words only name a person or a place, in their order."""
    database, ties = english.wordnet, english.ties
    named = {key_of(name) for group in lists.names() for name in group}
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
