"""The same epsilon for every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Words

EXAMPLE = {"epsilon": 8.0}


@dataclass(frozen=True, slots=True)
class Params:
    """epsilon per word; or risk, from which the epsilon is computed before the run."""

    epsilon: Annotated[float, Meta(gt=0, le=1e6)] | None = None
    risk: Annotated[float, Meta(gt=0, lt=1)] | None = None


def describe(state: Params) -> BudgetDescription:
    """Say that every replaced word gets the same epsilon."""
    assert state.epsilon is not None  # a risk has been turned into an epsilon by now
    return BudgetDescription(BudgetKind.WORD, state.epsilon, state.epsilon)


def spread(state: Params, words: Words, bits: RandomBits) -> Eps:
    """Return the epsilon of each word, (n,) float64."""
    assert state.epsilon is not None
    return np.full(len(words.ids), state.epsilon)
