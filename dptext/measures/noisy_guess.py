"""The best guess of a word from its noisy vector: which plays it wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.measures.plays import Bands, Plays
from dptext.mechanisms import Mechanism
from dptext.types import Eps, Ids

Wins = NDArray[np.bool_]
# Scores are made in tiles of this many points and words, which fit a cache.
_POINTS, _WORDS = 512, 2048
# Nearer than this many nats to the best score, single precision does not decide.
_DOUBT = 0.5


def wins(
    mechanism: Mechanism,
    epsilon: float,
    prior: NDArray[np.float64],
    sample: Plays,
    bands: Bands,
) -> Wins:
    """Tell for each play whether the best guess from the noisy vector is right: (2, n).

    And whether it is when the frequency band of the word is known. Guesses that are
    equally good count as right.
    """
    won = np.empty((2, len(sample.ids)), np.bool_)
    for begin in range(0, len(sample.ids), _POINTS):
        part = np.arange(begin, min(begin + _POINTS, len(sample.ids)))
        ids, eps = sample.ids[part], np.full(len(part), float(epsilon))
        points = mechanism.observe(ids, eps, sample.bits.take(part))
        game = _Game(mechanism, prior, ids, eps, points)
        best, guess, itself = game.scores(bands)
        rows = np.arange(len(part))
        mine = np.searchsorted([first for first, _ in bands], ids, side="right") - 1
        for number, band in enumerate((best.argmax(axis=0), mine)):
            won[number, part] = game.right(best[band, rows], guess[band, rows], itself)
    return won


@dataclass(frozen=True, slots=True)
class _Game:
    """A block of plays: what an attacker sees of each, and the words to be guessed."""

    mechanism: Mechanism
    prior: NDArray[np.float64]
    ids: Ids
    eps: Eps
    points: NDArray[np.floating]

    def scores(
        self, bands: Bands
    ) -> tuple[NDArray[np.float32], Ids, NDArray[np.float32]]:
        """Return the best score in each band, (b, n), its word, and the input's."""
        count = len(self.ids)
        with np.errstate(divide="ignore"):
            worth = np.log(self.prior).astype(np.float32)
        best = np.full((len(bands), count), -np.inf, np.float32)
        guess = np.full((len(bands), count), -1, np.int32)
        itself = np.empty(count, np.float32)
        rows = np.arange(count)
        tiles = [
            (number, np.arange(start, min(start + _WORDS, last), dtype=np.int32))
            for number, (first, last) in enumerate(bands)
            for start in range(first, last, _WORDS)
        ]
        for number, words in tiles:
            score = self.mechanism.log_density(self.points, self.eps, words)
            score += worth[words]
            top = score.argmax(axis=1)
            value = score[rows, top]
            better = value > best[number]
            best[number, better] = value[better]
            guess[number, better] = words[top[better]]
            here = np.flatnonzero((self.ids >= words[0]) & (self.ids <= words[-1]))
            itself[here] = score[here, self.ids[here] - words[0]]
        return best, guess, itself

    def right(
        self, best: NDArray[np.float32], guess: Ids, itself: NDArray[np.float32]
    ) -> Wins:
        """Tell which words are as good as the best guess, near ones in float64."""
        right: Wins = guess == self.ids
        for row in np.flatnonzero(~right & (best - itself < _DOUBT)):
            words = np.array([self.ids[row], guess[row]], np.int32)
            point = self.points[row : row + 1].astype(np.float64)
            exact = self.mechanism.log_density(point, self.eps[row : row + 1], words)[0]
            exact = exact + np.log(self.prior[words])
            right[row] = exact[0] >= exact[1]
        return right
