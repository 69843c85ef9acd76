"""Figures of a release measured on public words or texts, with public randomness.

Distortion of distances and inner products as in PrivEmb's experiments 1 and 2 (100 x
100 pairs), lengths of the noise, and a ruler: how often the nearest public word or text
to a released vector is the original.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext import noise
from dptext.guarantees import binomial
from dptext.measures import bayes_risk
from dptext.mechanisms.privemb import PrivEmb
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.types import Ids
from dptext.vectors import Distortion, Measures, Pool, Ruler
from dptext.vectors.release import VectorRelease

_PAIRS, _LENGTHS, _PLAYS, _CONFIDENCE = 100, 4096, 2000, 0.95
_TILE = 2048
Wide = NDArray[np.float64]


def of(release: VectorRelease) -> Measures:
    """Measure a release."""
    drawn = _released(release, np.zeros(_LENGTHS, np.int32), "lengths")
    drawn -= release.mechanism.output_vectors[0]
    low, middle, high = np.quantile(np.linalg.norm(drawn, axis=1), (0.05, 0.5, 0.95))
    lengths = float(low), float(middle), float(high)
    return Measures(_distortion(release), lengths, _ruler(release))


def _bits(count: int, purpose: str) -> RandomBits:
    public = Randomness(RunKey.from_seed(0), f"embed/{purpose}")
    return public.of([bytes(16)], np.zeros(count, np.int64))


def _released(release: VectorRelease, rows: NDArray[np.integer], purpose: str) -> Wide:
    """Release rows of the public table, each as it lies before noise."""
    bits, mechanism = _bits(len(rows), purpose), release.mechanism
    table, epsilon = mechanism.output_vectors, release.epsilon
    out = [
        mechanism.release(table[rows[part]], epsilon, bits.take(part))
        for part in _parts(len(rows))
    ]
    return np.concatenate(out).astype(np.float64)


def _parts(count: int) -> list[NDArray[np.int64]]:
    return np.split(np.arange(count), range(_TILE, count, _TILE))


def _distortion(release: VectorRelease) -> Distortion:
    mechanism = release.mechanism
    uniform = _bits(2 * _PAIRS, "pairs").integers(0)[:, 0]
    rows = RandomBits.below(uniform, len(release.lexicon.words))
    # Before any clipping or projection.
    public = mechanism.measured if isinstance(mechanism, PrivEmb) else mechanism.space
    before = np.asarray(public.vectors[rows], np.float64)
    after = _released(release, rows, "pairs noise")
    one, other = slice(None, _PAIRS), slice(_PAIRS, None)
    true, noisy_distances = (
        np.sqrt(noise.squared_distances(each[one], each[other]).astype(np.float64))
        for each in (before, after)
    )
    product, noisy = (each[one] @ each[other].T for each in (before, after))
    width, variance = release.dimensions, mechanism.spread(release.epsilon) ** 2
    added = 2.0 * width * variance
    corrected = np.sqrt(np.maximum(noisy_distances**2 - added, 0.0))
    lengths = np.einsum("nd,nd->n", before, before)
    spread = variance * (lengths[one, None] + lengths[None, other])
    return Distortion(
        pairs=_PAIRS**2,
        distance=float(true.mean()),
        expected_distance=float(np.sqrt(true**2 + added).mean()),
        distance_error=float(np.abs(noisy_distances - true).mean()),
        corrected_error=float(np.abs(corrected - true).mean()),
        product=float(np.abs(product).mean()),
        expected_product_error=float(np.sqrt(spread + width * variance**2).mean()),
        product_error=float(np.abs(noisy - product).mean()),
    )


def _ruler(release: VectorRelease) -> Ruler:
    """Play: a word drawn by its frequency, or a public text, and guesses of it."""
    mechanism, words = release.mechanism, release.lexicon
    size = len(words.words)
    if release.pool is Pool.SENTENCE:
        weights = np.full(size, 1.0 / size)
    else:
        weights = bayes_risk.replaced(words, release.settings.recipe.tokens)
    steps = np.cumsum(weights)
    target = _bits(_PLAYS, "plays").uniform(0)[:, 0] * steps[-1]
    rows = np.minimum(np.searchsorted(steps, target, side="right"), size - 1)
    rows = rows.astype(np.int32)
    points = _released(release, rows, "plays noise").astype(np.float32)
    table = mechanism.output_vectors
    guesses = [
        _best(points, size, lambda x: -noise.squared_distances(points, table[x]))
    ]
    if mechanism.has_log_density:
        eps = np.full(len(points), release.epsilon)
        with np.errstate(divide="ignore"):
            worth = np.log(weights).astype(np.float32)

        def likelihood(x: Ids) -> NDArray[np.floating]:
            return np.asarray(mechanism.log_density(points, eps, x) + worth[x])

        guesses.append(_best(points, size, likelihood))
    won = [int((guess == rows).sum()) for guess in guesses]
    of = "words of the vocabulary"
    if release.pool is not Pool.WORD:
        of += ", as texts of one word"
    if release.pool is Pool.SENTENCE:
        named = release.settings.options.public
        of = "public texts" if named else "frequent words, as texts of one word"
    low, high = binomial.limits(max(won), _PLAYS, 1.0 - _CONFIDENCE)
    return Ruler(
        of=of,
        choices=size,
        draws=_PLAYS,
        baseline=float(weights.max()),
        nearest=won[0] / _PLAYS,
        best=won[1] / _PLAYS if len(won) > 1 else None,
        low=low,
        high=high,
    )


def _best(
    points: NDArray[np.float32], size: int, score: Callable[[Ids], NDArray[np.floating]]
) -> Ids:
    """Return the row with the largest score for each point: (n,)."""
    best = np.full(len(points), -math.inf)
    guess = np.full(len(points), -1, np.int32)
    for part in _parts(size):
        scores = score(part.astype(np.int32))
        top = scores.argmax(axis=1)
        value = scores[np.arange(len(points)), top]
        better = value > best
        best[better], guess[better] = value[better], part[top[better]]
    return guess
