"""Words and marks as tokens of a language model, each piece by itself.

A piece has the same tokens wherever it stands, so that those of all candidates are
known beforehand. Most tokenizers divide running text in this way, at spaces and marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import numbers
from dptext.types import NUMBER

Tokens = tuple[int, ...]
# A text is read as a line of its own. Before a piece it shows where a word begins.
_ANCHOR = "\n"
# What stands for a number of no form, and for a word that is masked.
ANY_NUMBER, ANY_WORD = "10", "Smith"


# Distinct pieces remembered; then the memory starts anew, so that it stays bounded.
_REMEMBERED = 1_000_000


class Tokenizer(Protocol):
    """What is used of a tokenizer of Hugging Face's kind."""

    bos_token_id: int | None
    eos_token_id: int | None

    def __call__(self, text: list[str]) -> Mapping[str, list[list[int]]]:
        """Return the tokens of texts, "input_ids", with special ones as is usual."""


class Speller:
    """Divide words of a lexicon and pieces of texts into tokens."""

    def __init__(
        self, split: Tokenizer, words: Sequence[str], prior: NDArray[np.float64]
    ) -> None:
        """Remember words; prior (V,), by which beginnings of several tokens weigh."""
        self._split = split
        shown = (numbers.example(word) for word in words)
        self._words = [ANY_NUMBER if word == NUMBER else word for word in shown]
        self._prior = np.maximum(prior, 1e-9)
        anchor = self._encode([_ANCHOR])[0]
        self._anchor = anchor
        special = (split.bos_token_id, split.eos_token_id, 0)
        self.start: Tokens = anchor or (next(t for t in special if t is not None),)
        self._known: dict[str, Tokens] = {}
        self.ahead = cache(self._ahead)

    def of(self, piece: str) -> Tokens:
        """Return the tokens of a piece of a text, which may begin with a space."""
        if piece not in self._known:
            self._learn([piece])
        return self._known[piece]

    def word(self, row: int, spaced: bool, capital: bool) -> Tokens:
        """Return the tokens of a word of the lexicon as it stands in a text."""
        return self.of(self._shown(row, spaced, capital))

    def _shown(self, row: int, spaced: bool, capital: bool) -> str:
        word = self._words[row]
        shown = word[:1].upper() + word[1:] if capital else word
        return " " + shown if spaced else shown

    def _encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts, without a special one that closes them."""
        last = self._split.eos_token_id
        return [
            tuple(ids[:-1] if ids[-1:] == [last] else ids)
            for ids in self._split(list(texts))["input_ids"]
        ]

    def _learn(self, pieces: Sequence[str]) -> None:
        """Divide pieces, each after the end of a line."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        length = len(self._anchor)
        encoded = self._encode([_ANCHOR + piece for piece in pieces])
        for piece, tokens in zip(pieces, encoded, strict=True):
            if tokens[:length] == self._anchor:
                spelled = tokens[length:]
            else:  # the piece melts with the end of a line
                alone, both = self._encode(["x", "x" + piece])
                spelled = both[len(alone) :]
            self._known[piece] = spelled or self.start[-1:]

    def _ahead(self, spaced: bool, capital: bool) -> NDArray[np.float64]:
        """Return about ln p of the rest of each word given its first token: (V,).

        By the public frequencies of words that begin with the same token: what a word
        of several tokens is worth before the model has seen the first.
        """
        shown = [self._shown(row, spaced, capital) for row in range(len(self._words))]
        self._learn(shown)
        spelled = [self._known[piece] for piece in shown]
        first = np.array([tokens[0] for tokens in spelled])
        several = np.array([len(tokens) > 1 for tokens in spelled])
        together = np.bincount(first, self._prior)[first]
        return np.where(several, np.log(self._prior / together), 0.0)
