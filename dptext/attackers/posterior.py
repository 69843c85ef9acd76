"""Forward-backward and Viterbi over chains of drawn words: posterior and best path.

A chain lies between two known contexts: the ends of sentences, and words that were
kept. Given such a word, a model of pairs learns nothing about the words before it from
those after it. Other marks are skipped, as in the texts that such models are made from.
A word that is masked, left out or outside the vocabulary is a known context: the
unknown word. After 16,384 words without any known context a chain ends as a sentence
does, which bounds the memory. Chains of a block lie side by side along the last axis.

Posterior (`marginals`): p(x | y) ~ L(x) * product of P(y_i | x_i) over a chain, for a
back-off bigram model L and the candidates of each word (Rabiner 1989, III A and B). L
has the rounded gains of the table (dptext.attackers.ngrams). Every sum over candidates
adds one candidate after the other (`sum_in_order`): a chain has the same bits alone and
together with others, on every machine.

Best path (`viterbi`, Viterbi 1967): scores are logarithms in whole numbers, so that
every sum is exact, and the best text is the same for any grouping of chains, on every
machine and with every library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import kernel
from dptext.attackers.ngrams import Gains, WholeGains, decode_gains
from dptext.tokens import kinds
from dptext.tokens.regex import key_of
from dptext.types import NUMBER, Floats, Ints, Lexicon, Released, Singles, Vectors

Slots = NDArray[np.int32]
Scores = NDArray[np.int32]
Codes = NDArray[np.int8]
AnyGains = Gains | WholeGains
Number = TypeVar("Number", bound=np.generic)

# Chains that are read together, and their words, about: few enough for the caches.
_CHAINS, _WORDS = 384, 2**14
# Most words of a chain; texts of people have hundreds at most.
LONGEST = 2**14
# One nat as a score, and the lowest score, which loses against any other.
NAT = 2**16
NEVER = -(2**28)
# The weight of a possible candidate is at least this share of that of the best one.
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Chains:
    """Drawn words (n,) grouped into chains; rows index an n-gram model's V words."""

    #: (n,) the row of the context before the first word of a chain, -1 elsewhere.
    before: Ints
    #: (n,) the row of the context after its last word, -1 elsewhere.
    after: Ints

    @property
    def longest(self) -> int:
        """Return the length of the longest chain."""
        begins = np.append(np.flatnonzero(self.before >= 0), len(self.before))
        return int(np.diff(begins).max(initial=0))

    def parts(self, words: int) -> Iterator[slice]:
        """Yield slices of at most `words` words, or of a single longer chain."""
        begins = np.append(np.flatnonzero(self.before >= 0), len(self.before))
        first = 0
        while first < len(begins) - 1:
            begin = int(begins[first])
            after = np.searchsorted(begins, begin + words, side="right") - 1
            first = max(int(after), first + 1)
            yield slice(begin, int(begins[first]))

    def take(self, part: slice) -> Chains:
        """Return the chains in a slice."""
        return Chains(self.before[part], self.after[part])

    def slots(self, gains: AnyGains) -> tuple[Slots, Slots]:
        """Return `before` and `after` as slots in the table of gains."""
        rows = np.stack((self.before, self.after))
        before, after = np.where(rows >= 0, gains.slot_of[rows], np.int32(-1))
        return before, after

    def blocks(self) -> Iterator[ChainBlock]:
        """Yield all chains in blocks of chains of similar length."""
        first = np.flatnonzero(self.before >= 0)
        length = np.diff(np.append(first, len(self.before)))
        order = np.argsort(-length, kind="stable")
        begin = 0
        # The longest chains first: each block is as wide as its first chain.
        while begin < len(order):
            longest = int(length[order[begin]])
            part = order[begin : begin + max(1, min(_CHAINS, _WORDS // longest))]
            begin += len(part)
            steps = np.arange(longest)[:, None]
            inside = steps < length[part]
            words = (first[part] + steps)[inside]
            yield ChainBlock(words, np.cumsum(inside.sum(axis=1)).tolist())


class ChainBlock(NamedTuple):
    """Chains side by side, longest first: step k holds the k-th word of each."""

    #: (m,) numbers of the words, step after step.
    words: Ints
    #: The end of each step in words.
    ends: list[int]

    @property
    def steps(self) -> list[slice]:
        """Return the slice of words that each step covers."""
        return [slice(*pair) for pair in pairwise([0, *self.ends])]


def known_rows(released: Released, lexicon: Lexicon) -> Ints:
    """Return each piece's row as a context, -1 if unknown: (p,)."""
    row_of, unknown = lexicon.row_of, len(lexicon.words)
    kind = released.flags & kinds.KIND
    known = np.full(len(kind), -1, np.int64)
    known[kind == kinds.UNKNOWN] = unknown
    known[kind == kinds.NUMBER] = row_of[NUMBER]
    if released.copied is not None:
        known = np.where(released.copied >= 0, released.copied, known)
    # Copied words are contexts, by their row if the lexicon has them.
    copied = np.flatnonzero(
        (kind == kinds.STOP_WORD) | ((kind == kinds.COMMON) & (known < 0))
    )
    pieces = [released.pieces[position] for position in copied.tolist()]
    rows = {piece: row_of.get(key_of(piece), unknown) for piece in {*pieces}}
    known[copied] = [rows[piece] for piece in pieces]
    known[(released.flags & kinds.ENDER) != 0] = unknown + 1
    return known


def find_chains(released: Released, lexicon: Lexicon) -> Chains:
    """Split a batch into chains between known words."""
    known, edge = known_rows(released, lexicon), len(lexicon.words) + 1
    # Positions of known pieces, and the edges of the batch.
    fixed = np.concatenate(([-1], np.flatnonzero(known >= 0), [len(known)]))
    drawn, texts = released.positions, released.texts
    # The last known piece before each drawn word: the first word of a chain has one
    # after the drawn word before it.
    last = fixed[np.searchsorted(fixed, drawn) - 1]
    begins = np.concatenate(([0], released.ends[:-1]))[texts]
    new_text = np.diff(texts, prepend=-1) != 0
    earlier = np.where(new_text, begins - 1, np.roll(drawn, 1))
    before = np.where(last > earlier, known[last], -1)
    before[new_text & (before < 0)] = edge
    # The last word of a chain is the one before the first word of the next.
    after = np.full(len(drawn), -1, np.int64)
    closes = np.append(before[1:] >= 0, True)[: len(drawn)]
    following = fixed[np.searchsorted(fixed, drawn[closes])]
    inside = following < released.ends[texts[closes]]
    after[closes] = np.where(inside, known[following * inside], edge)
    _divide_long(before, after, edge)
    return Chains(before, after)


def _divide_long(before: Ints, after: Ints, edge: int) -> None:
    """Split chains of more than LONGEST words, in place."""
    begins = np.flatnonzero(before >= 0)
    lengths = np.diff(begins, append=len(before))
    for chain in np.flatnonzero(lengths > LONGEST).tolist():
        begin = int(begins[chain])
        cuts = np.arange(begin + LONGEST, begin + int(lengths[chain]), LONGEST)
        before[cuts] = after[cuts - 1] = edge


class BigramLookup:
    """The gain codes for a block of m words with c candidates each."""

    #: (c, chains), of the first words of chains after their contexts.
    first_codes: Codes
    #: (l,), the places of the last words of chains.
    last: Ints
    #: (c, l), of the contexts that follow them.
    last_codes: Codes
    #: For each step but the first, the places of the words before it and of its words.
    pairs: list[tuple[slice, slice]]
    #: For each of these (c, c, chains): candidates of the word before, of the word.
    codes: list[Codes]

    def __init__(
        self, chains: Chains, slots: Slots, gains: AnyGains, block: ChainBlock
    ) -> None:
        """Look up the gains; slots (c, m) of the candidates, in the block's order."""
        first = block.steps[0]
        contexts = gains.slot_of[chains.before[block.words[first]]]
        self.first_codes = gains.lookup(contexts, slots[:, first])
        after = chains.after[block.words]
        self.last = np.flatnonzero(after >= 0)
        following = gains.slot_of[after[self.last]]
        self.last_codes = gains.lookup(slots[:, self.last], following)
        self.pairs = [
            (slice(begin, begin + now.stop - now.start), now)
            for begin, now in zip([0, *block.ends], block.steps[1:], strict=False)
        ]
        # Chain by chain: the gains after one context lie together in the table.
        by_chain = np.ascontiguousarray(slots.T)
        codes = (
            gains.lookup(by_chain[earlier, :, None], by_chain[now, None, :])
            for earlier, now in self.pairs
        )
        self.codes = [np.ascontiguousarray(each.transpose(1, 2, 0)) for each in codes]


class WordCandidates(NamedTuple):
    """The c candidates of each of n drawn words, for their posterior."""

    #: (c, n) the slot of each candidate in the table of gains.
    slots: Slots
    #: (c, n) P(y|x) p(x), up to a factor for each word.
    weights: Singles
    #: (c, n) b(x).
    backoff: Singles


def marginals(chains: Chains, words: WordCandidates, gains: AnyGains) -> Singles:
    """Return the posterior probability of each candidate: (c, n), columns sum to 1.

    Exact for these candidates and gains, in single precision.
    """
    if kernel.library is None:
        return _marginals(chains, words, gains)
    slots, weights, backoff = map(word_major, words)
    posterior = np.empty(weights.shape, np.float32)
    before, after = chains.slots(gains)
    inputs = (*weights.shape, before, after, slots, weights, backoff)
    # Codes of the pairs of the longest chain, in which the kernel works.
    scratch = np.empty(chains.longest * weights.shape[1] ** 2, np.int8)
    if isinstance(gains, WholeGains):
        pairs = gains.ends, gains.following, gains.gains
        kernel.library.marginals_of_all(*inputs, *pairs, scratch, posterior)
    else:
        table = gains.table, gains.width
        kernel.library.marginals(*inputs, *table, scratch, posterior)
    return posterior.T


def word_major(candidates: NDArray[Number]) -> NDArray[Number]:
    """Reorder an array (c, n) word by word, as the kernel expects it: (n, c)."""
    return np.ascontiguousarray(candidates.T)


def _marginals(chains: Chains, words: WordCandidates, gains: AnyGains) -> Singles:
    """Compute marginals in numpy: a forward pass, then a backward pass."""
    posterior = np.empty_like(words.weights)
    for block in chains.blocks():
        weights = np.take(words.weights, block.words, axis=1)
        backoff = np.take(words.backoff, block.words, axis=1)
        steps = BigramLookup(chains, words.slots[:, block.words], gains, block)
        forward = np.empty_like(weights)
        first = block.steps[0]
        forward[:, first] = _scale(decode_gains(steps.first_codes) * weights[:, first])
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = decode_gains(codes)
            into *= (forward[:, earlier] * backoff[:, earlier])[:, None, :]
            forward[:, now] = _scale(sum_in_order(into) * weights[:, now])
        backward = np.ones_like(weights)
        backward[:, steps.last] = (
            decode_gains(steps.last_codes) * backoff[:, steps.last]
        )
        for (earlier, now), codes in zip(
            reversed(steps.pairs), reversed(steps.codes), strict=True
        ):
            out = decode_gains(codes)
            out *= (backward[:, now] * weights[:, now])[None, :, :]
            ahead = sum_in_order(out.swapaxes(0, 1)) * backoff[:, earlier]
            backward[:, earlier] = _scale(ahead)
        forward *= backward
        forward /= sum_in_order(forward)
        posterior[:, block.words] = forward
    return posterior


def sum_in_order(parts: Singles) -> Singles:
    """Return the sum over the first axis, adding one part after another.

    The order of additions of NumPy's sum depends on shape and layout in memory.
    """
    total: Singles = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _scale(weights: Singles) -> Singles:
    """Divide columns by their largest entry, so that long chains stay in range."""
    return np.asarray(weights / weights.max(axis=0))


class PathCandidates(NamedTuple):
    """The c candidates of each of n drawn words, for the best path."""

    #: (c, n) the slot of each candidate in the table of gains.
    slots: Slots
    #: (c, n) the score of each word alone.
    scores: Scores
    #: (c, n) ln b(x) as a score.
    backoff: Scores


def relative(logs: Floats) -> Singles:
    """Return weights relative to the best of each row, in single precision."""
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    weights = np.where(np.isfinite(logs), np.maximum(weights, _LEAST), 0.0)
    return weights.astype(np.float32)


def to_scores(logs: Vectors) -> Scores:
    """Convert logarithms to integer scores, not below NEVER."""
    return np.asarray(np.rint(np.maximum(logs * float(NAT), float(NEVER))), np.int32)


# ln g of each code, read as an unsigned number.
_LOGS = to_scores(
    np.log(decode_gains(np.arange(256).astype(np.int8)).astype(np.float64))
)


def viterbi(chains: Chains, candidates: PathCandidates, gains: Gains) -> Ints:
    """Return each word's candidate on the highest-scoring path: (n,)."""
    if kernel.library is None:
        return _viterbi(chains, candidates, gains)
    slots, scores, backoff = map(word_major, candidates)
    chosen = np.empty(len(scores), np.int64)
    words = (*scores.shape, *chains.slots(gains), slots, scores, backoff)
    origins = np.empty(chains.longest * scores.shape[1], np.uint8)
    table = gains.table, gains.width
    kernel.library.viterbi(*words, _LOGS, *table, origins, chosen)
    return chosen


def _viterbi(chains: Chains, candidates: PathCandidates, gains: Gains) -> Ints:
    """Find the best path in numpy: forward scores, then backtracking."""
    chosen = np.empty(candidates.scores.shape[1], np.int64)
    for block in chains.blocks():
        backoff = candidates.backoff[:, block.words]
        steps = BigramLookup(chains, candidates.slots[:, block.words], gains, block)
        best = candidates.scores[:, block.words]
        origins = np.empty(best.shape, np.int64)
        best[:, block.steps[0]] += _logs(steps.first_codes)
        for (earlier, now), codes in zip(steps.pairs, steps.codes, strict=True):
            into = _logs(codes)
            into += (best[:, earlier] + backoff[:, earlier])[:, None, :]
            origins[:, now] = into.argmax(axis=0)
            best[:, now] += into.max(axis=0)
            # Relative to the best, so that scores of long chains stay in range. A word
            # that no path leads to is never chosen.
            best[:, now] -= best[:, now].max(axis=0)
            np.maximum(best[:, now], NEVER, out=best[:, now])
        ends = best.copy()
        ends[:, steps.last] += _logs(steps.last_codes) + backoff[:, steps.last]
        columns = ends.argmax(axis=0)
        for earlier, now in reversed(steps.pairs):
            columns[earlier] = origins[columns[now], np.arange(now.start, now.stop)]
        chosen[block.words] = columns
    return chosen


def _logs(codes: Codes) -> Scores:
    """Return ln g for codes."""
    return _LOGS.take(codes.view(np.uint8))
