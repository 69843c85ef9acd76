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

from dptext.readers.lattice import Block, Chains
from dptext.readers.ngrams import decoded
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
        lattice = _Lattice(chains, words, gains, block)
        steps = block.steps
        forward = np.empty_like(lattice.weights)
        forward[:, steps[0]] = _scaled(lattice.begun)
        for step, (earlier, now) in enumerate(lattice.pairs):
            into = lattice.gains_of(step)
            into *= (forward[:, earlier] * lattice.backoff[:, earlier])[:, None, :]
            forward[:, now] = _scaled(into.sum(axis=0) * lattice.weights[:, now])
        backward = lattice.ended
        for step, (earlier, now) in reversed(list(enumerate(lattice.pairs))):
            out = lattice.gains_of(step)
            out *= (backward[:, now] * lattice.weights[:, now])[None, :, :]
            ahead = out.sum(axis=1) * lattice.backoff[:, earlier]
            backward[:, earlier] = _scaled(ahead)
        forward *= backward
        forward /= forward.sum(axis=0)
        posterior[:, block.words] = forward
    return posterior


def best_path(chains: Chains, words: Words, gains: Gains) -> NDArray[np.int64]:
    """Return the candidate of each word on the likeliest path: (n,) (Viterbi 1967)."""
    chosen = np.empty(words.weights.shape[1], np.int64)
    for block in chains.blocks():
        lattice = _Lattice(chains, words, gains, block)
        best = np.empty_like(lattice.weights)
        origins = np.empty(best.shape, np.int64)
        best[:, block.steps[0]] = _scaled(lattice.begun)
        for step, (earlier, now) in enumerate(lattice.pairs):
            into = lattice.gains_of(step)
            into *= (best[:, earlier] * lattice.backoff[:, earlier])[:, None, :]
            origins[:, now] = into.argmax(axis=0)
            best[:, now] = _scaled(into.max(axis=0) * lattice.weights[:, now])
        candidates = (best * lattice.ended).argmax(axis=0)
        for earlier, now in reversed(lattice.pairs):
            columns = np.arange(now.start, now.stop)
            candidates[earlier] = origins[candidates[now], columns]
        chosen[block.words] = candidates
    return chosen


class _Lattice:
    """What a block needs of its words, in the block's order.

    begun (c, chains): weights of first words after their contexts; ended (c, m): b(x)
    g(x, what follows) of last words of chains, 1 elsewhere; pairs: for each step but
    the first, where the words before it and its words stand.
    """

    def __init__(
        self, chains: Chains, words: Words, gains: Gains, block: Block
    ) -> None:
        self._gains = gains
        self._slots = words.slots[:, block.words]
        self.weights = words.weights[:, block.words]
        self.backoff = words.backoff[:, block.words]
        first = block.steps[0]
        contexts = gains.slot_of[chains.before[block.words[first]]]
        self.begun = decoded(gains.of(contexts, self._slots[:, first]))
        self.begun *= self.weights[:, first]
        self.ended = np.ones_like(self.weights)
        after = chains.after[block.words]
        last = np.flatnonzero(after >= 0)
        following = gains.slot_of[after[last]]
        self.ended[:, last] = decoded(gains.of(self._slots[:, last], following))
        self.ended[:, last] *= self.backoff[:, last]
        self.pairs = [
            (slice(begin, begin + now.stop - now.start), now)
            for begin, now in zip([0, *block.ends], block.steps[1:], strict=False)
        ]
        self._codes = [self._looked_up(*pair) for pair in self.pairs]

    def gains_of(self, step: int) -> Floats:
        """Return g of the candidates of the words of a step, and of those before."""
        return decoded(self._codes[step])

    def _looked_up(self, earlier: slice, now: slice) -> NDArray[np.int8]:
        """Return the codes of g of the candidates of neighbours: (c, c, chains)."""
        # Chain by chain, since what one context looks up lies together in the table.
        contexts = np.ascontiguousarray(self._slots[:, earlier].T)
        following = np.ascontiguousarray(self._slots[:, now].T)
        codes = self._gains.of(contexts[:, :, None], following[:, None, :])
        return np.ascontiguousarray(codes.transpose(1, 2, 0))


def _scaled(weights: Floats) -> Floats:
    """Divide columns by their largest entry, so that long chains stay in range."""
    return np.asarray(weights / weights.max(axis=0))
