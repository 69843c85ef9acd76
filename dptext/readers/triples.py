"""Triples of words: the posterior of drawn words by the two words before each.

g(w, x, x') = p(x'|w, x) / p(x'|x), the gain of a triple over its pair, of triples that
were seen and differ; for other words after a pair that begins some triple it is the
back-off weight of that pair, and 1 after all other pairs (Katz 1987). The triples that
ship stand in one file beside the pairs that ship, with rows of the same words.

States are pairs of neighbouring words, so that a chain of c candidates costs c^3 for
each word: only the likeliest few by pairs are asked about. As with pairs, gains
are codes of one byte, and sums are made one part after the other, in single precision.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dptext import settings
from dptext.errors import LexiconError
from dptext.readers import kernel, ngrams
from dptext.readers.ngrams import Gains, coded, decoded
from dptext.readers.posterior import (
    ChainBlock,
    Chains,
    Codes,
    Floats,
    Slots,
    WordCandidates,
    by_word,
    summed,
)
from dptext.types import Lexicon

# Candidates of a word that a decoder reads again by triples, and an attacker, who has
# time.
READ, MANY = 5, 8
FILE = "triples.npz"


@dataclass(frozen=True, eq=False)
class Triples:
    """Gains of triples of slots of a table of pairs.

    Pairs with the first slot s stand at begins[s] to begins[s + 1], ascending, with
    their seconds (m,) and backoff (m,); the triples of pair p at ends[p] to
    ends[p + 1], ascending, with their thirds (t,) and gains (t,), codes like backoff.
    """

    begins: NDArray[np.int64]
    seconds: Slots
    backoff: Codes
    ends: NDArray[np.int64]
    thirds: Slots
    gains: Codes
    digest: str

    @classmethod
    def of(cls, table: Gains, lexicon: Lexicon, power: float) -> Triples:
        """Read the triples that ship, over the words of a lexicon, to a power."""
        path = ngrams.packaged_model() / FILE
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            rows = [arrays[name].astype(np.int64) for name in ("first", "second")]
            thirds, ends = arrays["third"].astype(np.int64), arrays["ends"]
            backoff, gains = arrays["backoff"], arrays["gains"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            msg = f"{path}: damaged or missing; install dptext again"
            raise LexiconError(msg) from None
        slot_of = _slots(table, lexicon)
        first, second = (slot_of[each] for each in rows)
        owner = np.repeat(np.arange(len(first)), np.diff(ends, prepend=0))
        third = slot_of[thirds]
        kept = (first > 0) & (second > 0)
        keys = np.where(kept, first * np.int64(table.width) + second, -1)
        pairs, at = np.unique(keys, return_index=True)
        at, pairs = at[pairs >= 0], pairs[pairs >= 0]
        # Rows that share a slot count once: the first of them.
        inside = (third > 0) & np.isin(owner, at)
        owner, third, gains = owner[inside], third[inside], gains[inside]
        numbers = np.zeros(len(first), np.int64)
        numbers[at] = np.arange(len(at))
        triples = numbers[owner] * table.width + third
        triples, chosen = np.unique(triples, return_index=True)
        begins = np.searchsorted(pairs, np.arange(table.width + 1) * table.width)
        of_pair = np.arange(len(at) + 1) * table.width
        weighed = coded(power * np.log(decoded(np.arange(256).astype(np.int8))))
        return cls(
            begins.astype(np.int64),
            (pairs % table.width).astype(np.int32),
            weighed[backoff[at].view(np.uint8)],
            np.searchsorted(triples, of_pair).astype(np.int64),
            (triples % table.width).astype(np.int32),
            weighed[gains[chosen].view(np.uint8)],
            settings.digest_of_path(path),
        )

    def codes(self, first: Slots, second: Slots, third: Slots) -> Codes:
        """Return the codes of the gains of triples of slots, arrays that broadcast."""
        width = len(self.begins) - 1
        firsts = np.repeat(np.arange(width), np.diff(self.begins))
        pair, seen = _position(
            firsts * width + self.seconds, first * np.int64(width) + second
        )
        owners = np.repeat(np.arange(len(self.seconds)), np.diff(self.ends))
        triple, known = _position(owners * width + self.thirds, pair * width + third)
        codes = np.where(known, self.gains.take(triple, mode="clip"), 0)
        others = self.backoff.take(pair, mode="clip")
        return np.where(seen, np.where(known, codes, others), 0).astype(np.int8)


shipped = lru_cache(maxsize=2)(Triples.of)


def _position(
    keys: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where numbers stand in ascending keys, and which are there."""
    at = np.searchsorted(keys, wanted)
    return at, np.asarray(keys.take(at, mode="clip") == wanted)


