"""The weighted mean of a lexicon's word vectors; rare words weigh more.

The weight of a word is a / (a + its public frequency); the common direction of all
words is subtracted, and the mean is scaled to length 1. Punctuation is left out.
Source: smooth inverse frequency (Arora, Liang and Ma 2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import lexicons, noise, views
from dptext.lexicons import weighting
from dptext.tokens import policy, tokenizer
from dptext.types import Lexicon


@dataclass(frozen=True, slots=True)
class Params(views.Params):
    """Settings of the view."""

    #: Name or path of the lexicon.
    lexicon: str = "builtin"
    #: The frequency at which a word has half of the weight of a rare one.
    a: Annotated[float, Meta(gt=0, le=1)] = 1e-3

    def prepare(self) -> Sif:
        """Open the lexicon and weight its vectors."""
        lexicon = lexicons.find(self.lexicon)
        return Sif(lexicon, weighting.weigh(lexicon, self.a))


class Sif(views.View):
    """View with weighted means of word vectors."""

    def __init__(self, lexicon: Lexicon, weighted: Lexicon) -> None:
        self._digest = lexicon.digest
        self._rows = np.asarray(weighted.vectors, np.float32)
        self._tokenizer = tokenizer.Tokenizer(
            lexicon, policy.Policy(punctuation="drop")
        )

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the lexicon."""
        return {"lexicon": self._digest}

    @property
    def dimensions(self) -> int:
        """Return the dimensions of the lexicon."""
        return int(self._rows.shape[1])

    @property
    def words(self) -> tokenizer.Tokenizer:
        """Return the tokenizer of the lexicon."""
        return self._tokenizer

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the directions of the means: (n, d)."""
        words = self._tokenizer.words(texts)
        counts = np.bincount(words.texts, minlength=len(texts)).astype(np.int64)
        return noise.unit(weighting.means(self._rows, words.ids, counts))
