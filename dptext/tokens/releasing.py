"""What a decoder may see of a batch: a public function of draws and of what is kept.

Everything here is among what a statement's texts have in common under the policy
(dptext.guarantees.adjacency). What is not is blanked: kind, capitals and spacing of a
word that is replaced, the body of one that is masked or left out, and marks that are
dropped. Capital letters that `case: copy` keeps are no help to a decoder and stay out.
"""

from __future__ import annotations

import numpy as np

from dptext.tokens import kinds
from dptext.tokens.policy import DIGITS, KEEP, PERTURB, Policy
from dptext.types import Eps, Ids, Released, Words

_KINDS = np.arange(kinds.COUNT)
_MARKS = np.isin(_KINDS, (kinds.PUNCTUATION, kinds.SPACE))
# What no reader knows as a word of the vocabulary.
_OUTSIDE = (kinds.IDENTIFIER, kinds.KEPT, kinds.MASKED, kinds.FORMED)


class Releaser:
    """Reduce batches to what is released of them under one policy."""

    def __init__(self, policy: Policy) -> None:
        self._treatment = np.array([policy.treatment(kind) for kind in _KINDS.tolist()])
        self._drops_marks = policy.punctuation == "drop"

    def released(self, words: Words, drawn: Ids, eps: Eps) -> Released:
        """Return what a decoder sees: drawn (n,) words with public epsilons (n,)."""
        kind = words.flags & kinds.KIND
        treatment = self._treatment[kind]
        mark = _MARKS[kind]
        shown = np.where(np.isin(kind, _OUTSIDE), kinds.UNKNOWN, kind)
        shown[(treatment == PERTURB) & ~mark] = kinds.WORD
        enders = np.where(mark, words.flags & kinds.ENDER, 0)
        flags = (shown | enders).astype(np.uint8)
        pieces = [""] * len(kind)
        copied = np.isin(treatment, (KEEP, DIGITS)) & ~mark
        for position in np.flatnonzero(copied).tolist():
            pieces[position] = words.pieces[position].strip(" ")
        if not self._drops_marks:
            for position in np.flatnonzero(mark).tolist():
                pieces[position] = words.pieces[position]
            return Released(
                pieces, flags, words.ends, words.positions, words.texts, drawn, eps
            )
        before = np.concatenate(([0], np.cumsum(~mark)))
        return Released(
            [pieces[position] for position in np.flatnonzero(~mark).tolist()],
            flags[~mark],
            before[words.ends],
            before[words.positions],
            words.texts,
            drawn,
            eps,
        )
