"""The Bayes risk of an exponential distribution over distances, in seconds.

With c(x) = prior(x) / Z(x), Z from `sums`, the words x are tried by falling c: a word
outside the list of y is at least far(y) away, so that y is done once c of the next word
times exp(-rate far(y)) is no more than its best so far. That and the words listed for y
give the maximum itself: nothing is left out, and all that counts is float64.
Source: docs/guarantees.md, 6; the bound on the words not listed is that of
dptext.exponential.sampling.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.exponential import sums, tiles
from dptext.exponential.distribution import Weights
from dptext.exponential.tiles import Product
from dptext.mechanisms import Bands

# Words tried together, and outputs whose lists are looked at together.
_BLOCK, _LISTED = 128, 4096
# Bounds on distances are single precision: this much less is surely below.
_BELOW = 1.0 - 1e-6


def best_guesses(
    weights: Weights, prior: NDArray[np.float64], bands: Bands
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V), kept."""
    kept = weights.distribution.kept
    key = (weights.epsilon, hash(prior.tobytes()), tuple(bands))
    if key not in kept:
        kept[key] = _search(weights, prior / sums.of_all_words(weights), bands)
    return kept[key].copy()


def _search(
    weights: Weights, worth: NDArray[np.float64], bands: Bands
) -> NDArray[np.float64]:
    best = np.zeros((len(bands), weights.size))
    for row, (begin, end) in enumerate(bands):
        # A word is at distance 0 of itself, and words of other bands are worth nothing.
        best[row, begin:end] = worth[begin:end]
        inside = best[row].copy()
        if inside.any():
            _try_listed(weights, inside, best[row])
            _try_others(weights, inside, best[row])
    return best


def _try_listed(
    weights: Weights, worth: NDArray[np.float64], best: NDArray[np.float64]
) -> None:
    """Try the words listed for each y."""
    listed = weights.distribution.lists.listed
    for start in range(0, weights.size, _LISTED):
        block = listed[start : min(start + _LISTED, weights.size)]
        hopeful = worth[block] > best[start : start + len(block), None]
        outputs, positions = np.nonzero(hopeful)
        inputs = block[outputs, positions].astype(np.int64)
        outputs += start
        value = worth[inputs] * weights.of_pairs(inputs, outputs)
        np.maximum.at(best, outputs, value)


def _try_others(
    weights: Weights, worth: NDArray[np.float64], best: NDArray[np.float64]
) -> None:
    """Try all words by falling worth, until no y can gain by one."""
    order = np.argsort(-worth, kind="stable")
    # With all of V listed nothing is far; infinity is no number to reckon with.
    far = np.minimum(weights.distribution.lists.far[: weights.size] * _BELOW, 1e150)
    slowest = float(weights.rate[worth > 0.0].min())
    most = np.exp(-slowest * weights.measure(far))
    outputs = np.arange(weights.size)
    product = Product.of(weights.space, outputs)
    for start in range(0, len(order), _BLOCK):
        left = worth[order[start]] * most[outputs] > best[outputs]
        if not left.any():
            return
        if left.mean() < 0.75:
            outputs = outputs[left]
            product = Product.of(weights.space, outputs)
        inputs = order[start : start + _BLOCK]
        for first in range(0, len(outputs), tiles.COLUMNS):
            part = slice(first, first + tiles.COLUMNS)
            joint = weights.measure(product.distances(inputs, part))
            joint *= -weights.rate[inputs][:, None]
            np.exp(joint, out=joint)
            joint *= worth[inputs][:, None]
            words = outputs[part]
            best[words] = np.maximum(best[words], joint.max(axis=0))
