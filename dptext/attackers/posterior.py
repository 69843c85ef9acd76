"""Forward-backward and Viterbi over chains of drawn words: posterior and best path.

A chain lies between two known contexts: it ends where a sentence ends or a kept word
stands; given that word, what is left of it says nothing of what is right of it to a
model of pairs. Other marks are passed over, as in the texts that such models are made
from. A word that is masked, left out or outside the vocabulary is a context that is
known to be some other word. Chains of a block lie side by side along the last axis.

Posterior (`marginals`): p(x | y) ~ L(x) * product of P(y_i | x_i) over a chain, for a
back-off bigram model L and the candidates of each word (Rabiner 1989, III A and B). L
has the gains of pairs as their table holds them, which rounds
(dptext.attackers.ngrams). Every sum over candidates is made one candidate after the
other (`summed`): a chain has the same bits alone and beside others, on every machine.

Best path (`viterbi`, Viterbi 1967): scores are logarithms in whole numbers, so that
every sum is exact, and no grouping of chains, no machine and no library changes which
text is the best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import kernel
from dptext.attackers.ngrams import Gains, WholeGains, decoded
from dptext.tokens import kinds
from dptext.tokens.regex import key_of
from dptext.types import NUMBER, Ints, Lexicon, Released, Singles, Vectors

# Chains that are read together, and their words, about: few enough for the caches.
_CHAINS, _WORDS = 384, 2**14


Slots = NDArray[np.int32]
AnyGains = Gains | WholeGains


@dataclass(frozen=True, slots=True)
class Chains:
    """Drawn words (n,) in chains; rows are those of an n-gram model over V words.

    before (n,) row of the known context of the first word of a chain, -1 elsewhere;
    after (n,) row of what follows its last word, -1 elsewhere.
    """

    before: Ints
    after: Ints

    @property
    def longest(self) -> int:
        """Return the words of the longest chain."""
        begins = np.append(np.flatnonzero(self.before >= 0), len(self.before))
        return int(np.diff(begins).max(initial=0))

    def slots(self, gains: AnyGains) -> tuple[Slots, Slots]:
        """Return before and after as slots in the table of gains."""
        rows = np.stack((self.before, self.after))
        before, after = np.where(rows >= 0, gains.slot_of[rows], np.int32(-1))
        return before, after

    def blocks(self) -> Iterator[ChainBlock]:
        """Yield all chains in blocks of chains of similar length."""
        first = np.flatnonzero(self.before >= 0)
        length = np.diff(np.append(first, len(self.before)))
        order = np.argsort(-length, kind="stable")
        begin = 0
        while begin < len(order):
            longest = int(length[order[begin]])
            part = order[begin : begin + max(1, min(_CHAINS, _WORDS // longest))]
            begin += len(part)
            steps = np.arange(longest)[:, None]
            inside = steps < length[part]
            words = (first[part] + steps)[inside]
            yield ChainBlock(words, np.cumsum(inside.sum(axis=1)).tolist())


class ChainBlock(NamedTuple):
    """Chains side by side: words (m,), all first ones, then all second ones, ...

    ends: where each step ends in words. The k-th word of a step is of the k-th chain,
    longer chains first.
    """

    words: Ints
    ends: list[int]

    @property
    def steps(self) -> list[slice]:
        """Return where the words of each step stand."""
        return [slice(*pair) for pair in pairwise([0, *self.ends])]


def chains_of(released: Released, lexicon: Lexicon) -> Chains:
    """Return the chains of a batch."""
    row_of, unknown = lexicon.row_of, len(lexicon.words)
    kind = released.flags & kinds.KIND
    known = np.full(len(kind), -1, np.int64)
    known[kind == kinds.UNKNOWN] = unknown
    known[kind == kinds.NUMBER] = row_of[NUMBER]
    if released.copied is not None:
        known = np.where(released.copied >= 0, released.copied, known)
    copied = np.flatnonzero(
        (kind == kinds.STOP_WORD) | ((kind == kinds.COMMON) & (known < 0))
    )
    pieces = [released.pieces[position] for position in copied.tolist()]
    rows = {piece: row_of.get(key_of(piece), unknown) for piece in {*pieces}}
    known[copied] = [rows[piece] for piece in pieces]
    edge = unknown + 1
    known[(released.flags & kinds.ENDER) != 0] = edge
    # Known pieces, between the edges of the batch.
    fixed = np.concatenate(([-1], np.flatnonzero(known >= 0), [len(kind)]))
    drawn, texts = released.positions, released.texts
    # The last known piece before each drawn word, if none drawn stands between.
    last = fixed[np.searchsorted(fixed, drawn) - 1]
    begins = np.concatenate(([0], released.ends[:-1]))[texts]
    new_text = np.diff(texts, prepend=-1) != 0
    earlier = np.where(new_text, begins - 1, np.roll(drawn, 1))
    before = np.where(last > earlier, known[last], -1)
    before[new_text & (before < 0)] = edge
    after = np.full(len(drawn), -1, np.int64)
    closes = np.append(before[1:] >= 0, True)[: len(drawn)]
    following = fixed[np.searchsorted(fixed, drawn[closes])]
    inside = following < released.ends[texts[closes]]
    after[closes] = np.where(inside, known[following * inside], edge)
    return Chains(before, after)


Codes = NDArray[np.int8]
Number = TypeVar("Number", bound=np.generic)


class BigramLookup:
    """What a block of m words needs of the table of gains; c candidates of each word.

    begun (c, chains): g of the first words of chains after their contexts; last (l,)
    where last words stand, and ended (c, l), g of what follows after them; pairs: for
    each step but the first, where the words before it and its words stand.
    """

    def __init__(
        self, chains: Chains, slots: Slots, gains: AnyGains, block: ChainBlock
    ) -> None:
        """Look up; slots (c, m) of candidates in the table, in the block's order."""
        first = block.steps[0]
        contexts = gains.slot_of[chains.before[block.words[first]]]
        self.begun = gains.of(contexts, slots[:, first])
        after = chains.after[block.words]
        self.last = np.flatnonzero(after >= 0)
        following = gains.slot_of[after[self.last]]
        self.ended = gains.of(slots[:, self.last], following)
        self.pairs = [
            (slice(begin, begin + now.stop - now.start), now)
            for begin, now in zip([0, *block.ends], block.steps[1:], strict=False)
        ]
        # Chain by chain, since what one context looks up lies together in the table.
        by_chain = np.ascontiguousarray(slots.T)
        codes = (
            gains.of(by_chain[earlier, :, None], by_chain[now, None, :])
            for earlier, now in self.pairs
        )
        # (c, c, chains) each.
        self.codes = [np.ascontiguousarray(each.transpose(1, 2, 0)) for each in codes]


