"""The mechanisms of the comparative analysis as its authors' code runs them.

Written anew from reading their replication package (github.com/sjmeis/mldp_anon, commit
c2f04252). In this script only: none of these has the guarantee that its name promises.
All of them copy a word without vector unchanged. Words are those of the private
training text, by falling count; row 0 of the matrix and the rows of words without
vector are zero vectors. Functions of noise take the matrix (V + 1, d) and ids (n,) of
words; the row of a word is its id + 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.published.corpora import Corpus, Ids

Matrix = NDArray[np.float32]
Wide = NDArray[np.float64]
# Nearest words that are listed: k is at most 28 of a million times.
LISTED = 48
# Least and greatest distance, by hand in the authors' notebooks, 50 dimensions.
EXTREMES = {
    "IMDb": (0.3513605074973775, 15.329304595006077),
    "AG News": (0.3513605074973775, 13.526640006274114),
}


def _points(
    matrix: Matrix,
    ids: Ids,
    epsilon: float,
    rng: np.random.Generator,
    root: Wide | None,
) -> Matrix:
    width = matrix.shape[1]
    noise = rng.standard_normal((len(ids), width))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    if root is not None:
        noise = noise @ root
    noise *= rng.gamma(width, 1.0 / epsilon, (len(ids), 1))
    return matrix[ids + 1] + noise.astype(np.float32)


def _scores(matrix: Matrix, points: Matrix) -> Matrix:
    """Return point . row - |row|^2 / 2: greatest where the row is nearest."""
    half = np.einsum("vd,vd->v", matrix, matrix) / 2.0
    scores: Matrix = points @ matrix.T - half
    return scores


def _nearest(matrix: Matrix, ids: Ids, points: Matrix) -> Ids:
    """Return the nearest row; where that is the row of zeros, the word itself."""
    out = np.empty(len(ids), np.int64)
    for begin in range(0, len(ids), 1024):
        part = slice(begin, begin + 1024)
        out[part] = _scores(matrix, points[part]).argmax(axis=1)
    return np.where(out == 0, ids, out - 1)


def cmp(matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """CMP."""
    return _nearest(matrix, ids, _points(matrix, ids, epsilon, rng, None))


@functools.lru_cache(maxsize=2)
def _root(scale: float, matrix: bytes, width: int) -> Wide:
    vectors = np.frombuffer(matrix, np.float32).reshape(-1, width).astype(np.float64)
    mixed = 0.2 * np.cov(vectors, rowvar=False) / scale + 0.8 * np.eye(width)
    values, axes = np.linalg.eigh(mixed)
    return np.asarray((axes * np.sqrt(values)) @ axes.T)


def mahalanobis(
    matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator
) -> Ids:
    """Divide the covariance by the variance of all entries, not to a trace of d."""
    scale = float(matrix.astype(np.float64).var())
    root = _root(scale, matrix.tobytes(), matrix.shape[1])
    return _nearest(matrix, ids, _points(matrix, ids, epsilon, rng, root))


def vickrey(matrix: Matrix, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Drop the nearest word in all cases; softmax of -t d over second and third."""
    points = _points(matrix, ids, epsilon, rng, None)
    out = np.empty(len(ids), np.int64)
    for begin in range(0, len(ids), 1024):
        part = slice(begin, begin + 1024)
        scores = _scores(matrix, points[part])[:, 1:]
        best = np.argpartition(-scores, 3, axis=1)[:, :3]
        best = np.take_along_axis(
            best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1), 1
        )[:, 1:]
        gaps = points[part][:, None, :] - matrix[best + 1]
        distances = np.linalg.norm(gaps, axis=2)
        second = 1.0 / (1.0 + np.exp(-0.5 * (distances[:, 0] - distances[:, 1])))
        later = rng.random(len(best)) < second
        out[part] = best[np.arange(len(best)), later.astype(int)]
    return out


@dataclass(frozen=True)
class Published:
    """A corpus, its matrix (V + 1, d) with row 0 zero, and all words to write."""

    corpus: Corpus
    matrix: NDArray[np.float32]
    words: list[str]

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> Published:
        """Put the row of zeros before the vectors."""
        zero = np.zeros((1, corpus.vectors.shape[1]), np.float32)
        return cls(corpus, np.vstack((zero, corpus.vectors)), list(corpus.words))

    def draw(
        self, name: str, ids: Ids, epsilon: float, rng: np.random.Generator
    ) -> Ids:
        """Draw once for each row of ids; -1 and words without vector stay."""
        out = ids.copy()
        known = ids >= 0
        if name != "SynTF":
            known[known] = self.corpus.known[ids[known]]
        if name in NOISE:
            out[known] = NOISE[name](self.matrix, ids[known], epsilon, rng)
        else:
            out[known] = DRAWS[name](self, ids[known], epsilon, rng)
        return out


def _by_word(p: Published, ids: Ids, draw: Callable[[int, int], Ids]) -> Ids:
    """Draw for all places of a word together."""
    order = np.argsort(ids, kind="stable")
    words, counts = np.unique(ids, return_counts=True)
    drawn = [
        draw(word, count)
        for word, count in zip(words.tolist(), counts.tolist(), strict=True)
    ]
    out = np.empty_like(ids)
    out[order] = np.concatenate(drawn) if drawn else ids
    return out


def distances(rows: NDArray[np.float32], row: int) -> Wide:
    """Return the distances of all rows to one of them: (V,)."""
    squares = np.einsum("vd,vd->v", rows, rows)
    squares = squares + squares[row] - 2.0 * (rows @ rows[row])
    squares[row] = 0.0
    lengths: Wide = np.sqrt(np.maximum(squares, 0.0)).astype(np.float64)
    return lengths


