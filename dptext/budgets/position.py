"""A public epsilon for each place in a text: the first words, then all the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.budgets import positions_in_text
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Words

Epsilon = Annotated[float, Meta(gt=0, le=1e6)]

EXAMPLE = {"epsilons": [2.0, 4.0], "rest": 8.0}


@dataclass(frozen=True, slots=True)
class Params:
    """epsilons of the first replaced words of a text, in order; rest for the others."""

    epsilons: list[Epsilon]
    rest: Epsilon


def describe(state: Params) -> BudgetDescription:
    """Say that epsilon follows from the place."""
    every = (*state.epsilons, state.rest)
    told = ", ".join(f"{value:g}" for value in state.epsilons)
    used = f"Epsilon of all words: {state.rest:g}."
    if told:
        used = f"Epsilon from the first word on: {told}; all others {state.rest:g}."
    return BudgetDescription(BudgetKind.POSITION, min(every), max(every), used=(used,))


def spread(state: Params, words: Words, bits: RandomBits) -> Eps:
    """Return the epsilon of each word's place, (n,) float64."""
    table = np.array((*state.epsilons, state.rest))
    return table[np.minimum(positions_in_text(words), len(table) - 1)]
