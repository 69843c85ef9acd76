"""Attempts at the PP of SanText and SynTF in Tables 6 and 7: N_w and PP.

The exact expectation over the 600 texts: the mean of 1 - P(x|x) over the tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.published import corpora
from benchmarks.published.corpora import Corpus, Ids
from benchmarks.published.faults import Published, distances, synonyms

Row = dict[str, Any]
EPSILONS = (1.0, 5.0, 10.0)
# SynTF: score of a synonym inside the corpus; whether one outside keeps the word.
SYNONYMS = {
    "score: TF-IDF of the word (its code)": ("word", False),
    "the same; outside the corpus: the word stays": ("word", True),
    "score: TF-IDF of the synonym": ("synonym", False),
    "score: 1": ("one", False),
    "score: 1; outside the corpus: the word stays": ("one", True),
}


@dataclass(frozen=True)
class Try:
    """One variant: first dimensions, factor of epsilon, rows one off, SanText+.

    With sensitive, that share of the distinct words, the rarest, is drawn for; any
    other is drawn for with probability flip, and only sensitive words are written.
    """

    dimensions: int = 50
    factor: float = 1.0
    shifted: bool = False
    squared: bool = False
    sensitive: float = 1.0
    flip: float = 1.0


TRIES = {
    "as described": Try(),
    "epsilon halved": Try(factor=0.5),
    "epsilon doubled": Try(factor=2.0),
    "squared distance": Try(squared=True),
    "first 3 dimensions": Try(dimensions=3),
    "first 3 dimensions, rows off": Try(dimensions=3, shifted=True),
    "rows off": Try(shifted=True),
    "SanText+, half the words, p 0.2": Try(sensitive=0.5, flip=0.2),
    "SanText+, half the words, p 0.3": Try(sensitive=0.5, flip=0.3),
    "SanText+, nine tenths, p 0.3": Try(sensitive=0.9, flip=0.3),
}


def rows(dataset: str, glove: Path) -> Iterator[Row]:
    """Yield N_w and PP of each variant at each epsilon."""
    corpus = corpora.corpus(dataset, glove)
    matrix = Published.from_corpus(corpus).matrix
    listed = np.flatnonzero(corpus.known)
    tokens = np.concatenate(corpus.train)
    words, counts = np.unique(tokens[corpus.known[tokens]], return_counts=True)
    # A random part of the distinct words, by how often they occur, is exact enough.
    rng = np.random.default_rng(2)
    sample = rng.choice(len(words), 400, replace=True, p=counts / counts.sum())
    uniform = np.random.default_rng(1).choice(listed, 100, replace=False)
    unknown = float((~corpus.known[tokens]).mean())
    yield from _moved(corpus)
    yield from _synonyms(corpus, uniform[:50], rng.choice(tokens, 3000))
    for name, variant in TRIES.items():
        stay = _stay(corpus, matrix, listed, variant)
        for epsilon in EPSILONS:
            same = [
                np.mean([stay(w, epsilon) for w in part.tolist()])
                for part in (uniform, words[sample])
            ]
            kept = unknown + (1.0 - unknown) * same[1]
            yield {
                "part": "tries",
                "dataset": dataset,
                "mechanism": "SanText",
                "tried": name,
                "epsilon": epsilon,
                "N_w": round(100 * same[0], 2),
                "PP": round(100 * (1.0 - kept), 2),
            }


def _synonyms(corpus: Corpus, uniform: Ids, tokens: Ids) -> Iterator[Row]:
    """Yield N_w and PP of SynTF by other scores."""
    row_of = {word: row for row, word in enumerate(corpus.words)}
    counts = np.where([len(word) > 1 for word in corpus.words], corpus.counts, 0)
    weights = counts / np.linalg.norm(counts)

    def stay(word: int, epsilon: float, score: str, keeps: bool) -> float:
        names = synonyms(corpus.words[word]) if counts[word] else []
        if not names:
            return 1.0
        listed_weights = np.array(
            [weights[row_of[n]] if n in row_of else 0.0 for n in names]
        )
        inside = listed_weights > 0
        by = {"word": weights[word], "synonym": listed_weights, "one": 1.0}[score]
        chances = np.exp(epsilon * np.where(inside, by, 0.0) / 2.0)
        itself = np.array([name == corpus.words[word] for name in names])
        kept = itself | ~inside if keeps else itself
        return float(chances[kept].sum() / chances.sum())

    for name, settings in SYNONYMS.items():
        for epsilon in EPSILONS:
            same = [
                np.mean([stay(word, epsilon, *settings) for word in part.tolist()])
                for part in (uniform, tokens)
            ]
            yield {
                "part": "tries",
                "dataset": corpus.name,
                "mechanism": "SynTF",
                "tried": name,
                "epsilon": epsilon,
                "N_w": round(100 * same[0], 2),
                "PP": round(100 * (1.0 - same[1]), 2),
            }


def _moved(corpus: Corpus) -> Iterator[Row]:
    """Yield PP if words were left out or divided: later ones are compared wrongly."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    long = np.array([len(word) > 1 for word in corpus.words])
    words = corpus.words

    def left(kept: NDArray[np.bool_]) -> Callable[[list[str], Ids], list[str]]:
        return lambda _, text: [words[row] for row in text[kept[text]]]

    changes: dict[str, Callable[[list[str], Ids], list[str]]] = {
        "words without vector left out": left(corpus.known),
        "also words of one letter": left(corpus.known & long),
        "words divided by spaCy": lambda text, _: [
            token.text for token in tokenizer(" ".join(text))
        ],
    }
    for name, change in changes.items():
        same = total = 0
        for ids in corpus.train:
            text = [words[row] for row in ids]
            same += sum(map(str.__eq__, text, change(text, ids)))
            total += len(text)
        pp = round(100.0 * (1.0 - same / total), 2)
        for epsilon in EPSILONS:
            yield {
                "part": "tries",
                "dataset": corpus.name,
                "mechanism": "SanText",
                "tried": name,
                "epsilon": epsilon,
                "PP": pp,
            }


def _stay(
    corpus: Corpus, matrix: NDArray[np.float32], listed: Ids, variant: Try
) -> Callable[[int, float], float]:
    """Return what gives P(x|x) of a word at an epsilon."""
    size = len(listed)
    position = np.full(len(corpus.words), -1)
    position[listed] = np.arange(size)
    table = matrix if variant.shifted else matrix[1 + listed]
    table = np.ascontiguousarray(table[:, : variant.dimensions])
    # Words stand by falling count: the last are the rarest.
    first = size - int(variant.sensitive * size)

    def stay(word: int, epsilon: float) -> float:
        row = int(position[word])
        gaps = distances(table, row)
        if variant.squared:
            gaps = gaps**2
        weights = np.exp(-epsilon * variant.factor * gaps / 2.0)
        if row < first:
            return 1.0 - variant.flip
        itself = weights[row]
        if variant.shifted:
            # Beyond the list comes the word itself.
            itself += weights[size:].sum()
        return float(itself / weights[first if variant.sensitive < 1 else 0 :].sum())

    return stay