def gumbel(p: Published, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Below the threshold the real part of W; k may be 0, which keeps the word."""
    from scipy.special import lambertw

    low, high = EXTREMES[p.corpus.name]
    size = len(p.matrix) - 1
    rate = (epsilon - 2.0 * (1.0 + math.log(size)) / low) / 3.0
    branch = float(lambertw(2.0 * rate * high).real)
    b = 2.0 * high / (branch if rate <= 0 else min(branch, math.log(rate * low)))
    ends = np.exp(-np.exp(np.array((high, -high)) / b))

    def draw(word: int, count: int) -> Ids:
        lengths = distances(p.matrix[1:], word)
        near = np.argpartition(lengths, LISTED)[:LISTED]
        near = near[np.argsort(lengths[near])]
        ks = rng.poisson(math.log(size), count)
        uniforms = ends[0] + rng.random((count, LISTED)) * (ends[1] - ends[0])
        values = lengths[near] - b * np.log(-np.log(uniforms))
        values[np.arange(LISTED)[None, :] >= ks[:, None]] = np.inf
        return np.asarray(np.where(ks == 0, word, near[values.argmin(axis=1)]))

    return _by_word(p, ids, draw)


def _exponential(weights: Wide, count: int, rng: np.random.Generator) -> Ids:
    edges = np.cumsum(weights)
    positions = np.searchsorted(edges, rng.random(count) * edges[-1], side="right")
    return np.asarray(np.minimum(positions, len(weights) - 1))


def tem(p: Published, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Take gamma from beta 0.001 under all settings; ln(V / L) for ln(V - L)."""
    size = len(p.matrix) - 1
    gamma = round(2.0 / epsilon * math.log(0.999 * (size + 1) / 0.001), 1)

    def draw(word: int, count: int) -> Ids:
        lengths = distances(p.matrix[1:], word)
        near = np.flatnonzero(lengths <= gamma)
        far = np.flatnonzero(lengths > gamma)
        elsewhere = -gamma + 2.0 * math.log(size / len(near)) / epsilon
        scores = np.append(-lengths[near], elsewhere if len(far) else -np.inf)
        chosen = _exponential(np.exp(epsilon * scores / 2.0), count, rng)
        out = np.append(near, 0)[chosen]
        outside = chosen == len(near)
        out[outside] = rng.choice(far, outside.sum()) if outside.any() else 0
        return out

    return _by_word(p, ids, draw)


def santext(p: Published, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Three dimensions; rows one off, and one more for each word without vector.

    A row beyond the list of words with vectors gives the word itself.
    """
    listed = np.flatnonzero(p.corpus.known)
    position = np.full(len(p.corpus.known), -1)
    position[listed] = np.arange(len(listed))
    rows = np.ascontiguousarray(p.matrix[:, :3])

    def draw(word: int, count: int) -> Ids:
        lengths = distances(rows, int(position[word]))
        chosen = _exponential(np.exp(-epsilon * lengths / 2.0), count, rng)
        inside = chosen < len(listed)
        return np.where(inside, listed[np.where(inside, chosen, 0)], word)

    return _by_word(p, ids, draw)


def santext_plus(
    p: Published, ids: Ids, epsilon: float, rng: np.random.Generator
) -> Ids:
    """Draw SanText+ of Yue et al., which the paper does not name: w 0.9, p 0.3.

    The rarest nine tenths of the words are sensitive. Only these are written; any
    other word stays with probability 0.7.
    """
    listed = np.flatnonzero(p.corpus.known)
    first = len(listed) - int(0.9 * len(listed))
    position = np.full(len(p.corpus.known), -1)
    position[listed] = np.arange(len(listed))
    rows = p.matrix[1 + listed]

    def draw(word: int, count: int) -> Ids:
        row = int(position[word])
        weights = np.exp(-epsilon * distances(rows, row)[first:] / 2.0)
        drawn = listed[first + _exponential(weights, count, rng)]
        stays = (row < first) & (rng.random(count) < 0.7)
        return np.where(stays, word, drawn)

    return _by_word(p, ids, draw)


def syntf(p: Published, ids: Ids, epsilon: float, rng: np.random.Generator) -> Ids:
    """Score each synonym in the corpus by the word's own TF-IDF, others by 0."""
    rows = {word: row for row, word in enumerate(p.words)}
    size = len(p.corpus.words)
    # One document: the inverse document frequency is 1.
    counts = np.where([len(word) > 1 for word in p.corpus.words], p.corpus.counts, 0)
    weights = counts / np.linalg.norm(counts)

    def draw(word: int, count: int) -> Ids:
        names = synonyms(p.words[word]) if counts[word] else []
        if not names:
            return np.full(count, word, np.int64)
        for name in names:
            if name not in rows:
                rows[name] = len(p.words)
                p.words.append(name)
        others = np.array([rows[name] for name in names])
        inside = others < size
        # Its vectorizer leaves out words of one letter.
        inside &= np.append(counts, 0)[np.minimum(others, size)] > 0
        scores = np.where(inside, weights[word], 0.0)
        return others[_exponential(np.exp(epsilon * scores / 2.0), count, rng)]

    return _by_word(p, ids, draw)


@functools.cache
def synonyms(word: str) -> list[str]:
    """Return the lemmas of all meanings of a word, in alphabetical order."""
    from nltk.corpus import wordnet

    synsets: Any = wordnet.synsets(word)
    return sorted({lemma.name() for each in synsets for lemma in each.lemmas()})


NOISE = {"CMP": cmp, "Mahalanobis": mahalanobis, "Vickrey": vickrey}
DRAWS = {
    "Gumbel": gumbel,
    "TEM": tem,
    "SanText": santext,
    "SanText+": santext_plus,
    "SynTF": syntf,
}
