"""Small n-gram models of made-up probabilities."""

from __future__ import annotations

import numpy as np

from dptext.readers import ngrams
from dptext.readers.ngrams import Ngrams
from dptext.types import Lexicon


def model(lexicon: Lexicon, seed: int = 3, seen: float = 0.4) -> Ngrams:
    """Make a model in which a share of all pairs was seen."""
    rng = np.random.default_rng(seed)
    size = len(lexicon.words)
    alone = rng.dirichlet(np.ones(size + 2))
    backoff = rng.normal(-0.5, 0.4, size + 2)
    contexts, following = np.nonzero(rng.random((size + 2, size + 2)) < seen)
    gains = ngrams.coded(rng.normal(0.5, 1.5, len(contexts)))
    return ngrams.assembled(
        lexicon.words, np.log(alone), backoff, contexts, following, gains, {}
    )
