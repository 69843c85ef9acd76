"""A rule from an output word to a guess of the input word, fixed before it is tested.

Candidates score prior(x) exp(-s d(x, y)^p), d the distance in the space, for several
sharpnesses s and p = 1, 2; for an output that was often seen in training, the input
that was then most frequent may be guessed instead. Training draws give the counts and
the scale of s, validation draws choose the rule, test draws count its wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.types import Eps, Ids

if TYPE_CHECKING:
    from dptext.measures.plays import Plays

_TRAINED, _VALIDATED = 20_000, 4000
# Sharpnesses in units of 1 / (typical distance)^p; 0 guesses the most frequent word.
_SHARP = (0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0)
_OPTIONS = tuple((sharp, power) for power in (1, 2) for sharp in _SHARP)
# How often the most frequent input must have been seen to be guessed.
_TIMES = (1, 2, 3, 5, 10, 10**9)
_OUTPUTS, _WORDS = 256, 4096


def wins(
    vectors: NDArray[np.float32],
    epsilon: float,
    prior: NDArray[np.float64],
    draw: Callable[[Ids, Eps, RandomBits], Ids],
    test: Plays,
    plays: Callable[[NDArray[np.float64], int, str], Plays],
) -> NDArray[np.bool_]:
    """Train and choose a rule on draws of its own; tell which test plays it wins."""

    def outputs(sample: Plays) -> Ids:
        return draw(sample.ids, np.full(len(sample.ids), float(epsilon)), sample.bits)

    train = plays(prior, _TRAINED, "train")
    written = outputs(train)
    counted, times = _counted(train.ids, written, len(prior))
    distances = _between(vectors, train.ids, written)
    positive = distances[distances > 0.0]
    typical = float(np.median(positive)) if len(positive) else 1.0

    check = plays(prior, _VALIDATED, "validate")
    shown = outputs(check)
    near = _near(vectors, prior, shown, typical, _OPTIONS)
    chosen, best = (0, _TIMES[0]), -1
    for option, guesses in enumerate(near):
        for least in _TIMES:
            guess = np.where(times[shown] >= least, counted[shown], guesses)
            right = int((guess == check.ids).sum())
            if right > best:
                chosen, best = (option, least), right

    option, least = chosen
    shown = outputs(test)
    guesses = _near(vectors, prior, shown, typical, _OPTIONS[option : option + 1])[0]
    guess = np.where(times[shown] >= least, counted[shown], guesses)
    return np.asarray(guess == test.ids)


def _counted(ids: Ids, written: Ids, size: int) -> tuple[Ids, NDArray[np.int64]]:
    """Return the most frequent input of each output and how often it was: (V,) each."""
    pairs, often = np.unique(written.astype(np.int64) * size + ids, return_counts=True)
    # Among equally frequent inputs the last one written wins: the most frequent word.
    order = np.lexsort((-(pairs % size), often))
    guess, times = np.zeros(size, np.int32), np.zeros(size, np.int64)
    guess[pairs[order] // size] = pairs[order] % size
    times[pairs[order] // size] = often[order]
    return guess, times


def _between(vectors: NDArray[np.float32], one: Ids, two: Ids) -> NDArray[np.float64]:
    gap = vectors[one].astype(np.float64) - vectors[two]
    return np.asarray(np.sqrt(np.einsum("nd,nd->n", gap, gap)))


def _near(
    vectors: NDArray[np.float32],
    prior: NDArray[np.float64],
    outputs: Ids,
    typical: float,
    options: tuple[tuple[float, int], ...],
) -> Ids:
    """Return argmax_x ln prior(x) - s d(x, y)^p of each output: (options, n)."""
    distinct, which = np.unique(outputs, return_inverse=True)
    with np.errstate(divide="ignore"):
        worth = np.log(prior).astype(np.float32)
    guess = np.zeros((len(options), len(distinct)), np.int32)
    for begin in range(0, len(distinct), _OUTPUTS):
        part = slice(begin, begin + _OUTPUTS)
        _search(vectors, worth, distinct[part], typical, options, guess[:, part])
    return guess[:, which]


def _search(
    vectors: NDArray[np.float32],
    worth: NDArray[np.float32],
    outputs: Ids,
    typical: float,
    options: tuple[tuple[float, int], ...],
    guess: Ids,
) -> None:
    """Fill the guesses of a block of outputs, (options, n)."""
    points = vectors[outputs]
    best = np.full(guess.shape, -np.inf, np.float32)
    rows = np.arange(len(outputs))
    for start in range(0, len(worth), _WORDS):
        positions = vectors[start : min(start + _WORDS, len(worth))]
        squared = points @ (positions.T * np.float32(-2.0))
        squared += np.einsum("md,md->m", positions, positions)
        squared += np.einsum("nd,nd->n", points, points)[:, None]
        np.maximum(squared, 0.0, out=squared)
        powers = {1: np.sqrt(squared), 2: squared}
        for number, (sharp, power) in enumerate(options):
            score = powers[power] * np.float32(-sharp / typical**power)
            score += worth[start : start + len(positions)]
            top = score.argmax(axis=1)
            better = score[rows, top] > best[number]
            best[number, better] = score[rows, top][better]
            guess[number, better] = start + top[better]
