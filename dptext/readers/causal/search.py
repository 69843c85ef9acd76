"""Beam search over the candidates of the drawn words of a text.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
beam's word of several tokens is first weighed by what its later tokens are worth on
average, then by what the model says of them. The posterior of each word is that of the
tree that was searched: its sums run over all beams and over all candidates that each
beam was followed by, forward as they were weighed, backward by what became of them;
those that were not followed count as much less or more as all others did. With beams
for all texts both are exact.

How drawn words and what is known stand in a text: dptext.readers.layout.

A piece has the same tokens wherever it stands, so that those of all candidates are
known beforehand. Most tokenizers divide running text in this way, at spaces and marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext.readers import layout
from dptext.readers.causal.network import Branches, Floats, Known, Search, Tokens
from dptext.readers.layout import ANY_NUMBER
from dptext.tokens import numbers
from dptext.types import NUMBER, Released

_log_sum = np.logaddexp.reduce
# A text is read as a line of its own. Before a piece it shows where a word begins.
_ANCHOR = "\n"
# Distinct pieces remembered; then the memory starts anew, so that it stays bounded.
_REMEMBERED = 1_000_000


class SubwordTokenizer(Protocol):
    """What is used of a tokenizer of Hugging Face's kind."""

    bos_token_id: int | None
    eos_token_id: int | None

    def __call__(self, text: list[str]) -> Mapping[str, list[list[int]]]:
        """Return the tokens of texts, "input_ids", with special ones as is usual."""


class Speller:
    """Divide words of a lexicon and pieces of texts into tokens."""

    def __init__(
        self, split: SubwordTokenizer, words: Sequence[str], prior: NDArray[np.float64]
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


@dataclass(frozen=True, slots=True)
class DrawnWord:
    """A drawn word, number index of its batch, and what is known after it.

    spaced, capital: how a word is written here.
    """

    index: int
    spaced: bool
    capital: bool
    after: list[Known]


@dataclass(frozen=True, slots=True)
class Text:
    """What stands before the first drawn word of a text, and its drawn words."""

    before: list[Known]
    drawn: list[DrawnWord]


def texts_of(released: Released, speller: Speller) -> Iterator[Text]:
    """Yield the texts of a batch that have drawn words."""
    for pieces in layout.texts_of(released):
        text = Text([], [])
        known = text.before
        for piece in pieces:
            if piece.drawn < 0:
                known.append(Known(speller.of(piece.text), piece.shown))
                continue
            drawn = DrawnWord(piece.drawn, piece.spaced, piece.capital, [])
            text.drawn.append(drawn)
            known = drawn.after
        yield text


class Step(NamedTuple):
    """A drawn word: c candidates, their tokens, and what is known after it.

    evidence (c,), ln P(y|x) or a posterior of another reader; ahead (c,), ln p of later
    tokens as far as known without the model.
    """

    spelled: Sequence[Tokens]
    evidence: Floats
    ahead: Floats
    after: Sequence[Known]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


class SearchResult(NamedTuple):
    """The candidates (n,) of the likeliest text, and the posterior of each word."""

    best: list[int]
    posterior: list[Floats]


class _Beams(NamedTuple):
    """What was weighed for one word: (b, c) scores of beams followed by candidates.

    entered (b,) scores of the beams; chosen (k,) index of the pairs that were followed,
    scores (k,) theirs after all of their tokens.
    """

    entered: Floats
    weighed: Floats
    chosen: NDArray[np.int64]
    scores: Floats


def search(
    start: Tokens, steps: Sequence[Step], width: int, weight: float
) -> Search[SearchResult]:
    """Search one text, whose drawn words come after start, with width beams."""
    scores = np.zeros(1)
    begun = Known(start, counts=False)
    _, firsts = yield Branches([0], [[begun]], steps[0].firsts)
    passed: list[_Beams] = []
    for step, following in zip_longest(steps, steps[1:]):
        weighed = scores[:, None] + step.evidence + weight * (firsts + step.ahead)
        order = np.argsort(-weighed.ravel(), kind="stable")[:width]
        chosen = order[np.isfinite(weighed.ravel()[order])]
        beams, words = np.divmod(chosen, len(step.spelled))
        sums, after = yield Branches(
            beams.tolist(),
            [[Known(step.spelled[word]), *step.after] for word in words.tolist()],
            following.firsts if following else np.empty(0, np.int64),
        )
        entered, read = scores, firsts[beams, words] + sums
        scores = entered[beams] + step.evidence[words] + weight * read
        passed.append(_Beams(entered, weighed, chosen, scores))
        firsts = after
    return SearchResult(_best(passed), _posterior(passed))


def _best(passed: list[_Beams]) -> list[int]:
    """Return the candidates on the way to the beam with the best score."""
    words: list[int] = []
    beam = int(passed[-1].scores.argmax())
    for step in reversed(passed):
        beam, word = divmod(int(step.chosen[beam]), step.weighed.shape[1])
        words.append(word)
    return words[::-1]


def _posterior(passed: list[_Beams]) -> list[Floats]:
    """Return the posterior of the candidates of each word: (c,) each, sums to 1."""
    posteriors: list[Floats] = []
    later: Floats | None = None
    for step in reversed(passed):
        followed = step.scores if later is None else step.scores + later
        total = step.weighed.ravel().copy()
        total += _log_sum(followed, 0) - _log_sum(total[step.chosen], 0)
        total[step.chosen] = followed
        table: Floats = total.reshape(step.weighed.shape)
        words = _log_sum(table, 0)
        posteriors.append(np.exp(words - _log_sum(words, 0)))
        later = _log_sum(table, 1) - step.entered
    return posteriors[::-1]
