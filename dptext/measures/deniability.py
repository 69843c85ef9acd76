"""Plausible deniability: N_w and S_w, properties of the mechanism alone.

N_w = P(output is the word itself); S_w = distinct outputs in 100 runs. Exact for a
mechanism that gives its output distribution: E[S_w] = sum over y of
1 - (1 - P(y|w))^100. Otherwise 25 words are run 100 times, as in the comparative
analysis. The 25 words stand evenly in the order of frequency on a logarithmic scale, so
that they are public and the same each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.measures.bayes_risk import Share
from dptext.mechanisms import Mechanism
from dptext.types import Ids

_RUNS = 100
_WORDS = 25


@dataclass(frozen=True, slots=True)
class Deniability:
    """N_w, P(a word is drawn as itself); S_w, distinct ones of `runs` draws; means.

    sampled, or else computed from the output distributions.
    """

    n_w: Share
    s_w: Annotated[float, Meta(ge=0)]
    runs: Annotated[int, Meta(ge=1)]
    sampled: bool
    method: str


def measure(
    mechanism: Mechanism, epsilon: float, draw: Callable[[Ids], Ids]
) -> Deniability:
    """Return N_w and S_w at an epsilon, with the method.

    draw runs mechanism and mapping once for each id given, where there is no exact
    output distribution.
    """
    size = mechanism.space.size
    words = np.unique(np.geomspace(1, size, min(_WORDS, size)).astype(np.int32) - 1)
    if mechanism.has_log_probs:
        chances = mechanism.probs(words, epsilon)
        same = chances[np.arange(len(words)), words]
        missed = np.exp(_RUNS * np.log1p(-np.minimum(chances, 1 - 1e-16)))
        distinct = (1.0 - missed).sum(axis=1)
        method = (
            f"exact output distributions of {len(words)} words, expectation over "
            f"{_RUNS} runs"
        )
    else:
        drawn = draw(np.repeat(words, _RUNS)).reshape(len(words), _RUNS)
        same = (drawn == words[:, None]).mean(axis=1)
        distinct = np.array([float(len(np.unique(row))) for row in drawn])
        method = f"sampled: {len(words)} words x {_RUNS} runs"
    return Deniability(
        float(same.mean()),
        float(distinct.mean()),
        _RUNS,
        not mechanism.has_log_probs,
        method,
    )
