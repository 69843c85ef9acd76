"""A public total per text, in equal parts for the words that are replaced in it.

The parts depend on nothing but the number of those words, which the output shows anyway
(docs/guarantees.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Words

EXAMPLE = {"epsilon": 40.0}


@dataclass(frozen=True, slots=True)
class Params:
    """epsilon of a whole text."""

    epsilon: Annotated[float, Meta(gt=0, le=1e6)]


def describe(state: Params) -> BudgetDescription:
    """Say that the words of a text share a total in equal parts."""
    # A part may be as small as a text is long.
    return BudgetDescription(BudgetKind.TEXT, 0.0, state.epsilon, total=state.epsilon)


def spread(state: Params, words: Words, bits: RandomBits) -> Eps:
    """Return each word's part of its text's total, (n,) float64."""
    counts = np.bincount(words.texts, minlength=len(words.ends))
    parts: Eps = state.epsilon / counts[words.texts]
    return parts