class WordCandidates(NamedTuple):
    """The c candidates of n drawn words, as an attacker weighs them.

    slots (c, n) of each candidate in the table of gains; weights (c, n), P(y|x) p(x) up
    to a factor for each word; backoff (c, n), b(x).
    """

    slots: Slots
    weights: Singles
    backoff: Singles


def marginals(chains: Chains, words: WordCandidates, gains: AnyGains) -> Singles:
    """Return the posterior probability of each candidate: (c, n), columns sum to 1.

    Exact for these candidates and gains, except that sums are rounded to single
    precision.
    """
    if kernel.library is None:
        return _marginals(chains, words, gains)
    slots, weights, backoff = map(by_word, words)
    posterior = np.empty(weights.shape, np.float32)
    before, after = chains.slots(gains)
    given = (*weights.shape, before, after, slots, weights, backoff)
    results = np.empty(chains.longest * weights.shape[1] ** 2, np.int8), posterior
    if isinstance(gains, WholeGains):
        pairs = gains.ends, gains.following, gains.gains
        kernel.library.marginals_of_all(*given, *pairs, *results)
    else:
        kernel.library.marginals(*given, gains.table, gains.width, *results)
    return posterior.T


def by_word(candidates: NDArray[Number]) -> NDArray[Number]:
    """Return an array (c, n) as the kernel takes it: (n, c), word by word."""
    return np.ascontiguousarray(candidates.T)


