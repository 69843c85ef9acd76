"""Attacker with a causal language model: beam search over candidate words.

Both the decoder and the attacker use this search.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
word of several tokens is first scored with the average probability of its later
tokens, then with that of the model. The posterior of a word is summed over the tree of
the search: over all beams and all candidates after each. Candidates that were followed
count with the scores of their continuations. The others count with their own scores,
scaled by how much those of the followed ones changed. With beams for all texts, best
text and posterior are exact.

A piece has the same tokens wherever it stands: those of all candidates are known before
the search. Most tokenizers divide running text in this way, at spaces and marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dptext import progress
from dptext.attackers.channel import Channel, ChannelAttacker
from dptext.attackers.layout import ReleasedPiece, shown_words, texts_in_pieces
from dptext.attackers.network import Branches, KnownTokens, Network, Search, Tokens
from dptext.attackers.pairs import PairAttacker
from dptext.models import Library, language
from dptext.types import Floats, Ids, Ints, Lexicon, Mask, Released

SETTING = "decoder.model"
# Each text is read as a line: the end of a line before it shows where a word begins.
_ANCHOR = "\n"
# Number of distinct pieces to remember tokens of; more would fill the memory.
_REMEMBERED = 1_000_000
# Of the known tokens between two drawn words, the last ones are read.
_KNOWN = 64
# Least public frequency of a word as the beginning of a longer one.
_LEAST_PRIOR = 1e-9


class CausalModel(NamedTuple):
    """A model's path, the digest of its content, and the torch device it runs on."""

    path: str
    digest: str
    device: str = "cpu"


@cache
def load(model: CausalModel) -> Network:
    """Load a model once per digest and device."""
    return Network(
        language.load_network(model.path, SETTING, model.device, language.CAUSAL)
    )


_log_sum = np.logaddexp.reduce


class Speller:
    """Splits lexicon words and pieces of texts into tokens."""

    def __init__(self, split: Library, lexicon: Lexicon) -> None:
        """Wrap a Hugging Face tokenizer."""
        self._split = split
        self.words = shown_words(lexicon)
        self._prior = np.maximum(lexicon.prior, _LEAST_PRIOR)
        self._anchor = self._encode([_ANCHOR])[0]
        special = (split.bos_token_id, split.eos_token_id, 0)
        first = next(token for token in special if token is not None)
        self.start: Tokens = self._anchor or (first,)
        self._known: dict[str, Tokens] = {}
        self.ahead = cache(self._ahead)

    def spell(self, piece: str) -> Tokens:
        """Return the tokens of a piece of a text, which may begin with a space."""
        if piece not in self._known:
            self._learn([piece])
        return self._known[piece]

    def _encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts, without the special token at the end."""
        last = self._split.eos_token_id
        return [
            tuple(ids[:-1] if ids[-1:] == [last] else ids)
            for ids in self._split(list(texts))["input_ids"]
        ]

    def _learn(self, pieces: Sequence[str]) -> None:
        """Tokenize pieces as if each followed a line break."""
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

    def _ahead(self, spaced: bool, capital: bool) -> Floats:
        """Estimate ln p of the rest of each word given its first token: (V,).

        It follows from the public frequencies of words with the same first token, and
        weighs words of several tokens before the model has read the first.
        """
        piece = ReleasedPiece(0, spaced=spaced, capital=capital)
        shown = [piece.written(word) for word in self.words]
        self._learn(shown)
        spelled = [self._known[word] for word in shown]
        first = np.array([tokens[0] for tokens in spelled])
        several = np.array([len(tokens) > 1 for tokens in spelled])
        together = np.bincount(first, self._prior)[first]
        return np.where(several, np.log(self._prior / together), 0.0)


class Step(NamedTuple):
    """A drawn word with its c candidates, and the known pieces that follow it."""

    #: Number of the word in its batch.
    drawn: int
    #: (c,) numbers of its candidates in the arrays of the batch.
    possible: Ints
    #: (c,) the tokens of its candidates.
    spelled: Sequence[Tokens]
    #: (c,) ln P(y|x), or ln of the posterior of another attacker.
    evidence: Floats
    #: (c,) ln p of later tokens, estimated without the model.
    ahead: Floats
    after: list[KnownTokens]

    @property
    def firsts(self) -> Ints:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


class _Beams(NamedTuple):
    """One step of beam search: b beams, each extended by c candidates."""

    #: (b,) scores of the beams before the word.
    entered: Floats
    #: (b, c) scores of beams with each candidate, by its first token.
    weighed: Floats
    #: (k,) indices of the pairs of beam and candidate that were followed.
    chosen: Ints
    #: (k,) their scores with all tokens of the candidate.
    scores: Floats


def search(
    before: KnownTokens, steps: Sequence[Step], width: int, weight: float
) -> Search[tuple[list[int], list[Floats]]]:
    """Run beam search over one text, from the known tokens before its first word.

    Returns the chosen candidates (n,) of the most likely text, and for each word the
    posterior of its candidates.
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
            [[KnownTokens(step.spelled[word]), *known] for word in words.tolist()],
            following.firsts if following else np.empty(0, np.int64),
        )
        entered, read = scores, firsts[beams, words] + sums
        scores = entered[beams] + step.evidence[words] + weight * read
        passed.append(_Beams(entered, weighed, chosen, scores))
        firsts = after
    return _best(passed), _posterior(passed)


def _last(known: list[KnownTokens]) -> list[KnownTokens]:
    """Return the last pieces, limited to about _KNOWN tokens."""
    kept: list[KnownTokens] = []
    for part in reversed(known):
        if kept and sum(len(each.tokens) for each in kept) + len(part.tokens) > _KNOWN:
            break
        kept.append(KnownTokens(part.tokens[-_KNOWN:], part.counts))
    return kept[::-1]


