"""The inverse of rank: for each output the inputs that it is likeliest drawn for.

An input that does not list y gives it the weight 1, so that of these only the first by
prior(x) / Z(x) can be among the likeliest; the others are those that list y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms._likeliest import Likeliest
from dptext.types import Eps, Ids

if TYPE_CHECKING:
    from dptext.mechanisms.rank import Rank


def likeliest(
    rank: Rank, prior: NDArray[np.float64], eps: Eps, count: int
) -> tuple[Ids, NDArray[np.float64]]:
    """Return rows (V, c) and ln P(y|x), as `Mechanism.likeliest_inputs` says."""
    count = min(count, len(prior))
    values, which = np.unique(eps, return_inverse=True)
    weights, totals = rank.weights(values)
    with np.errstate(divide="ignore"):
        worth = np.log(prior) - np.log(totals)[which]
    first = np.argsort(-worth, kind="stable")[:count]
    first = first[np.isfinite(worth[first])]
    inputs = Likeliest(rank.space.size, count)
    least = worth[first[-1]] if len(first) == count else -np.inf
    listed = np.zeros((len(first), rank.outputs), bool)
    index = np.full(len(prior), -1)
    index[first] = np.arange(len(first))
    for position in range(rank.listed):
        logs = np.log(weights[which, position])
        # Who is worth no more than the last of the first cannot be among the best.
        rows = np.flatnonzero((worth + logs > least) | (index >= 0))
        rows = rows[np.isfinite(worth[rows])]
        outputs = rank.orders[rows, position].astype(np.int64)
        inside = index[rows] >= 0
        listed[index[rows[inside]], outputs[inside]] = True
        log_probs = logs[rows] - np.log(totals)[which[rows]]
        inputs.add_pairs(outputs, rows, worth[rows] + logs[rows], log_probs)
    at, outputs = np.nonzero(~listed)
    rows = first[at]
    inputs.add_pairs(outputs, rows, worth[rows], -np.log(totals)[which[rows]])
    return inputs.result()
