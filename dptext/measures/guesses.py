"""Attacks on the words of pairs of texts, collected batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dptext.measures import attacks, masked_word, prior
from dptext.measures.alignment import Aligned, spelled
from dptext.measures.attacks import Attack
from dptext.measures.masked_word import Guessed, Hidden
from dptext.measures.public import risk_of
from dptext.types import BudgetKind, Ids

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline


class Guesses:
    """Take aligned words in.

    The nearest guess is counted on the way. The Bayes attack, for a known pipeline with
    an exact law and one epsilon, keeps 8 bytes a word; the masked-word attack keeps the
    private texts.
    """

    def __init__(
        self,
        made: Pipeline | None,
        *,
        bayes: bool = True,
        masked_model: str | None = None,
        masked_words: int = 2000,
    ) -> None:
        law = (
            made is not None
            and made.mechanism.has_log_probs
            and made.budget.description.kind is BudgetKind.WORD
        )
        self._made = made if law and bayes else None
        self._model, self._most = masked_model, masked_words
        self._same = self._words = 0
        self._before: list[Ids] = []
        self._after: list[Ids] = []
        self._hidden: list[Hidden] = []

    def add(self, found: Aligned) -> None:
        """Take in a batch."""
        before: Ids = found.before.ids[found.rows_before]
        after: Ids = found.after.ids[found.rows_after]
        known = (before >= 0) & (after >= 0)
        before, after = before[known], after[known]
        self._words += len(before)
        self._same += int(np.count_nonzero(before == after))
        if self._made is not None:
            self._before.append(before)
            self._after.append(after)
        if self._model is not None:
            self._hidden += _hidden(found)

    def attacks(self) -> tuple[Attack, ...]:
        """Return how often the attacks are right; none without words."""
        if not self._words:
            return ()
        found = [attacks.nearest(self._same, self._words)]
        made = self._made
        if made is not None:
            public = prior.replaced(made.lexicon, made.profile.tokens)
            risk, _ = risk_of(made)
            found.append(
                attacks.bayes(
                    made.mechanism,
                    made.budget.description.high,
                    public,
                    np.concatenate(self._before),
                    np.concatenate(self._after),
                    None if risk is None else risk.success,
                )
            )
        return tuple(found)

    def masked(self) -> Guessed | None:
        """Return what a masked language model finds, None where none is given."""
        if self._model is None:
            return None
        return masked_word.attack(self._model, self._hidden, self._most)


def _hidden(found: Aligned) -> list[Hidden]:
    """Return each private text with the words to guess."""
    texts = found.after.texts[found.rows_after]
    positions = found.after.positions[found.rows_after]
    originals = list(spelled(found.before, found.rows_before))
    hidden = []
    starts = np.flatnonzero(np.diff(texts, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        text = int(texts[begin])
        first = int(found.after.ends[text - 1]) if text else 0
        pieces = found.after.pieces[first : int(found.after.ends[text])]
        at = (positions[begin:end] - first).tolist()
        hidden.append(Hidden(pieces, at, originals[begin:end]))
    return hidden
