"""A small English lexicon for mechanisms that read whole texts."""

from __future__ import annotations

from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Words
from tests import small

LEXICON = small.english(
    "the",
    "cat",
    "dog",
    "of",
    "runs",
    "Paris",
    "well",
    "film",
    "good",
    "n't",
    "was",
    "we",
    "saw",
    "never",
    "him",
    "again",
    "zqxv",
    "unbelievableness",
    "is",
)
TOKENIZER = Tokenizer(LEXICON, Policy())


def words(*texts: str) -> Words:
    """Divide texts."""
    return TOKENIZER.words(list(texts))
