"""Bayes vulnerability: the success of the best possible guess of one word.

The attacker knows the mechanism, epsilon and the public unigram prior over V, sees one
output word y, and guesses argmax_x prior(x) P(y|x). Exact for every mechanism that
gives its law, between limits for the others (dptext.adversaries._sampled); the ruler by
which mechanisms are compared (docs/guarantees.md, 6).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache
from dptext.adversaries import _sampled
from dptext.mechanisms import Channel
from dptext.types import Eps

# Sums of probabilities may end a rounding error above 1.
Share = Annotated[float, Meta(ge=0.0, le=1.0 + 1e-9)]
# Words by descending frequency: the 100 most frequent, the next 900, the rest.
_EDGES = (100, 1000)
_NAMES = ("100 most frequent words", "next 900 words", "all other words")
LIMITS = (
    "The attacker has the public word frequencies and one output word, but no context: "
    "with a language model, several releases or knowledge of the text, an attacker can "
    "do better. A scale for comparison, not a guarantee."
)


@dataclass(frozen=True, slots=True)
class Band:
    """The attack on the words of one frequency band.

    share of running text; baseline, the best guess without the output by an attacker
    who knows the band; success, the share of the band's words that the best attacker on
    all words guesses; success_band_known, the success of an attacker who knows the
    band. In a sampled risk both are upper limits, for an attacker who sees the noisy
    vector, each with the confidence of the risk.
    """

    name: str
    words: Annotated[int, Meta(ge=0)]
    share: Share
    baseline: Share
    success: Share
    success_band_known: Share


@dataclass(frozen=True, slots=True)
class Risk:
    """The attack on a word drawn from the prior: before and after seeing the output.

    Where the law has no closed form the success lies between low and high with the
    confidence given, and success is high. They are null where it is exact.
    """

    baseline: Share
    success: Share
    bands: tuple[Band, ...]
    method: str = "exact"
    low: Share | None = None
    high: Share | None = None
    confidence: Share | None = None


def measure(
    channel: Channel,
    epsilon: float,
    prior: NDArray[np.float64],
    draw: _sampled.Drawing | None = None,
    mapping: object = None,
) -> Risk:
    """Return the Bayes vulnerability of a mechanism at an epsilon, exact or sampled.

    prior (V,) sums to 1 and is public, like all else here: the result is kept in the
    cache. draw (ids, eps, noise) -> ids runs mechanism and mapping, for the lower limit
    of a sampled risk; mapping is plain data that tells one mapping from another.
    """

    def compute() -> dict[str, Any]:
        if not channel.exact:
            return asdict(_sampled_risk(channel, epsilon, prior, draw))
        best = best_guesses(channel, prior, epsilon, len(prior))
        return asdict(_risk(prior, best))

    what: list[object] = ["bayes", 1, *channel.identity, cache.digest(prior), epsilon]
    if not channel.exact:
        what += [_sampled.DRAWS, draw is not None, mapping]
    found = cache.numbers(cache.key_of(*what), compute)
    bands = tuple(Band(**band) for band in found.pop("bands"))
    return Risk(bands=bands, **found)


def best_guesses(
    channel: Channel, prior: NDArray[np.float64], epsilon: float, inputs: int
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over each band's x < inputs: (bands, V).

    By the mechanism's own closed form where it has one, else row by row of its law.
    """
    closed = getattr(channel.module, "best_guesses", None)
    if closed is not None:
        found: NDArray[np.float64] = closed(
            channel.state, prior, epsilon, bands_of(len(prior))
        )
        return found
    return _by_rows(channel, prior, epsilon, inputs)


def bands_of(size: int) -> list[tuple[int, int]]:
    """Return begin and end of each frequency band that a vocabulary of V words has."""
    edges = [0, *(edge for edge in _EDGES if edge < size), size]
    return list(pairwise(edges))


def _by_rows(
    channel: Channel, prior: NDArray[np.float64], epsilon: float, inputs: int
) -> NDArray[np.float64]:
    module, state = channel.module, channel.state
    size = len(prior)
    bands = bands_of(size)
    best = np.zeros((len(bands), size))
    block = max(1, 2**20 // size)
    for number, (begin, end) in enumerate(bands):
        for start in range(begin, min(end, inputs), block):
            ids = np.arange(start, min(start + block, end, inputs), dtype=np.int32)
            eps: Eps = np.full(len(ids), epsilon)
            law = module.log_weights(state, ids, eps)
            law -= law.max(axis=1, keepdims=True)
            np.exp(law, out=law)
            law *= (prior[ids] / law.sum(axis=1))[:, None]
            np.maximum(best[number], law.max(axis=0), out=best[number])
    return best


def _sampled_risk(
    channel: Channel,
    epsilon: float,
    prior: NDArray[np.float64],
    draw: _sampled.Drawing | None,
) -> Risk:
    edges = bands_of(len(prior))
    found = _sampled.measure(channel, epsilon, prior, edges, draw)
    bands = [
        _band(prior, number, *measured) for number, measured in enumerate(found.bands)
    ]
    return Risk(
        baseline=float(prior.max()),
        success=found.high,
        bands=tuple(band for band in bands if band.share > 0.0),
        method=found.method,
        low=found.low,
        high=found.high,
        confidence=_sampled.CONFIDENCE,
    )


def _risk(prior: NDArray[np.float64], best: NDArray[np.float64]) -> Risk:
    guess = best.argmax(axis=0)
    top = best.max(axis=0)
    bands = []
    for number, (begin, end) in enumerate(bands_of(len(prior))):
        share = float(prior[begin:end].sum()) or 1.0
        right = float(top[guess == number].sum()) / share
        bands.append(_band(prior, number, right, float(best[number].sum()) / share))
    shown = tuple(band for band in bands if band.share > 0.0)
    return Risk(float(prior.max()), float(top.sum()), shown)


def _band(
    prior: NDArray[np.float64], number: int, success: float, known: float
) -> Band:
    """Describe the attack on a band; its share is 0 where nothing is replaced."""
    begin, end = bands_of(len(prior))[number]
    share = float(prior[begin:end].sum())
    return Band(
        name=_NAMES[number],
        words=end - begin,
        share=share,
        baseline=float(prior[begin:end].max()) / (share or 1.0),
        success=success,
        success_band_known=known,
    )
