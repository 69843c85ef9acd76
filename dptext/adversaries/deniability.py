"""Plausible deniability: N_w and S_w, properties of the mechanism alone.

N_w = P(output is the word itself); S_w = distinct outputs in 100 runs. Exact for a
mechanism that gives its law: E[S_w] = sum over y of 1 - (1 - P(y|w))^100. Otherwise 25
words are run 100 times, as in the comparative analysis. The 25 words stand evenly in
the order of frequency on a logarithmic scale, so that they are public and the same each
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import Channel
from dptext.types import Ids

_RUNS = 100
_WORDS = 25


def measure(
    channel: Channel, epsilon: float, draw: Callable[[Ids], Ids]
) -> dict[str, Any]:
    """Return N_w and S_w at an epsilon, with the method.

    draw runs mechanism and mapping once for each id given: for noise mechanisms.
    """
    size = channel.space.size
    words = np.unique(np.geomspace(1, size, min(_WORDS, size)).astype(np.int32) - 1)
    if not channel.exact:
        drawn = draw(np.repeat(words, _RUNS)).reshape(len(words), _RUNS)
        own = (drawn == words[:, None]).mean(axis=1)
        distinct = np.array([float(len(np.unique(row))) for row in drawn])
        method = f"sampled: {len(words)} words x {_RUNS} runs"
    else:
        law = exact_law(channel, words, epsilon)
        own = law[np.arange(len(words)), words]
        missed = np.exp(_RUNS * np.log1p(-np.minimum(law, 1 - 1e-16)))
        distinct = (1.0 - missed).sum(axis=1)
        method = f"exact law of {len(words)} words, expectation over {_RUNS} runs"
    return {
        "n_w": float(own.mean()),
        "s_w": float(distinct.mean()),
        "sampled": not channel.exact,
        "method": method,
        "runs": _RUNS,
    }


def exact_law(channel: Channel, ids: Ids, epsilon: float) -> NDArray[np.float64]:
    """Return P(y|x) of a choice mechanism for some inputs: (n, V), rows sum to 1."""
    eps = np.full(len(ids), epsilon)
    law: NDArray[np.float64] = channel.module.log_weights(channel.state, ids, eps)
    law = np.exp(law - law.max(axis=1, keepdims=True))
    law /= law.sum(axis=1, keepdims=True)
    return law
