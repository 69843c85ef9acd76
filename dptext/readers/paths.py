"""The text of the largest score among candidates (Viterbi 1967).

Scores are logarithms in whole numbers, so that every sum is exact, and no grouping of
chains, no machine and no library changes which text is the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.readers.lattice import Chains
from dptext.readers.ngrams import decoded
from dptext.readers.steps import Codes, Steps
from dptext.readers.transitions import Gains

Scores = NDArray[np.int32]
# One nat; and the lowest score, which loses against any other.
NAT = 2**16
NEVER = -(2**28)


class Candidates(NamedTuple):
    """The c candidates of n drawn words, as a path weighs them, in parts of a nat.

    slots (c, n) of each candidate in the table of gains; scores (c, n) of the words by
    themselves; backoff (c, n), ln b(x).
    """

    slots: NDArray[np.int64]
    scores: Scores
    backoff: Scores


def scores_of(logs: NDArray[np.floating]) -> Scores:
    """Return logarithms as scores; what is far below is NEVER."""
    scores = np.rint(np.maximum(logs * float(NAT), float(NEVER)))
    return np.asarray(scores, np.int32)


# ln g by its code, read as a number without sign.
_LOGS = scores_of(np.log(decoded(np.arange(256).astype(np.int8)).astype(np.float64)))


def best_path(
    chains: Chains, candidates: Candidates, gains: Gains
) -> NDArray[np.int64]:
    """Return the candidate of each word on the path of the largest score: (n,)."""
    chosen = np.empty(candidates.scores.shape[1], np.int64)
    for block in chains.blocks():
        backoff = candidates.backoff[:, block.words]
        steps = Steps(chains, candidates.slots[:, block.words], gains, block)
        best = candidates.scores[:, block.words]
        origins = np.empty(best.shape, np.int64)
        first = block.steps[0]
        best[:, first] += _logs(steps.begun)
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = _logs(codes)
            into += (best[:, earlier] + backoff[:, earlier])[:, None, :]
            origins[:, now] = into.argmax(axis=0)
            best[:, now] += into.max(axis=0)
            # Long chains stay in range; a word without any way in is never chosen.
            best[:, now] -= best[:, now].max(axis=0)
            np.maximum(best[:, now], NEVER, out=best[:, now])
        ends = best.copy()
        ends[:, steps.last] += _logs(steps.ended) + backoff[:, steps.last]
        columns = ends.argmax(axis=0)
        for earlier, now in reversed(steps.pairs):
            here = np.arange(now.start, now.stop)
            columns[earlier] = origins[columns[now], here]
        chosen[block.words] = columns
    return chosen


def _logs(codes: Codes) -> Scores:
    """Return ln g of codes."""
    return _LOGS.take(codes.view(np.uint8))
