"""The attacker's prior: public frequencies of the words that are replaced."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.tokens import numbers, stop_words
from dptext.tokens.policy import Policy
from dptext.tokens.regex import key_of
from dptext.tokens.spans import Spans
from dptext.types import Lexicon


def replaced(lexicon: Lexicon, policy: Policy) -> NDArray[np.float64]:
    """Return the unigram prior over V given that a word is replaced: (V,), sums to 1.

    Stop words, numbers and words of lists that are copied, masked or left out are no
    secret, so an attacker knows that a replaced word is none of them. Unknown words are
    left out: all of them are drawn from one and the same output distribution.
    """
    prior = np.array(lexicon.counts, np.float64)
    if policy.stop_word != "perturb":
        kept = stop_words.of(lexicon.language)
        prior[[row for row, w in enumerate(lexicon.words) if key_of(w) in kept]] = 0.0
    if policy.number != "perturb":
        prior[numbers.rows(lexicon)] = 0.0
    if policy.listed:
        spans = Spans(policy)
        named = [row for row, w in enumerate(lexicon.words) if spans.keeps_or_masks(w)]
        prior[named] = 0.0
    total = prior.sum()
    if not total > 0.0:
        raise UsageError(
            f"lexicon {lexicon.name}: no word is left to replace under this policy"
        )
    prior /= total
    return prior
