"""Released texts as chains of drawn words, each chain between two known contexts.

A chain ends where a sentence ends or a kept word stands: given that word, what is left
of it says nothing of what is right of it to a model of pairs. Other marks are passed
over, as in the texts that such models are made from. A word that is masked, left out or
outside the vocabulary is a context that is known to be some other word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import kinds
from dptext.tokens.regex import key_of
from dptext.types import Released

# Chains that are read together, and their words, about: few enough for the caches.
_CHAINS, _WORDS = 384, 2**14


@dataclass(frozen=True, slots=True)
class Chains:
    """Drawn words (n,) in chains; rows are those of an n-gram model over V words.

    before (n,) row of the known context of the first word of a chain, -1 elsewhere;
    after (n,) row of what follows its last word, -1 elsewhere.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]

    def blocks(self) -> Iterator[Block]:
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
            yield Block(words, np.cumsum(inside.sum(axis=1)).tolist())


class Block(NamedTuple):
    """Chains side by side: words (m,), all first ones, then all second ones, ...

    ends: where each step ends in words. The k-th word of a step is of the k-th chain,
    longer chains first.
    """

    words: NDArray[np.int64]
    ends: list[int]

    @property
    def steps(self) -> list[slice]:
        """Return where the words of each step stand."""
        return [slice(*pair) for pair in pairwise([0, *self.ends])]


class Lattice:
    """Find the chains of batches, for one vocabulary."""

    def __init__(self, row_of: Mapping[str, int], number: int) -> None:
        """row_of, row of each word in lower case; number, of the one for numbers."""
        self._row_of, self._number = row_of, number
        self._unknown = len(row_of)
        self._edge = self._unknown + 1

    def chains(self, released: Released) -> Chains:
        """Return the chains of a batch."""
        kind = released.flags & kinds.KIND
        known = np.full(len(kind), -1, np.int64)
        known[kind == kinds.UNKNOWN] = self._unknown
        known[kind == kinds.NUMBER] = self._number
        for position in np.flatnonzero(kind == kinds.STOP_WORD).tolist():
            key = key_of(released.pieces[position])
            known[position] = self._row_of.get(key, self._unknown)
        known[(released.flags & kinds.ENDER) != 0] = self._edge
        fixed = np.flatnonzero(known >= 0)
        begins = np.concatenate(([0], released.ends[:-1]))
        drawn, texts = released.positions, released.texts
        # The last known piece before each drawn word, if none drawn stands between.
        last = np.searchsorted(fixed, drawn) - 1
        at = (
            np.where(last >= 0, fixed[last], -1)
            if len(fixed)
            else np.full(len(drawn), -1)
        )
        earlier = np.concatenate(([-1], drawn[:-1]))
        new_text = np.ones(len(drawn), bool)
        new_text[1:] = texts[1:] != texts[:-1]
        at = np.where(at >= begins[texts], at, -1)
        before = np.where(at > np.where(new_text, -1, earlier), known[at], -1)
        before[new_text & (before < 0)] = self._edge
        after = np.full(len(drawn), -1, np.int64)
        closes = np.append(before[1:] >= 0, True)[: len(drawn)]
        following = np.searchsorted(fixed, drawn[closes])
        inside = following < len(fixed)
        piece = (
            fixed[np.minimum(following, len(fixed) - 1)] if len(fixed) else following
        )
        inside &= piece < released.ends[texts[closes]]
        after[closes] = np.where(inside, known[piece] if len(fixed) else 0, self._edge)
        return Chains(before, after)
