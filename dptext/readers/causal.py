"""The reader with a causal language model: beams over the candidates of drawn words.

One search for two uses: the decoder writes by it, and the attack guesses by it.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
beam's word of several tokens is first weighed by what its later tokens are worth on
average, then by what the model says of them. The posterior of each word is that of the
tree that was searched: its sums run over all beams and over all candidates that each
beam was followed by, forward as they were weighed, backward by what became of them;
those that were not followed count as much less or more as all others did. With beams
for all texts both are exact.

A piece has the same tokens wherever it stands, so that those of all candidates are
known beforehand. Most tokenizers divide running text in this way, at spaces and marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import progress
from dptext.models import Library, language
from dptext.readers import causal_network
from dptext.readers.causal_network import (
    SETTING,
    Branches,
    CausalModel,
    Known,
    Search,
    Tokens,
)
from dptext.readers.channel import Channel, ChannelReader
from dptext.readers.layout import ANY_NUMBER, Piece, texts_of
from dptext.readers.pairs import PairReader
from dptext.tokens import numbers
from dptext.types import NUMBER, Floats, Ids, Lexicon, Released

# A text is read as a line of its own. Before a piece it shows where a word begins.
_ANCHOR = "\n"
# Distinct pieces remembered; then the memory starts anew, so that it stays bounded.
_REMEMBERED = 1_000_000
# Known tokens between two drawn words, of which the last are read.
_KNOWN = 64

_log_sum = np.logaddexp.reduce


class Speller:
    """Divides words of a lexicon and pieces of texts into tokens."""

    def __init__(self, split: Library, lexicon: Lexicon) -> None:
        """Take a tokenizer of Hugging Face's kind."""
        self._split = split
        shown = (numbers.example(word) for word in lexicon.words)
        self.words = [ANY_NUMBER if word == NUMBER else word for word in shown]
        # By which beginnings of several tokens weigh.
        self._prior = np.maximum(lexicon.prior, 1e-9)
        self._anchor = self._encode([_ANCHOR])[0]
        special = (split.bos_token_id, split.eos_token_id, 0)
        first = next(token for token in special if token is not None)
        self.start: Tokens = self._anchor or (first,)
        self._known: dict[str, Tokens] = {}
        self.ahead = cache(self._ahead)

    def of(self, piece: str) -> Tokens:
        """Return the tokens of a piece of a text, which may begin with a space."""
        if piece not in self._known:
            self._learn([piece])
        return self._known[piece]

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
        place = Piece(0, spaced=spaced, capital=capital)
        shown = [place.written(word) for word in self.words]
        self._learn(shown)
        spelled = [self._known[piece] for piece in shown]
        first = np.array([tokens[0] for tokens in spelled])
        several = np.array([len(tokens) > 1 for tokens in spelled])
        together = np.bincount(first, self._prior)[first]
        return np.where(several, np.log(self._prior / together), 0.0)


class Step(NamedTuple):
    """A drawn word by its number in the batch, and what is known after it.

    possible (c,) its candidates among those of the batch; spelled, their tokens;
    evidence (c,), ln P(y|x) or a posterior of another reader; ahead (c,), ln p of later
    tokens as far as known without the model.
    """

    drawn: int
    possible: NDArray[np.int64]
    spelled: Sequence[Tokens]
    evidence: Floats
    ahead: Floats
    after: list[Known]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


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
    before: Known, steps: Sequence[Step], width: int, weight: float
) -> Search[tuple[list[int], list[Floats]]]:
    """Search one text with width beams, after what is known before its first word.

    Returns the candidates (n,) of the likeliest text, and the posterior of those of
    each word.
    """
    scores = np.zeros(1)
    _, firsts = yield Branches([0], [[before]], steps[0].firsts)
    passed: list[_Beams] = []
    for step, following in zip_longest(steps, steps[1:]):
        weighed = scores[:, None] + step.evidence + weight * (firsts + step.ahead)
        order = np.argsort(-weighed.ravel(), kind="stable")[:width]
        chosen = order[np.isfinite(weighed.ravel()[order])]
        beams, words = np.divmod(chosen, len(step.spelled))
        known = _last(step.after)
        sums, after = yield Branches(
            beams.tolist(),
            [[Known(step.spelled[word]), *known] for word in words.tolist()],
            following.firsts if following else np.empty(0, np.int64),
        )
        entered, read = scores, firsts[beams, words] + sums
        scores = entered[beams] + step.evidence[words] + weight * read
        passed.append(_Beams(entered, weighed, chosen, scores))
        firsts = after
    return _best(passed), _posterior(passed)


def _last(known: list[Known]) -> list[Known]:
    """Return the last known pieces, of about _KNOWN tokens."""
    kept: list[Known] = []
    for part in reversed(known):
        if kept and sum(len(each.tokens) for each in kept) + len(part.tokens) > _KNOWN:
            break
        kept.append(Known(part.tokens[-_KNOWN:], part.counts))
    return kept[::-1]


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


