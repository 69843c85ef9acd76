"""Exact output distributions of chosen inputs: every ordered pair of the inputs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.finding import Finding
from dptext.guarantees.audit.inputs import chosen
from dptext.guarantees.audit.tally import Tally
from dptext.mechanisms import Mechanism
from dptext.types import Ids


def audit(mechanism: Mechanism, epsilon: float, count: int) -> Finding:
    """Audit every ordered pair of about count inputs; all of V where it is as small."""
    inputs = chosen(mechanism, count)
    log_probs = mechanism.log_probs(inputs, np.full(len(inputs), epsilon))
    tally = Tally(mechanism, epsilon)
    compare(log_probs, inputs, tally)
    return tally.finding("exact: chosen inputs, all outputs", len(inputs))


def compare(
    log_probs: NDArray[np.float64],
    inputs: Ids,
    tally: Tally,
    bound: float | None = None,
) -> None:
    """Take the losses of all pairs of rows of log-probabilities (n, V).

    bound: that of all pairs, where it is other than the mechanism's for two words.
    An output that has no chance from one of two inputs is found by supports first: the
    loss is infinite, and no difference of two infinities is looked at.
    """
    if len(inputs) < 2:
        return
    possible = np.isfinite(log_probs)
    full = bool(possible.all())
    every = np.arange(len(inputs))
    claim = None if bound is None else np.full(len(inputs) - 1, bound)
    for row in every.tolist():
        others = every[every != row]
        loss, output = _losses(log_probs, possible, full, row, others)
        pair = np.repeat(inputs[row], len(others)), inputs[others]
        tally.take(*pair, loss, output, claim)


def _losses(
    log_probs: NDArray[np.float64],
    possible: NDArray[np.bool_],
    full: bool,
    row: int,
    others: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the losses of a row against others and the outputs that show them."""
    if full:
        gaps = log_probs[row] - log_probs[others]
        output = gaps.argmax(axis=1)
        return gaps[np.arange(len(others)), output], output
    mine = np.flatnonzero(possible[row])
    missing = ~possible[np.ix_(others, mine)]
    output = mine[missing.argmax(axis=1)]
    loss = np.full(len(others), math.inf)
    shared = np.flatnonzero(~missing.any(axis=1))
    if len(shared):
        gaps = log_probs[row, mine] - log_probs[np.ix_(others[shared], mine)]
        best = gaps.argmax(axis=1)
        output[shared] = mine[best]
        loss[shared] = gaps[np.arange(len(shared)), best]
    return loss, output
