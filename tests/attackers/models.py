"""Small n-gram models of made-up probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import ngrams
from dptext.attackers.ngrams import Ngrams
from dptext.types import Lexicon


def model(lexicon: Lexicon, seed: int = 3, seen: float = 0.4) -> Ngrams:
    """Make a model in which a share of all pairs was seen."""
    rng = np.random.default_rng(seed)
    size = len(lexicon.words)
    alone = rng.dirichlet(np.ones(size + 2))
    backoff = rng.normal(-0.5, 0.4, size + 2)
    contexts, following = np.nonzero(rng.random((size + 2, size + 2)) < seen)
    gains = ngrams.encode_gains(rng.normal(0.5, 1.5, len(contexts)))
    return ngrams.assemble(
        words=lexicon.words,
        alone=np.log(alone),
        backoff=backoff,
        contexts=contexts,
        following=following,
        gains=gains,
        meta={},
    )


def log_probs(
    model: Ngrams, contexts: NDArray[np.integer], following: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return ln p(x'|x) of pairs of rows by search: (n,)."""
    logs: NDArray[np.float64] = model.backoff[contexts].astype(np.float64)
    logs += model.alone[following]
    for number, (x, after) in enumerate(zip(contexts, following, strict=True)):
        begin, end = int(model.ends[x - 1]) if x else 0, int(model.ends[x])
        for at in np.flatnonzero(model.following[begin:end] == after) + begin:
            logs[number] += np.log(ngrams.decode_gains(model.gains[at : at + 1])[0])
    return logs