class CausalReading(NamedTuple):
    """The candidates of n drawn words: rows (c, n), likely (c, n) columns sum to 1.

    writable (c, n), which may be written; best (n,), those of the likeliest text.
    """

    rows: Ids
    likely: NDArray[np.float64]
    writable: NDArray[np.bool_]
    best: Ids


class CausalReader:
    """Reads what is released through a channel; with pairs, by both models.

    What a model of pairs finds by all around a word then is the evidence for each of
    its candidates, in place of the channel alone. beam, texts that are followed;
    candidates of each word; weight, the power of the language model; writable, whether
    only words that may be written are candidates. The defaults are those of an
    attacker, who has time.
    """

    name = "causal-lm"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public causal language model"
    )

    def __init__(
        self,
        channel: Channel,
        model: CausalModel,
        pairs: PairReader | None = None,
        *,
        beam: int = 8,
        candidates: int = 40,
        weight: float = 1.0,
        writable: bool = False,
    ) -> None:
        channel.check()
        self.channel, self._model, self.pairs = channel, model, pairs
        self._beam, self._candidates, self._weight = beam, candidates, weight
        self._writable = writable
        self.inputs = ChannelReader(channel, candidates)

    def attacker(self) -> CausalReader:
        """Return the reader with the same models who guesses as well as it can."""
        return CausalReader(self.channel, self._model, self.pairs)

    @cached_property
    def speller(self) -> Speller:
        """Return the tokens of words; loads a tokenizer."""
        split = language.load_tokenizer(self._model.path, SETTING, language.CAUSAL)
        return Speller(split, self.channel.lexicon)

    def guess(self, released: Released) -> Ids:
        """Return the most probable word of each drawn one, unknown ones left out."""
        reading = self.read(released)
        best = reading.likely.argmax(axis=0)
        return np.asarray(reading.rows[best, np.arange(len(best))])

    def read(self, released: Released) -> CausalReading:
        """Return what is found for each drawn word of a batch."""
        rows, evidence, writable = self._evidence(released)
        # A word without any candidate stays as it was drawn.
        none = ~np.isfinite(evidence).any(axis=0)
        rows[0, none], evidence[0, none] = released.drawn[none], 0.0
        best, likely = np.array(released.drawn), np.zeros(rows.shape)
        what = f"reading {len(best):,} words with {Path(self._model.path).name}"
        with progress.step(what):
            # Before threads begin: they cannot share a tokenizer.
            texts = [self._text(each, rows, evidence) for each in texts_of(released)]
            texts.sort(key=lambda text: len(text[1]))
            results = causal_network.load(self._model).read(
                [search(*text, self._beam, self._weight) for text in texts]
            )
        for (_, steps), (words, posteriors) in zip(texts, results, strict=True):
            for step, word, posterior in zip(steps, words, posteriors, strict=True):
                best[step.drawn] = rows[step.possible[word], step.drawn]
                likely[step.possible, step.drawn] = posterior
        return CausalReading(rows, likely, writable, best)

    def _text(
        self, pieces: Sequence[Piece], rows: Ids, evidence: NDArray[np.float64]
    ) -> tuple[Known, list[Step]]:
        """Return what is known before the first drawn word of a text, and its words."""
        known: list[Known] = []
        steps: list[Step] = []
        after, speller = known, self.speller
        for piece in pieces:
            if piece.drawn < 0:
                after.append(Known(speller.of(piece.text), piece.shown))
                continue
            possible = np.flatnonzero(np.isfinite(evidence[:, piece.drawn]))
            words = rows[possible, piece.drawn]
            shown = (piece.written(speller.words[row]) for row in words.tolist())
            spelled = [speller.of(word) for word in shown]
            ahead = speller.ahead(piece.spaced, piece.capital)[words]
            weights, after = evidence[possible, piece.drawn], []
            steps.append(Step(piece.drawn, possible, spelled, weights, ahead, after))
        before = (token for each in _last(known) for token in each.tokens)
        return Known((*speller.start, *before), counts=False), steps

    def _evidence(
        self, released: Released
    ) -> tuple[Ids, NDArray[np.float64], NDArray[np.bool_]]:
        """Return candidates, the evidence for each, -inf for none, and which to write.

        Of each word (c, n) the likely inputs and the logarithms of their weights.
        """
        if self.pairs is not None:
            weighed = self.pairs.weighed(released)
            rows, writable = weighed.rows, weighed.writable
            with np.errstate(divide="ignore"):
                evidence = np.log(self.pairs.likely(weighed).astype(np.float64))
        else:
            rows, evidence, writable = self.inputs.evidence(released)
        evidence[rows == len(self.channel.prior)] = -np.inf
        if self._writable:
            evidence[~writable] = -np.inf
        order = np.argsort(-evidence, axis=0, kind="stable")[: self._candidates]
        rows, evidence, writable = (
            np.take_along_axis(each, order, axis=0)
            for each in (rows, evidence, writable)
        )
        return rows, evidence, writable