def _marginals(chains: Chains, words: WordCandidates, gains: AnyGains) -> Singles:
    posterior = np.empty_like(words.weights)
    for block in chains.blocks():
        weights = np.take(words.weights, block.words, axis=1)
        backoff = np.take(words.backoff, block.words, axis=1)
        steps = BigramLookup(chains, words.slots[:, block.words], gains, block)
        forward = np.empty_like(weights)
        first = block.steps[0]
        forward[:, first] = _scaled(decoded(steps.begun) * weights[:, first])
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = decoded(codes)
            into *= (forward[:, earlier] * backoff[:, earlier])[:, None, :]
            forward[:, now] = _scaled(summed(into) * weights[:, now])
        backward = np.ones_like(weights)
        backward[:, steps.last] = decoded(steps.ended) * backoff[:, steps.last]
        for (earlier, now), codes in zip(
            reversed(steps.pairs), reversed(steps.codes), strict=True
        ):
            out = decoded(codes)
            out *= (backward[:, now] * weights[:, now])[None, :, :]
            ahead = summed(out.swapaxes(0, 1)) * backoff[:, earlier]
            backward[:, earlier] = _scaled(ahead)
        forward *= backward
        forward /= summed(forward)
        posterior[:, block.words] = forward
    return posterior


def summed(parts: Singles) -> Singles:
    """Return the sum over the first axis of two or more, one part after the other.

    NumPy's own sum adds in pairs or in order, as shape and layout in memory suggest.
    """
    total: Singles = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _scaled(weights: Singles) -> Singles:
    """Divide columns by their largest entry, so that long chains stay in range."""
    return np.asarray(weights / weights.max(axis=0))


Scores = NDArray[np.int32]
# One nat; and the lowest score, which loses against any other.
NAT = 2**16
NEVER = -(2**28)


class PathCandidates(NamedTuple):
    """The c candidates of n drawn words, as a path weighs them, in parts of a nat.

    slots (c, n) of each candidate in the table of gains; scores (c, n) of the words by
    themselves; backoff (c, n), ln b(x).
    """

    slots: Slots
    scores: Scores
    backoff: Scores


def scores_of(logs: Vectors) -> Scores:
    """Return logarithms as scores; what is far below is NEVER."""
    scores = np.rint(np.maximum(logs * float(NAT), float(NEVER)))
    return np.asarray(scores, np.int32)


# ln g by its code, read as a number without sign.
_LOGS = scores_of(np.log(decoded(np.arange(256).astype(np.int8)).astype(np.float64)))


def viterbi(chains: Chains, candidates: PathCandidates, gains: Gains) -> Ints:
    """Return the candidate of each word on the path of the largest score: (n,)."""
    if kernel.library is None:
        return _viterbi(chains, candidates, gains)
    slots, scores, backoff = map(by_word, candidates)
    chosen = np.empty(len(scores), np.int64)
    kernel.library.viterbi(
        *(*scores.shape, *chains.slots(gains), slots, scores, backoff, _LOGS),
        *(gains.table, gains.width),
        *(np.empty(chains.longest * scores.shape[1], np.uint8), chosen),
    )
    return chosen


def _viterbi(chains: Chains, candidates: PathCandidates, gains: Gains) -> Ints:
    chosen = np.empty(candidates.scores.shape[1], np.int64)
    for block in chains.blocks():
        backoff = candidates.backoff[:, block.words]
        steps = BigramLookup(chains, candidates.slots[:, block.words], gains, block)
        best = candidates.scores[:, block.words]
        origins = np.empty(best.shape, np.int64)
        first = block.steps[0]
        best[:, first] += _logs(steps.begun)
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = _logs(codes)
            into += (best[:, earlier] + backoff[:, earlier])[:, None, :]
            origins[:, now] = into.argmax(axis=0)
            best[:, now] += into.max(axis=0)
            # Long chains stay in range; a word without any way in is never chosen.
            best[:, now] -= best[:, now].max(axis=0)
            np.maximum(best[:, now], NEVER, out=best[:, now])
        ends = best.copy()
        ends[:, steps.last] += _logs(steps.ended) + backoff[:, steps.last]
        columns = ends.argmax(axis=0)
        for earlier, now in reversed(steps.pairs):
            here = np.arange(now.start, now.stop)
            columns[earlier] = origins[columns[now], here]
        chosen[block.words] = columns
    return chosen


def _logs(codes: Codes) -> Scores:
    """Return ln g of codes."""
    return _LOGS.take(codes.view(np.uint8))
