"""Mean word vectors of texts, and weights by word frequency."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.run.interface import option
from dptext.settings import digest_of_data
from dptext.types import Floats, Ids, Lexicon

# Texts of more words are summed one by one, in blocks of so many words.
_LONG, _BLOCK = 512, 4096


def means(
    rows: NDArray[np.floating],
    ids: Ids,
    counts: NDArray[np.int64],
    part: slice = slice(None),
) -> Floats:
    """Return the mean vector of each text's words; the same in any batch: (m, d).

    rows (V + 1, d), the last for unknown words and texts without words; ids (n,)
    are the rows of all words; counts (t,) is the number of words per text; part, the
    wanted texts.
    """
    ends, counts = np.cumsum(counts)[part], counts[part]
    begins = ends - counts
    sums = np.zeros((len(counts), rows.shape[1]))
    short = np.flatnonzero(counts <= _LONG)
    for word in range(int(counts[short].max(initial=0))):
        short = short[counts[short] > word]
        sums[short] += rows[ids[begins[short] + word]]
    for text in np.flatnonzero(counts > _LONG):
        for begin in range(begins[text], ends[text], _BLOCK):
            block = rows[ids[begin : min(begin + _BLOCK, ends[text])]]
            sums[text] += block.sum(axis=0, dtype=np.float64)
    sums[counts == 0] = rows[-1]
    return sums / np.maximum(counts, 1)[:, None]


# Pipelines of one process, as of an evaluation, mostly have one lexicon.
@lru_cache(maxsize=2)
def weigh(lexicon: Lexicon, a: float) -> Lexicon:
    """Return a lexicon weighted by smooth inverse frequency.

    Each vector is multiplied by a / (a + frequency), less its part along the first
    singular vector of the table weighted by word frequency; all of it is public. The
    unknown word has the weight of the rarest word. Raises LexiconError if nothing is
    left. Source: Arora, Liang and Ma 2017.
    """
    vectors = np.asarray(lexicon.vectors, np.float64)
    prior = np.append(lexicon.prior, lexicon.prior.min())
    rows = vectors * (a / (a + prior))[:, None]
    _, axes = np.linalg.eigh(rows.T @ (rows * prior[:, None]))
    common = axes[:, -1]
    longest = np.abs(rows).max(initial=0.0)
    rows -= (rows @ common)[:, None] * common
    if np.abs(rows).max(initial=0.0) <= 1e-9 * longest:
        raise LexiconError(
            f"lexicon {lexicon.name}: its vectors all point in one direction, which "
            f"{option('pool', 'sif')} removes; use {option('pool', 'mean')}"
        )
    digest = digest_of_data([lexicon.digest, "sif", a])
    return with_vectors(lexicon, rows.astype(np.float32), digest)


def with_vectors(
    lexicon: Lexicon, vectors: NDArray[np.float32], digest: str
) -> Lexicon:
    """Replace a lexicon's vectors, and drop data derived from the old ones."""
    meta = {name: value for name, value in lexicon.meta.items() if name != "geometry"}
    return replace(
        lexicon,
        vectors=vectors,
        digest=digest,
        meta=meta,
        orders=np.zeros((len(vectors), 1), np.uint32),
        far=np.zeros(len(vectors), np.float32),
    )
