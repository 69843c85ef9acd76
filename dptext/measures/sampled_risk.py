"""Bounds the best attack by sampled games, without exact log-probabilities.

Upper limit: an attacker who sees the noisy vector z, before the mapping, guesses
argmax_x prior(x) density(z|x), which is Bayes optimal; the output of a mapping of z is
no easier to guess from. Lower limit: a rule from output to guess that is chosen on
separate draws. Both are games that are won or lost, so exact binomial limits
(Clopper and Pearson) bound the best attack on the output: docs/guarantees.md, 6. Words
and noise are public and reproducible: results depend on no text.

Candidates for the rule score prior(x) exp(-s d(x, y)^p), d the distance in the space,
for several sharpnesses s and p = 1, 2. For an output that was common in training,
its most frequent input there may be guessed instead. Training draws give the
counts and the scale of s, validation draws choose the rule, test draws count its wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.guarantees import binomial
from dptext.lexicons.search import distances_of_pairs
from dptext.mechanisms import Mechanism
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.types import Eps, Floats, Ids, Ints, Mask, Singles, Vectors

_TRAINED, _VALIDATED = 20_000, 4000
# Sharpnesses in units of 1 / (typical distance)^p; 0 guesses the most frequent word.
_SHARP = (0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0)
_OPTIONS = tuple((sharp, power) for power in (1, 2) for sharp in _SHARP)
# Times that an output must occur with its most frequent input before that input is
# guessed instead of the nearest word; the last one: never.
_TIMES = (1, 2, 3, 5, 10, 10**9)
# Distances are computed in tiles of this many outputs and words.
_OUTPUTS, _WORDS = 256, 4096
Drawing = Callable[[Ids, Eps, RandomBits], Ids]
# Words by descending frequency: the 100 most frequent, the next 900, the rest.
_EDGES = (100, 1000)
BAND_NAMES = ("100 most frequent words", "next 900 words", "all other words")
Wins = NDArray[np.bool_]
# Scores are made in tiles of this many points and words, which fit a cache.
_POINTS, _WORDS_OF_POINTS = 512, 2048
# Nearer than this many nats to the best score, single precision does not decide.
_DOUBT = 0.5
DRAWS = 20_000
CONFIDENCE = 0.95
# Plays that are repeated to check cached ones; number of tests that stay in memory.
_REPLAYED, _KEPT = 512, 4
_tested: dict[str, Wins] = {}


def wins_of_rule(
    vectors: Singles, epsilon: float, prior: Floats, draw: Drawing, test: SampledGames
) -> Mask:
    """Choose a rule on separate draws; return which test games it wins: (n,)."""

    def outputs(sample: SampledGames) -> Ids:
        return draw(sample.ids, np.full(len(sample.ids), float(epsilon)), sample.bits)

    train = sampled_games(prior, _TRAINED, "train")
    written = outputs(train)
    commonest, times = _commonest_inputs(train.ids, written, len(prior))
    # Sharpness is relative to the scale of the noise: the median distance that a draw
    # moves a word. Draws of the word itself would pull it to 0.
    distances = distances_of_pairs(vectors, train.ids, written)
    positive = distances[distances > 0.0]
    typical = float(np.median(positive)) if len(positive) else 1.0

    # The rule must be fixed before the test draws, or their count would flatter it: it
    # is the pair of scoring and _TIMES that wins most validation plays.
    check = sampled_games(prior, _VALIDATED, "validate")
    shown = outputs(check)
    by_option = _guesses_by_distance(
        vectors, prior, outputs=shown, typical=typical, options=_OPTIONS
    )
    chosen, best = (0, _TIMES[0]), -1
    for option, guesses in enumerate(by_option):
        for least in _TIMES:
            guess = np.where(times[shown] >= least, commonest[shown], guesses)
            right = int((guess == check.ids).sum())
            if right > best:
                chosen, best = (option, least), right

    option, least = chosen
    shown = outputs(test)
    guesses = _guesses_by_distance(
        vectors,
        prior,
        outputs=shown,
        typical=typical,
        options=_OPTIONS[option : option + 1],
    )[0]
    guess = np.where(times[shown] >= least, commonest[shown], guesses)
    return np.asarray(guess == test.ids)


def _commonest_inputs(ids: Ids, written: Ids, size: int) -> tuple[Ids, Ints]:
    """Return the most frequent input of each output and its count: (V,) each."""
    pairs, often = np.unique(written.astype(np.int64) * size + ids, return_counts=True)
    # Among equally frequent inputs the last one written wins: the most frequent word.
    order = np.lexsort((-(pairs % size), often))
    guess, times = np.zeros(size, np.int32), np.zeros(size, np.int64)
    guess[pairs[order] // size] = pairs[order] % size
    times[pairs[order] // size] = often[order]
    return guess, times


def _guesses_by_distance(
    vectors: Singles,
    prior: Floats,
    outputs: Ids,
    typical: float,
    options: tuple[tuple[float, int], ...],
) -> Ids:
    """Return argmax_x ln prior(x) - s d(x, y)^p for each output: (options, n)."""
    distinct, which = np.unique(outputs, return_inverse=True)
    log_prior = _logs(prior)
    guess = np.zeros((len(options), len(distinct)), np.int32)
    for begin in range(0, len(distinct), _OUTPUTS):
        points = vectors[distinct[begin : begin + _OUTPUTS]]
        rows = np.arange(len(points))
        guesses = guess[:, begin : begin + _OUTPUTS]
        best = np.full(guesses.shape, -np.inf, np.float32)
        for start in range(0, len(log_prior), _WORDS):
            positions = vectors[start : min(start + _WORDS, len(log_prior))]
            # |x - y|^2 = |x|^2 - 2 <x, y> + |y|^2, which may round to less than 0. One
            # matrix of distances serves all options.
            squared = points @ (positions.T * np.float32(-2.0))
            squared += np.einsum("md,md->m", positions, positions)
            squared += np.einsum("nd,nd->n", points, points)[:, None]
            np.maximum(squared, 0.0, out=squared)
            powers = {1: np.sqrt(squared), 2: squared}
            for number, (sharp, power) in enumerate(options):
                score = powers[power] * np.float32(-sharp / typical**power)
                score += log_prior[start : start + len(positions)]
                _improve(
                    score, rows, best=best[number], guess=guesses[number], first=start
                )
    return guess[:, which]


def _logs(prior: Floats) -> Singles:
    with np.errstate(divide="ignore"):
        return np.log(prior).astype(np.float32)


def _improve(score: Singles, rows: Ints, best: Singles, guess: Ids, first: int) -> None:
    """Update best (n,) and guess (n,) with scores (n, w) of words from `first` on."""
    top = score.argmax(axis=1)
    value = score[rows, top]
    better = value > best
    best[better] = value[better]
    guess[better] = first + top[better]


@dataclass(frozen=True, slots=True)
class SampledGames:
    """Words drawn from the prior, (n,), and the random bits for their noise."""

    ids: Ids
    bits: RandomBits

    def take(self, positions: Ints) -> SampledGames:
        """Return the games at these positions, with the same bits."""
        return SampledGames(self.ids[positions], self.bits.take(positions))


def sampled_games(prior: Floats, count: int, name: str) -> SampledGames:
    """Draw words from the prior with public randomness; `name` selects the sample."""
    alone = np.zeros(count, np.int64)

    def public_bits(purpose: str) -> RandomBits:
        public = Randomness(RunKey.from_seed(0), f"ruler/{name}/{purpose}")
        return public.bits([bytes(16)], alone)

    steps = np.cumsum(prior)
    target = public_bits("words").uniform(0)[:, 0] * steps[-1]
    ids = np.searchsorted(steps, target, side="right")
    last = np.flatnonzero(prior)[-1]
    return SampledGames(np.minimum(ids, last).astype(np.int32), public_bits("noise"))


def frequency_bands(size: int) -> list[tuple[int, int]]:
    """Return the start and end of each frequency band in a vocabulary of V words."""
    return list(pairwise([0, *(edge for edge in _EDGES if edge < size), size]))


def wins_of_points(
    mechanism: Mechanism, epsilon: float, prior: Floats, sample: SampledGames
) -> Wins:
    """Return for each game whether the best guess from the vector wins: (2, n).

    The second row is for an attacker who knows the frequency band of the word. Ties
    count as right, so that the share of wins is an upper limit.
    """
    won = np.empty((2, len(sample.ids)), np.bool_)
    firsts = [first for first, _ in frequency_bands(len(prior))]
    for begin in range(0, len(sample.ids), _POINTS):
        part = np.arange(begin, min(begin + _POINTS, len(sample.ids)))
        ids, eps = sample.ids[part], np.full(len(part), float(epsilon))
        points = mechanism.observe(ids, eps, sample.bits.take(part))
        best, guess, itself = _scores(mechanism, prior, ids=ids, eps=eps, points=points)
        rows = np.arange(len(part))
        band_of_word = np.searchsorted(firsts, ids, side="right") - 1
        for number, band in enumerate((best.argmax(axis=0), band_of_word)):
            guesses = guess[band, rows]
            right: Wins = guesses == ids
            # Rounding in single precision must not turn a win into a loss.
            for row in np.flatnonzero(~right & (best[band, rows] - itself < _DOUBT)):
                words = np.array([ids[row], guesses[row]], np.int32)
                point = points[row : row + 1].astype(np.float64)
                exact = mechanism.log_density(point, eps[row : row + 1], words)[0]
                exact = exact + np.log(prior[words])
                right[row] = exact[0] >= exact[1]
            won[number, part] = right
    return won


def _scores(
    mechanism: Mechanism, prior: Floats, ids: Ids, eps: Eps, points: Vectors
) -> tuple[Singles, Ids, Singles]:
    """Return each band's best score and word, (b, n) each, and the input's score."""
    log_prior, bands = _logs(prior), frequency_bands(len(prior))
    best = np.full((len(bands), len(ids)), -np.inf, np.float32)
    guess = np.full((len(bands), len(ids)), -1, np.int32)
    itself = np.empty(len(ids), np.float32)
    rows = np.arange(len(ids))
    tiles = [
        (number, np.arange(start, min(start + _WORDS_OF_POINTS, last), dtype=np.int32))
        for number, (first, last) in enumerate(bands)
        for start in range(first, last, _WORDS_OF_POINTS)
    ]
    for number, words in tiles:
        score = mechanism.log_density(points, eps, words)
        score += log_prior[words]
        _improve(
            score, rows, best=best[number], guess=guess[number], first=int(words[0])
        )
        here = np.flatnonzero((ids >= words[0]) & (ids <= words[-1]))
        itself[here] = score[here, ids[here] - words[0]]
    return best, guess, itself


def limits_of_wins(wins: Wins) -> tuple[float, float]:
    """Return limits of a success rate, each wrong with half the stated rate."""
    return limits_from_counts(int(wins.sum()), len(wins))


@lru_cache(maxsize=1024)
def limits_from_counts(won: int, played: int) -> tuple[float, float]:
    """Return confidence limits of a success rate from counts."""
    return binomial.limits(won, played, 1.0 - CONFIDENCE)


def play(
    mechanism: Mechanism,
    epsilon: float,
    prior: Floats,
    draw: Drawing | None,
    draws: int = DRAWS,
) -> cache.Arrays:
    """Play the test games; draw runs mechanism and mapping.

    Returns "won" (2, n), whether the best guess from the noisy vector is right, without
    and with knowledge of the band, if the density is known; and "right" (n,), whether
    the rule's guess from the output is, if draw is given.
    """
    played: dict[str, Mask] = {}
    if mechanism.has_log_density:
        played["won"] = measured_wins(mechanism, epsilon, prior, draws)
    if draw is not None:
        sample = sampled_games(prior, draws, "test")
        vectors = mechanism.space.vectors
        played["right"] = wins_of_rule(
            vectors, epsilon, prior=prior, draw=draw, test=sample
        )
    return played


def holds(
    played: cache.Arrays, mechanism: Mechanism, epsilon: float, prior: Floats
) -> bool:
    """Return whether a random part of cached games gives the same results again."""
    won, right = played.get("won"), played.get("right")
    if right is not None and right.shape != (DRAWS,):
        return False
    if won is None:
        return not mechanism.has_log_density
    some = np.random.default_rng().choice(DRAWS, _REPLAYED, replace=False)
    sample = sampled_games(prior, DRAWS, "test").take(some)
    again = wins_of_points(mechanism, epsilon, prior, sample)
    return bool(won.shape == (2, DRAWS) and (won[:, some] == again).all())


def limits(
    played: cache.Arrays, prior: Floats
) -> tuple[float, float, str, list[tuple[float, float]]]:
    """Bound the success of the best attack on the output.

    Returns low, high, the method, and (success, success_band_known) of each band.
    Without a rule, the lower limit is the share of the most frequent word; without an
    upper limit high is 1 and no band is measured.
    """
    low, high = float(prior.max()), 1.0
    measured: list[tuple[float, float]] = []
    methods, draws = [], DRAWS
    won, right = played.get("won"), played.get("right")
    if won is None:
        methods.append("no upper limit is known, so 100% stands for it")
    else:
        high, draws = limits_of_wins(won[0])[1], won.shape[1]
        ids = sampled_games(prior, draws, "test").ids
        for begin, end in frequency_bands(len(prior)):
            inside = (ids >= begin) & (ids < end)
            most = [limits_of_wins(w[inside])[1] if inside.any() else 1.0 for w in won]
            measured.append((most[0], most[1]))
        methods.append("at most that of an attacker who sees the noisy vector")
    if right is not None:
        low = max(low, limits_of_wins(right)[0])
        methods.append("at least that of a guess from the output by a fixed rule")
    head = f"sampled, {draws:,} draws, {CONFIDENCE:.0%} confidence: "
    return low, high, head + "; ".join(methods), measured


def measured_wins(
    mechanism: Mechanism, epsilon: float, prior: Floats, draws: int = DRAWS
) -> Wins:
    """Return `wins_of_points` for the draws that measure a risk.

    The last results are cached in memory: a search tries an epsilon just before it is
    measured.
    """
    key = cache.key_of(*mechanism.identity, cache.digest(prior), epsilon, draws)
    if key not in _tested:
        while len(_tested) >= _KEPT:
            _tested.pop(next(iter(_tested)))
        sample = sampled_games(prior, draws, "test")
        _tested[key] = wins_of_points(mechanism, epsilon, prior, sample)
    return _tested[key]
