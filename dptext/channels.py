"""From a profile made ready to what a reader of its releases knows."""

from __future__ import annotations

import numpy as np

from dptext.budgets import AnyBudget, Budget
from dptext.measures import prior
from dptext.mechanisms import Mechanism
from dptext.profile import Profile
from dptext.randomness import Randomness, RunKey
from dptext.readers.channel import Channel
from dptext.tokens import kinds
from dptext.types import BudgetKind, Eps, Words


def of(recipe: Profile, mechanism: Mechanism, budget: AnyBudget) -> Channel:
    """Return what a reader of released words knows of how they were drawn."""
    lexicon = mechanism.space.lexicon
    description = budget.description
    eps_of_row = None
    if description.kind is BudgetKind.TYPE and isinstance(budget, Budget):
        eps_of_row = _epsilons_of_rows(budget, len(lexicon.words))
    words = prior.replaced(lexicon, recipe.tokens)
    return Channel(lexicon, recipe.tokens, mechanism, description, words, eps_of_row)


def _epsilons_of_rows(budget: Budget, size: int) -> Eps:
    """Return the epsilon of each word of the vocabulary and of the unknown: (V + 1,).

    For a budget that looks at the word alone: each stands in a text of its own.
    """
    positions = np.arange(size + 1)
    ids = np.append(positions[:-1], -1).astype(np.int32)
    flags = np.full(size + 1, kinds.WORD, np.uint8)
    words = Words([""] * (size + 1), flags, positions + 1, positions, positions, ids)
    bits = Randomness(RunKey.from_seed(0), "").of([bytes(16)], positions * 0)
    return budget.spread(words, bits)