def _slots(table: Gains, lexicon: Lexicon) -> NDArray[np.int64]:
    """Return the slot of each row of the file: 0, none, for words without their own."""
    words = ngrams.load(ngrams.packaged_model()).words
    slots = table.slot_of.astype(np.int64)
    if words != lexicon.words:
        row_of, size = lexicon.row_of, len(lexicon.words)
        rows = [row_of.get(word.lower(), size) for word in words]
        slots = slots[[*rows, size, size + 1]]
        slots[np.array([*rows, size, 0]) == size] = 0
    slots[len(words)] = 0
    return slots


def marginals(
    chains: Chains, words: WordCandidates, gains: Gains, triples: Triples
) -> Floats:
    """Return the posterior probability of each candidate: (c, n), columns sum to 1."""
    if kernel.library is None:
        return _marginals(chains, words, gains, triples)
    slots, weights, backoff = map(by_word, words)
    posterior = np.empty(weights.shape, np.float32)
    states = chains.longest * weights.shape[1] ** 2
    kernel.library.triple_marginals(
        *(*weights.shape, *chains.slots(gains), slots, weights, backoff),
        *(gains.table, gains.width, triples.begins),
        *(triples.seconds, triples.backoff),
        *(triples.ends, triples.thirds, triples.gains),
        *(np.empty(states * weights.shape[1], np.int8), np.empty(states, np.float32)),
        *(np.empty(states, np.float32), posterior),
    )
    return posterior.T


def _marginals(
    chains: Chains, words: WordCandidates, gains: Gains, triples: Triples
) -> Floats:
    posterior = np.empty_like(words.weights)
    for block in chains.blocks():
        part = WordCandidates(
            words.slots[:, block.words],
            words.weights[:, block.words],
            words.backoff[:, block.words],
        )
        before = gains.slot_of[chains.before[block.words[block.steps[0]]]]
        after = chains.after[block.words]
        ends = np.where(after >= 0, gains.slot_of[after], -1).astype(np.int32)
        posterior[:, block.words] = _of_block(block, part, before, ends, gains, triples)
    return posterior


def _of_block(
    block: ChainBlock,
    words: WordCandidates,
    before: Slots,
    after: Slots,
    gains: Gains,
    triples: Triples,
) -> Floats:
    """Return the posterior of a block: forward (word before, word, chains) and back."""
    steps, width = block.steps, len(words.slots)
    # The known word before a chain stands for all candidates of the place before it.
    slots = [np.broadcast_to(before, (width, len(before)))]
    slots += [words.slots[:, now] for now in steps]
    backoff = [words.backoff[:, now] for now in steps]
    weights = [words.weights[:, now] for now in steps]
    forward = [np.zeros((width, width, len(before)), np.float32)]
    begun = decoded(gains.of(before, slots[1])) * weights[0]
    forward[0][0] = begun
    forward[0] = _scaled(forward[0])
    codes, pairs = [], []
    for step in range(1, len(steps)):
        here = slots[step + 1]
        count = here.shape[1]
        first, second = slots[step - 1][:, :count], slots[step][:, :count]
        codes.append(triples.codes(first[:, None, None], second[:, None], here))
        pair = decoded(gains.of(second[:, None], here))
        pair *= backoff[step - 1][:, None, :count]
        into = decoded(codes[-1]) * forward[step - 1][:, :, None, :count]
        sums = summed(into) * pair * weights[step]
        forward.append(_scaled(sums))
        pairs.append(pair)
    posterior = np.empty_like(words.weights)
    ahead = np.empty((width, width, 0), np.float32)
    for step in reversed(range(len(steps))):
        now, here = steps[step], slots[step + 1]
        ended = slice(ahead.shape[2], here.shape[1])
        end, last = after[now][ended], here[:, ended]
        out = decoded(gains.of(last, end)) * backoff[step][:, ended]
        closes = decoded(triples.codes(slots[step][:, None, ended], last, end))
        ahead = np.concatenate((ahead, out * closes), axis=2)
        likely = summed(forward[step] * ahead)
        posterior[:, now] = likely / summed(likely)
        if step:
            onward = ahead * pairs[step - 1] * weights[step]
            three = decoded(codes[step - 1]) * onward
            ahead = _scaled(summed(np.moveaxis(three, 2, 0)))
    return posterior


def _scaled(states: Floats) -> Floats:
    """Divide the states of each chain by the largest, so that they stay in range."""
    return np.asarray(states / states.max(axis=(0, 1)))
