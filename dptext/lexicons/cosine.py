"""Orders by cosine, of the most frequent words: which of them stand best for each word.

How well y stands for x: their cosine, less how near y is to everybody (hubness; Dinu,
Lazaridou and Baroni 2015, arXiv:1412.6568), less what y is rarer than x. Nothing but
vectors and counts is asked, so this serves any language.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.orders import unit
from dptext.lexicons.search import Progress, in_blocks, silent
from dptext.lexicons.standing import ROWS, Scoring


def orders(
    vectors: NDArray[np.floating],
    counts: NDArray[np.float64],
    outputs: int,
    listed: int,
    barred: Sequence[int] = (),
    progress: Progress = silent,
) -> NDArray[np.integer]:
    """Return for each word itself, then the outputs that stand best: (V + 1, listed).

    vectors (V + 1, d), the last row for unknown words, whose order is of outputs alone;
    counts (V,) descending; only the first `outputs` words are listed, none of them
    barred. listed <= outputs - len(barred). uint16 where V < 65536, else uint32. Equals
    stand by id.
    """
    size = len(counts)
    orders_of_rows = np.empty(
        (size + 1, listed), np.uint16 if size < 2**16 else np.uint32
    )
    scoring = Scoring(vectors, np.log(counts), outputs, barred)

    def work(block: slice) -> None:
        rows = np.arange(block.start, block.stop)
        points = unit(vectors[block])
        few = max(0, min(outputs, block.stop) - block.start)
        others = np.empty((len(rows), listed), np.intp)
        others[:few] = scoring.of_outputs(points[:few], rows[:few], listed)
        others[few:] = scoring.of_others(points[few:], listed)
        orders_of_rows[block, 0], orders_of_rows[block, 1:] = rows, others[:, :-1]
        if block.stop > size:
            orders_of_rows[size] = others[-1]

    in_blocks(size + 1, work, progress, ROWS)
    return orders_of_rows
