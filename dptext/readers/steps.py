"""The gains of a block of chains, step by step, as codes: sums and maxima go over them.

Chains lie side by side along the last axis, so that every sum over candidates is made
in one fixed order, and no grouping of chains and no machine changes a bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.readers.lattice import Block, Chains
from dptext.readers.transitions import Gains

Codes = NDArray[np.int8]


class Steps:
    """What a block of m words needs of the table of gains; c candidates of each word.

    begun (c, chains): g of the first words of chains after their contexts; last (l,)
    where last words stand, and ended (c, l), g of what follows after them; pairs: for
    each step but the first, where the words before it and its words stand.
    """

    def __init__(
        self, chains: Chains, slots: NDArray[np.int64], gains: Gains, block: Block
    ) -> None:
        """Look up; slots (c, m) of candidates in the table, in the block's order."""
        first = block.steps[0]
        contexts = gains.slot_of[chains.before[block.words[first]]]
        self.begun = gains.of(contexts, slots[:, first])
        after = chains.after[block.words]
        self.last = np.flatnonzero(after >= 0)
        following = gains.slot_of[after[self.last]]
        self.ended = gains.of(slots[:, self.last], following)
        self.pairs = [
            (slice(begin, begin + now.stop - now.start), now)
            for begin, now in zip([0, *block.ends], block.steps[1:], strict=False)
        ]
        self.codes = [_looked_up(slots, gains, *pair) for pair in self.pairs]


def _looked_up(
    slots: NDArray[np.int64], gains: Gains, earlier: slice, now: slice
) -> Codes:
    """Return the codes of g of the candidates of neighbours: (c, c, chains)."""
    # Chain by chain, since what one context looks up lies together in the table.
    contexts = np.ascontiguousarray(slots[:, earlier].T)
    following = np.ascontiguousarray(slots[:, now].T)
    codes = gains.of(contexts[:, :, None], following[:, None, :])
    return np.ascontiguousarray(codes.transpose(1, 2, 0))
