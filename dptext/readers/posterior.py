"""The posterior of each drawn word given all that is released: forward-backward.

p(x | y) ~ L(x) * product of P(y_i | x_i) over a chain between known contexts, for a
back-off bigram model L and the candidates of each word (Rabiner 1989, III A and B).
Chains lie side by side along the last axis, so that every sum over candidates is made
in one fixed order, and no grouping of chains and no machine changes a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.readers.lattice import Chains
from dptext.readers.ngrams import decoded
from dptext.readers.steps import Steps
from dptext.readers.transitions import Gains

Floats = NDArray[np.float32]


class Words(NamedTuple):
    """The c candidates of n drawn words, as a reader weighs them.

    slots (c, n) of each candidate in the table of gains; weights (c, n), P(y|x) p(x) up
    to a factor for each word; backoff (c, n), b(x).
    """

    slots: NDArray[np.int64]
    weights: Floats
    backoff: Floats


def marginals(chains: Chains, words: Words, gains: Gains) -> Floats:
    """Return the posterior probability of each candidate: (c, n), columns sum to 1."""
    posterior = np.empty_like(words.weights)
    for block in chains.blocks():
        weights, backoff = (
            each[:, block.words] for each in (words.weights, words.backoff)
        )
        steps = Steps(chains, words.slots[:, block.words], gains, block)
        forward = np.empty_like(weights)
        first = block.steps[0]
        forward[:, first] = _scaled(decoded(steps.begun) * weights[:, first])
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = decoded(codes)
            into *= (forward[:, earlier] * backoff[:, earlier])[:, None, :]
            forward[:, now] = _scaled(into.sum(axis=0) * weights[:, now])
        backward = np.ones_like(weights)
        backward[:, steps.last] = decoded(steps.ended) * backoff[:, steps.last]
        for (earlier, now), codes in zip(
            reversed(steps.pairs), reversed(steps.codes), strict=True
        ):
            out = decoded(codes)
            out *= (backward[:, now] * weights[:, now])[None, :, :]
            ahead = out.sum(axis=1) * backoff[:, earlier]
            backward[:, earlier] = _scaled(ahead)
        forward *= backward
        forward /= forward.sum(axis=0)
        posterior[:, block.words] = forward
    return posterior


def _scaled(weights: Floats) -> Floats:
    """Divide columns by their largest entry, so that long chains stay in range."""
    return np.asarray(weights / weights.max(axis=0))
