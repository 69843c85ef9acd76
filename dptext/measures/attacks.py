"""Attacks on single words of a released text, and how often they are right.

nearest guess: the original is the word that was written. Bayes: the likeliest original
under the public word frequencies and the mechanism's exact output distribution, the
attacker of the Bayes risk. Both take words to be replaced one by one, in order; neither
uses context. Words outside the vocabulary are not attacked, and all numbers of an
element are one word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import Mechanism
from dptext.types import Ids

NEAREST = "guesses that a word was not changed; knows nothing"
BAYES = (
    "knows mechanism, epsilon and public word frequencies; sees one word, no context"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """success is the share of words guessed right; assumes, what the attacker has."""

    name: str
    success: float
    words: int
    assumes: str
    predicted: float | None = None


def nearest(same: int, words: int) -> Attack:
    """Guess the written word: right where the word is the same, in so many of words."""
    return Attack("nearest guess", same / words if words else 0.0, words, NEAREST)


def bayes(
    mechanism: Mechanism,
    epsilon: float,
    prior: NDArray[np.float64],
    before: Ids,
    after: Ids,
    predicted: float | None = None,
) -> Attack:
    """Guess argmax over x of prior(x) P(y|x), from exact log-probabilities."""
    outputs, which = np.unique(after, return_inverse=True)
    guesses = best(mechanism, epsilon, prior, outputs)
    right = float((guesses[which] == before).mean()) if len(before) else 0.0
    return Attack("Bayes", right, len(before), BAYES, predicted)


def best(
    mechanism: Mechanism, epsilon: float, prior: NDArray[np.float64], outputs: Ids
) -> Ids:
    """Return the likeliest original of each output: (m,) int32, in O(V^2)."""
    size = len(prior)
    top = np.full(len(outputs), -np.inf)
    guess = np.zeros(len(outputs), np.int32)
    block = max(1, 2**21 // size)
    with np.errstate(divide="ignore"):
        weight = np.log(prior)
    for begin in range(0, size, block):
        ids = np.arange(begin, min(begin + block, size), dtype=np.int32)
        ids = ids[np.isfinite(weight[ids])]
        if not len(ids):
            continue
        log_probs = mechanism.log_probs(ids, np.full(len(ids), epsilon))
        score = log_probs[:, outputs] + weight[ids][:, None]
        row = score.argmax(axis=0)
        highest = score[row, np.arange(len(outputs))]
        better = highest > top
        top[better], guess[better] = highest[better], ids[row[better]]
    return guess
