"""The orders of an English lexicon: which words may best stand for a word.

An order holds the word itself and then, best first, words that may be written. How well
y stands for x is a sum of public figures: closeness of meaning (cosine, less what y has
with everybody), shared synsets, grammar (part of speech, inflection, class, kind of
name), subject, polarity and frequency. Antonyms of x are in no list of x. Equals stand
by id. Nothing here is about any text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.english.forms import Link
from dptext.lexicons.english.wordnet import WordNet

_BLOCK = 256
_NEVER = -100.0
_HUB = 10  # neighbours whose mean cosine says how much everybody's neighbour a word is
# Scores are rounded to this, so that the last bits of a product decide nothing.
_GRID = 2.0**20


@dataclass(frozen=True, slots=True)
class Weights:
    """What each figure counts beside the cosine, of about twenty settings tried.

    rarer is for each nat by which y is less frequent than x.
    """

    hub: float = 0.8
    meaning: float = 0.25
    grammar: float = 0.2
    subject: float = 0.1
    group: float = 0.2
    polarity: float = 1.5
    rarer: float = 0.09


@dataclass(frozen=True, slots=True)
class Figures:
    """What the score is made of, for V words.

    vectors (V + 1, d) of any float, the last row for unknown words; meaning (V, e),
    vectors fitted to relations, perhaps of no dimensions; grammar (V, g),
    subject (V, f) rows of length 1, or 0 for nothing known; polarity (V,);
    counts (V,) > 0; groups and antonyms list for each word the others; barred
    are words that stand for no other.
    """

    vectors: NDArray[Any]
    meaning: NDArray[np.float64]
    grammar: NDArray[np.float64]
    subject: NDArray[np.float64]
    polarity: NDArray[np.float64]
    counts: NDArray[np.float64]
    groups: Sequence[Sequence[int]]
    antonyms: Sequence[Sequence[int]]
    barred: Sequence[int] = ()


def orders(
    figures: Figures, outputs: int, listed: int, weights: Weights | None = None
) -> NDArray[Any]:
    """Return the word itself and the listed best others below outputs.

    (V, 1 + listed) uint16, uint32 where V >= 65536. outputs: only the first so many
    words are listed.
    """
    weights = weights or Weights()
    size = len(figures.counts)
    sums = _Given(figures, outputs, weights)
    orders_of_rows = np.empty(
        (size, 1 + listed), np.uint16 if size < 2**16 else np.uint32
    )
    for begin in range(0, size, _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, size))
        orders_of_rows[rows, 0] = rows
        orders_of_rows[rows, 1:] = _best(sums.scores(rows), listed)
    return orders_of_rows


def order_of_unknown(
    figures: Figures,
    outputs: int,
    listed: int,
    weights: Weights | None = None,
    first: Sequence[int] = (),
) -> NDArray[np.intp]:
    """Return the order of the last row of vectors: (listed,).

    first, which are outputs, then by cosine less hubness.
    """
    weights = weights or Weights()
    sums = _Given(figures, outputs, weights)
    scores = sums.likeness(np.array([len(figures.counts)]))
    scores[0, list(first)] = -_NEVER - np.arange(len(first)) / _GRID
    return np.asarray(_best(np.rint(scores * _GRID), listed)[0])


class _Given:
    """Figures with what is the same for every row."""

    def __init__(self, figures: Figures, outputs: int, weights: Weights) -> None:
        self.figures, self.outputs, self.weights = figures, outputs, weights
        self.logs = np.log(figures.counts)
        self.vectors = figures.vectors[:outputs].astype(np.float64, copy=False)
        self.barred = [row for row in figures.barred if row < outputs]
        self.hubs = _hubs(self.vectors, self.barred)

    def likeness(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return cosines less hubness: (b, outputs)."""
        directions = self.figures.vectors[rows].astype(np.float64, copy=False)
        scores: NDArray[np.float64] = directions @ self.vectors.T
        scores -= self.weights.hub * self.hubs
        scores[:, self.barred] = 2 * _NEVER
        return scores

    def scores(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how well outputs stand for each row: (b, outputs), on a grid."""
        figures, weights, outputs = self.figures, self.weights, self.outputs
        grammar, subject = figures.grammar, figures.subject
        scores = self.likeness(rows)
        scores += weights.meaning * (
            figures.meaning[rows] @ figures.meaning[:outputs].T
        )
        scores += weights.grammar * (grammar[rows] @ grammar[:outputs].T)
        scores += weights.subject * (subject[rows] @ subject[:outputs].T)
        difference = (
            figures.polarity[rows][:, None] - figures.polarity[:outputs][None, :]
        )
        scores -= weights.polarity * np.abs(difference, out=difference)
        rarer = np.maximum(self.logs[rows][:, None] - self.logs[:outputs][None], 0.0)
        scores -= weights.rarer * rarer
        for position, row in enumerate(rows.tolist()):
            _add(scores[position], figures.groups[row], weights.group)
            _add(scores[position], figures.antonyms[row], _NEVER)
            if row < outputs:
                scores[position, row] = 2 * _NEVER
        return np.rint(scores * _GRID)


def _add(scores: NDArray[np.float64], others: Sequence[int], worth: float) -> None:
    known = [other for other in others if other < len(scores)]
    scores[known] += worth


def _best(scores: NDArray[np.float64], listed: int) -> NDArray[np.intp]:
    """Return the columns of the largest scores, of equals the first: (b, listed)."""
    # One whole number for score and place, so that a partition meets no ties.
    ranked = -scores * 2.0**17 + np.arange(scores.shape[1])
    best = np.argpartition(ranked, listed - 1, axis=1)[:, :listed]
    sorted_ = np.argsort(np.take_along_axis(ranked, best, axis=1), axis=1)
    return np.asarray(np.take_along_axis(best, sorted_, axis=1))


def _hubs(vectors: NDArray[np.float64], barred: Sequence[int]) -> NDArray[np.float64]:
    """Return the mean cosine of each output with its nearest others: (outputs,).

    barred words are nobody's neighbours.
    """
    outputs = len(vectors)
    hubness = np.zeros(outputs)
    near = min(_HUB, outputs - 1 - len(barred))
    if near < 1:
        return hubness
    for begin in range(0, outputs, _BLOCK):
        block = vectors[begin : min(begin + _BLOCK, outputs)] @ vectors.T
        block[np.arange(len(block)), begin + np.arange(len(block))] = -2.0
        block[:, barred] = -2.0
        top = -np.partition(-block, near - 1, axis=1)[:, :near]
        hubness[begin : begin + len(block)] = top.mean(axis=1)
    return hubness


def antonyms(
    wordnet: WordNet, keys: Sequence[str], links: Mapping[str, tuple[Link, ...]]
) -> list[list[int]]:
    """Return for each word those that mean the opposite, in whatever inflection.

    For all forms of the two lemmas: "hotter" stands for no form of "cold".
    """
    bearing: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(keys):
        for link in links.get(key, ()):
            bearing.setdefault((link.lemma, link.pos), []).append(row)
    pairs: set[tuple[tuple[str, str], tuple[str, str]]] = set()
    for synset in wordnet.synsets:
        for pointer in synset.pointers:
            if pointer.symbol == "!":
                other = wordnet.synsets[pointer.target]
                one = (synset.lemmas[pointer.source_lemma - 1].lower(), synset.pos)
                two = (other.lemmas[pointer.target_lemma - 1].lower(), other.pos)
                pairs |= {(one, two), (two, one)}
    opposites: list[set[int]] = [set() for _ in keys]
    for one, two in pairs:
        for row in bearing.get(one, ()):
            opposites[row].update(bearing.get(two, ()))
    return [sorted(others - {row}) for row, others in enumerate(opposites)]


def grouped(keys: Sequence[str], groups: Sequence[tuple[str, ...]]) -> list[list[int]]:
    """Return for each word the others of its hand-written groups."""
    row_of = {key: row for row, key in enumerate(keys)}
    others_of: list[dict[int, None]] = [{} for _ in keys]
    for group in groups:
        rows = [row_of[key] for key in group if key in row_of]
        for row in rows:
            others_of[row].update(
                dict.fromkeys(other for other in rows if other != row)
            )
    return [list(others) for others in others_of]
