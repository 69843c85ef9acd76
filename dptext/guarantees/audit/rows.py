"""Exact laws of chosen inputs over all outputs: every ordered pair of the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.finding import Finding, Tally, published_loss
from dptext.mechanisms import Mechanism
from dptext.types import Eps, Ids

_SEED = 1
Bounds = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def audit(mechanism: Mechanism, epsilon: float, count: int) -> Finding:
    """Audit every ordered pair of about count inputs; all of V where it is as small."""
    inputs = chosen(mechanism, count)
    eps: Eps = np.full(len(inputs), epsilon)
    log_probs = mechanism.log_probs(inputs, eps)
    tally = Tally()

    def stated(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64] | None:
        return published_loss(mechanism, epsilon, a, b)

    compare(
        log_probs,
        inputs,
        lambda a, b: mechanism.claimed_loss(a, b, epsilon),
        stated,
        tally,
    )
    return tally.finding(
        mechanism, epsilon, "exact: chosen inputs, all outputs", len(inputs)
    )


def compare(
    log_probs: NDArray[np.float64],
    inputs: NDArray[Any],
    claim: Bounds,
    stated: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64] | None] | None,
    tally: Tally,
) -> None:
    """Take the losses of all pairs of rows of log-probabilities (n, V).

    An output that has no chance from one of two inputs is found by supports first: the
    loss is infinite, and no difference of two infinities is looked at.
    """
    possible = np.isfinite(log_probs)
    full = bool(possible.all())
    every = np.arange(len(inputs))
    for row in every:
        others = every[every != row]
        if not len(others):
            break
        loss, output = _losses(log_probs, possible, full, int(row), others)
        mine = np.repeat(inputs[row], len(others))
        pair = mine, inputs[others]
        tally.take(*pair, loss, output, claim(*pair), stated(*pair) if stated else None)


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


def chosen(mechanism: Mechanism, count: int) -> Ids:
    """Choose inputs: the unknown word, frequent, random, rare and near words."""
    size = mechanism.space.size
    if size + 1 <= count:
        return np.append(np.arange(size), -1).astype(np.int32)
    rng = np.random.default_rng(_SEED)
    quarter = count // 4
    picked = [-1, *range(quarter), *rng.choice(size, quarter, replace=False).tolist()]
    near = mechanism.space.lexicon.orders[np.array(picked[: 2 * quarter]), 1]
    last = size - 1 - np.arange(count - 3 * quarter - 1)
    rows = np.concatenate((picked, near.astype(np.int64), last))
    return np.unique(rows).astype(np.int32)
