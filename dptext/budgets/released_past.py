"""Epsilon chosen by the class of the word drawn before.

A word after a word of some public class gets the epsilon of that class, within the
total of the text. Since the choice depends on released words alone, a text loses at
most its total (adaptive composition; docs/guarantees.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from dptext import budgets, randomness
from dptext.budgets import Draw, Epsilon, declared, positions_in_text
from dptext.types import BudgetDescription, BudgetKind, Eps, Floats, Ids, Lexicon, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Params(declared.ClassParams):
    """Settings of the budget; epsilons are keyed by the previous drawn word's class."""

    EXAMPLE: ClassVar = {
        "epsilon": 60.0,
        "start": 4.0,
        "epsilons": {"top-100": 8.0, "other": 6.0},
    }

    #: The total of a text.
    epsilon: Epsilon
    #: Of the first word of a text.
    start: Epsilon
    #: The least of a word, or an equal part of the total if that is less.
    min: Epsilon = 0.1

    def prepare(self, lexicon: Lexicon) -> ReleasedPast:
        """Look up the class of each word of the vocabulary."""
        classes = declared.classes(lexicon, self.by, self.table)
        after = classes.epsilons(self.epsilons)[classes.rows]
        return ReleasedPast(classes, self, after)


@dataclass(frozen=True, slots=True)
class ReleasedPast(declared.ByClass, budgets.SequentialBudget):
    """Budget whose epsilon depends on the previously drawn word."""

    params: Params
    #: The epsilon of a word after a word of each row: (V + 1,).
    after: Floats

    @property
    def description(self) -> BudgetDescription:
        """Describe epsilons chosen by released words, within a total."""
        params, total = self.params, self.params.epsilon
        high = min(max(params.start, params.min, float(self.after.max())), total)
        low = min(params.min, total / budgets.LONGEST_TEXT)
        used = (
            f"Epsilon by the {params.by.replace('-', ' ')} of the word released "
            f"before: {params.listed()}; {params.start:g} at the beginning of a text."
        )
        return BudgetDescription(BudgetKind.PAST, low, high, total=total, used=(used,))

    def release(
        self, words: Words, bits: randomness.RandomBits, draw: Draw
    ) -> tuple[Ids, Eps]:
        """Draw the first words of all texts, then the second words, and so on."""
        params = self.params
        position = positions_in_text(words)
        counts = np.bincount(words.texts, minlength=len(words.ends))
        # A little less, so that rounding cannot take a sum above the total.
        total = params.epsilon * (1.0 - 1e-9)
        floor = np.minimum(params.min, total / np.maximum(counts, 1))
        remaining = np.full(len(words.ends), total)
        wanted = np.full(len(words.ends), params.start)
        drawn = np.empty(len(words.ids), np.int32)
        eps = np.empty(len(words.ids))
        order = np.argsort(position, kind="stable")
        numbers = np.arange(position.max(initial=-1) + 2)
        begins = np.searchsorted(position[order], numbers)
        for number, (begin, end) in enumerate(pairwise(begins.tolist())):
            at = order[begin:end]
            texts = words.texts[at]
            # The floor of all later words is reserved for them.
            most = remaining[texts] - floor[texts] * (counts[texts] - number - 1)
            least = floor[texts]
            eps[at] = np.clip(wanted[texts], least, np.maximum(most, least))
            drawn[at] = draw(at, eps[at])
            remaining[texts] -= eps[at]
            wanted[texts] = self.after[drawn[at]]
        return drawn, eps
