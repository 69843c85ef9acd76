"""Which word of a private text stands for which word of its original.

Words are replaced one for one, so they are paired by place, in texts with equally many
words before and after. Where other words came out (two output words that read as one),
or another tool wrote the file, the counts differ: such texts are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import kinds
from dptext.tokens.policy import DROP, KEEP, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon, Words

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of texts before and after.

    mine and other (m,) pair rows of before.ids and of after.ids: words that the policy
    replaces, of texts with equally many words; compared counts those texts.
    """

    before: Words
    after: Words
    mine: Places
    other: Places
    compared: int


class Aligner:
    """Split texts before and after, and pair their words.

    policy is that of the run: words that it leaves out have no partner, words that it
    copies are none of the pairs.
    """

    def __init__(self, lexicon: Lexicon, policy: Policy | None = None) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        self._tokenizer = Tokenizer(lexicon, Policy())
        treated = [(policy or Policy()).treatment(kind) for kind in range(8)]
        self._dropped = np.array([each == DROP for each in treated])
        self._copied = np.array([each == KEEP for each in treated])

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Split and pair a batch."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = kinds_of(one)
        left = ~self._dropped[kind]
        counts = np.bincount(one.texts[left], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        mine = np.flatnonzero(left & same[one.texts])
        other = np.flatnonzero(same[two.texts])
        use = ~self._copied[kind[mine]]
        return Aligned(one, two, mine[use], other[use], int(same.sum()))


def kinds_of(words: Words) -> NDArray[np.uint8]:
    """Return the kind of each word: (n,)."""
    kind: NDArray[np.uint8] = words.flags[words.positions] & np.uint8(kinds.KIND)
    return kind


def spelled(words: Words, rows: Places) -> Iterator[str]:
    """Yield words as they stand in their texts, in lower case."""
    for position in words.positions[rows].tolist():
        yield words.pieces[position].strip(" ").lower()
