"""The class of each word first, by randomised response; then the word at its epsilon.

The class that is drawn, not the true one, chooses the epsilon: that the text has a say
costs `first`, once for each word (docs/guarantees.md, 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.budgets import BUDGET_LANE, _classes
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words

Epsilon = Annotated[float, Meta(gt=0, le=1e6)]

EXAMPLE = {"first": 0.5, "epsilons": {"top-100": 10.0, "other": 7.0}}


@dataclass(frozen=True, slots=True)
class Params:
    """first, epsilon of the class; epsilons by class, as in the budget declared."""

    first: Annotated[float, Meta(ge=1e-6, le=30)]
    epsilons: dict[str, Epsilon]
    by: str = "frequency"
    table: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Classes of the rows (V + 1,), epsilons (c,), and where they come from."""

    classes: _classes.Classes
    epsilons: NDArray[np.float64]
    first: float
    used: str


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Look the class of each word of the vocabulary up."""
    found = _classes.classes(lexicon, params.by, params.table)
    told = ", ".join(f"{name} {value:g}" for name, value in params.epsilons.items())
    used = f"Epsilon by {params.by.replace('-', ' ')}: {told}."
    return State(found, found.epsilons(params.epsilons), params.first, used)


def content(state: State) -> Mapping[str, str]:
    """Return the digest of the table, where there is one."""
    return state.classes.content


def describe(state: State) -> BudgetDescription:
    """Say that the class is drawn first."""
    low, high = float(state.epsilons.min()), float(state.epsilons.max())
    return BudgetDescription(
        BudgetKind.CLASS, low, high, first=state.first, used=(state.used,)
    )


def released(state: State, words: Words, bits: RandomBits) -> NDArray[np.int64]:
    """Draw the class of each word by randomised response over c classes: (n,) int64.

    The true class has e^first times the weight of any other.
    """
    own = state.classes.ids(words.ids)
    count = len(state.classes.names)
    integers = bits.integers(BUDGET_LANE)
    # With probability c / (e^first + c - 1) any class, each equally likely: else the
    # true one, which then has weight e^first against 1.
    spared = np.expm1(state.first) / (np.expm1(state.first) + count)
    stays = bits.unit(integers[:, 0]) < spared
    return np.where(stays, own, bits.below(integers[:, 1], count))


def spread(state: State, words: Words, bits: RandomBits) -> Eps:
    """Return the epsilon of each word's drawn class, (n,) float64."""
    return state.epsilons[released(state, words, bits)]
