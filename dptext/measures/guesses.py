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
    exact log-probabilities and one epsilon that writes what is drawn, keeps 8 bytes a
    word; the masked-word attack keeps the private texts.
    """

    def __init__(
        self,
        pipeline: Pipeline | None,
        *,
        bayes: bool = True,
        masked_model: str | None = None,
        masked_words: int = 2000,
    ) -> None:
        exact = (
            pipeline is not None
            and pipeline.mechanism.has_log_probs
            and pipeline.budget.description.kind is BudgetKind.WORD
            and not pipeline.profile.decoder.params.reads
        )
        self._attacked = pipeline if exact and bayes else None
        self._model, self._most = masked_model, masked_words
        self._same = self._words = 0
        self._before: list[Ids] = []
        self._after: list[Ids] = []
        self._hidden: list[Hidden] = []

    def add(self, aligned: Aligned) -> None:
        """Take in a batch."""
        before: Ids = aligned.before.ids[aligned.rows_before]
        after: Ids = aligned.after.ids[aligned.rows_after]
        known = (before >= 0) & (after >= 0)
        before, after = before[known], after[known]
        self._words += len(before)
        self._same += int(np.count_nonzero(before == after))
        if self._attacked is not None:
            self._before.append(before)
            self._after.append(after)
        if self._model is not None:
            self._hidden += _hidden(aligned)

    def attacks(self) -> tuple[Attack, ...]:
        """Return how often the attacks are right; none without words."""
        if not self._words:
            return ()
        results = [attacks.nearest(self._same, self._words)]
        pipeline = self._attacked
        if pipeline is not None:
            public = prior.replaced(pipeline.lexicon, pipeline.profile.tokens)
            risk, _ = risk_of(pipeline)
            results.append(
                attacks.bayes(
                    pipeline.mechanism,
                    pipeline.budget.description.high,
                    public,
                    np.concatenate(self._before),
                    np.concatenate(self._after),
                    None if risk is None else risk.success,
                )
            )
        return tuple(results)

    def masked(self) -> Guessed | None:
        """Return what a masked language model finds, None where none is given."""
        if self._model is None:
            return None
        return masked_word.attack(self._model, self._hidden, self._most)


def _hidden(aligned: Aligned) -> list[Hidden]:
    """Return each private text with the words to guess."""
    texts = aligned.after.texts[aligned.rows_after]
    positions = aligned.after.positions[aligned.rows_after]
    originals = list(spelled(aligned.before, aligned.rows_before))
    hidden = []
    starts = np.flatnonzero(np.diff(texts, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        text = int(texts[begin])
        first = int(aligned.after.ends[text - 1]) if text else 0
        pieces = aligned.after.pieces[first : int(aligned.after.ends[text])]
        at = (positions[begin:end] - first).tolist()
        hidden.append(Hidden(pieces, at, originals[begin:end]))
    return hidden