def _best(passed: list[_Beams]) -> list[int]:
    """Backtrack: return the candidates on the best-scoring beam."""
    words: list[int] = []
    beam = int(passed[-1].scores.argmax())
    for step in reversed(passed):
        beam, word = divmod(int(step.chosen[beam]), step.weighed.shape[1])
        words.append(word)
    return words[::-1]


def _posterior(passed: list[_Beams]) -> list[Floats]:
    """Return the posterior over each word's candidates: (c,) each, sums to 1."""
    posteriors: list[Floats] = []
    # For each beam ln of the sum over its continuations, relative to its score.
    later: Floats | None = None
    for step in reversed(passed):
        followed = step.scores if later is None else step.scores + later
        total = step.weighed.ravel().copy()
        # Candidates that were not followed change as those that were, in all.
        total += _log_sum(followed, 0) - _log_sum(total[step.chosen], 0)
        total[step.chosen] = followed
        table: Floats = total.reshape(step.weighed.shape)
        words = _log_sum(table, 0)
        posteriors.append(np.exp(words - _log_sum(words, 0)))
        later = _log_sum(table, 1) - step.entered
    return posteriors[::-1]


class CausalReading(NamedTuple):
    """The c candidates of each of n drawn words, and their probabilities."""

    #: (c, n)
    rows: Ids
    #: (c, n) posterior probabilities: columns sum to 1.
    likely: Floats
    #: (c, n) which may be written.
    writable: Mask
    #: (n,) the words of the likeliest text.
    best: Ids


class CausalAttacker:
    """Guesses drawn words from the channel and a causal language model.

    - pairs: an attacker; its posterior of each word replaces the channel as evidence.
    - beam: beam width.
    - candidates: number of candidates of each word.
    - weight: exponent of the language model's probability.
    - writable: only words that may be written are candidates.

    The defaults are for an attacker, who has time.
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
        pairs: PairAttacker | None = None,
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
        self.inputs = pairs or ChannelAttacker(channel, candidates)

    def at_full_strength(self) -> CausalAttacker:
        """Return the strongest attacker with the same models."""
        return CausalAttacker(self.channel, self._model, self.pairs)

    @cached_property
    def speller(self) -> Speller:
        """Load the tokenizer of the model."""
        split = language.load_tokenizer(self._model.path, SETTING, language.CAUSAL)
        return Speller(split, self.channel.lexicon)

    def guess(self, released: Released) -> Ids:
        """Return the most likely known word for each drawn word: (n,)."""
        reading = self.read(released)
        best = reading.likely.argmax(axis=0)
        return np.asarray(reading.rows[best, np.arange(len(best))])

    def read(self, released: Released) -> CausalReading:
        """Return candidates and their probabilities for the drawn words of a batch."""
        rows, evidence, writable = self._evidence(released)
        # A word without candidates stays as drawn.
        none = ~np.isfinite(evidence).any(axis=0)
        rows[0, none], evidence[0, none] = released.drawn[none], 0.0
        best, likely = np.array(released.drawn), np.zeros(rows.shape)
        name = Path(self._model.path).name
        with progress.step(f"reading {len(best):,} words with {name}"):
            # Before threads start: they cannot share a tokenizer.
            texts = [
                self._text(each, rows, evidence) for each in texts_in_pieces(released)
            ]
            texts.sort(key=lambda text: len(text[1]))
            results = load(self._model).read(
                [
                    search(known, steps, self._beam, self._weight)
                    for known, steps in texts
                ]
            )
        for (_, steps), (words, posteriors) in zip(texts, results, strict=True):
            for step, word, posterior in zip(steps, words, posteriors, strict=True):
                best[step.drawn] = rows[step.possible[word], step.drawn]
                likely[step.possible, step.drawn] = posterior
        return CausalReading(rows, likely, writable, best)

    def _text(
        self, pieces: Sequence[ReleasedPiece], rows: Ids, evidence: Floats
    ) -> tuple[KnownTokens, list[Step]]:
        """Return the tokens before the first drawn word, and a step per drawn word."""
        known: list[KnownTokens] = []
        steps: list[Step] = []
        after, speller = known, self.speller
        for piece in pieces:
            if piece.drawn < 0:
                tokens = speller.spell(piece.text)
                after.append(KnownTokens(tokens, counts=piece.is_released))
                continue
            possible = np.flatnonzero(np.isfinite(evidence[:, piece.drawn]))
            words = rows[possible, piece.drawn]
            shown = (piece.written(speller.words[row]) for row in words.tolist())
            spelled = [speller.spell(word) for word in shown]
            ahead = speller.ahead(piece.spaced, piece.capital)[words]
            after = []
            steps.append(
                Step(
                    drawn=piece.drawn,
                    possible=possible,
                    spelled=spelled,
                    evidence=evidence[possible, piece.drawn],
                    ahead=ahead,
                    after=after,
                )
            )
        before = sum((each.tokens for each in _last(known)), speller.start)
        return KnownTokens(before, counts=False), steps

    def _evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return the candidates of each word, their evidence, and which may be written.

        All have shape (c, n); padding has evidence -inf.
        """
        rows, evidence, writable = self.inputs.evidence(released)
        evidence[rows == len(self.channel.prior)] = -np.inf
        if self._writable:
            evidence[~writable] = -np.inf
        order = np.argsort(-evidence, axis=0, kind="stable")[: self._candidates]
        return (
            np.take_along_axis(rows, order, axis=0),
            np.take_along_axis(evidence, order, axis=0),
            np.take_along_axis(writable, order, axis=0),
        )
