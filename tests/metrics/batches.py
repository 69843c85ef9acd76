"""Batches for meters, without a run."""

from __future__ import annotations

import numpy as np

from dptext.metrics import Batch
from dptext.types import Eps, Ids, Lexicon, Words


def batch(
    lexicon: Lexicon,
    words: Words,
    written: Ids,
    eps: Eps | None = None,
    first_text: int = 0,
) -> Batch:
    """Return a batch with words written as the lexicon spells them."""
    spelled = np.array([lexicon.words[row] for row in written.tolist()], object)
    known = np.ones(len(written)) if eps is None else eps
    return Batch(
        words, written=written, spelled=spelled, eps=known, first_text=first_text
    )
