"""Which word of a private text stands for which word of its original.

Words are replaced one for one, so they are paired in order, in texts with equally many
words before and after. Where other words came out (two output words that read as one),
or another tool wrote the file, the counts differ: such texts are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dptext.metrics import Batch
from dptext.tokens import kinds
from dptext.tokens.policy import DROP, PERTURB, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon, Words

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of texts before and after, with all of their words.

    rows_before and rows_after (m,) pair the words that the policy replaces, of texts
    with equally many words; compared counts those texts.
    """

    before: Words
    after: Words
    rows_before: Rows
    rows_after: Rows
    compared: int

    def batch(self, first_text: int) -> Batch:
        """Return the pairs as a run would count them; their epsilons are not known."""
        rows = self.rows_before
        words = replace(
            self.before,
            positions=self.before.positions[rows],
            texts=self.before.texts[rows],
            ids=self.before.ids[rows],
        )
        pieces = np.array([*self.after.pieces, ""], dtype=object)
        return Batch(
            words,
            written=self.after.ids[self.rows_after],
            spelled=pieces[self.after.positions[self.rows_after]],
            eps=np.full(len(rows), np.nan),
            first_text=first_text,
        )


class Aligner:
    """Split texts before and after, and pair their words.

    policy is that of the run: words that it leaves out have no partner, and of the
    others only those that it replaces are among the pairs.
    """

    def __init__(self, lexicon: Lexicon, policy: Policy | None = None) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        policy = policy or Policy()
        listed = Policy(keep=policy.keep, mask=policy.mask, forms=policy.forms)
        self._tokenizer = Tokenizer(lexicon, listed, every_word=True)
        treatments = [policy.treatment(kind) for kind in range(kinds.COUNT)]
        self._dropped = np.array([each == DROP for each in treatments])
        self._replaced = np.array([each == PERTURB for each in treatments])

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Split and pair a batch."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = kinds_of(one)
        left = ~self._dropped[kind]
        counts = np.bincount(one.texts[left], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        rows_before = np.flatnonzero(left & same[one.texts])
        rows_after = np.flatnonzero(same[two.texts])
        use = self._replaced[kind[rows_before]]
        return Aligned(one, two, rows_before[use], rows_after[use], int(same.sum()))


def kinds_of(words: Words) -> NDArray[np.uint8]:
    """Return the kind of each word: (n,)."""
    return words.flags[words.positions] & np.uint8(kinds.KIND)


def spelled(words: Words, rows: Rows) -> Iterator[str]:
    """Yield words as they stand in their texts, in lower case."""
    for position in words.positions[rows].tolist():
        yield words.pieces[position].strip(" ").lower()
