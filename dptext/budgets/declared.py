"""A public epsilon for each class of word, agreed before any text is read.

The class follows from the word by a public table, so that a text has no say in the
epsilon of its other words. Two words of different classes are drawn under different
epsilons: what they lose is in docs/guarantees.md, 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.budgets import _classes
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Lexicon, Words

EXAMPLE = {"epsilons": {"top-100": 10.0, "top-1000": 9.0, "other": 7.0}}


@dataclass(frozen=True, slots=True)
class Params:
    """epsilons by class; by frequency, part-of-speech or table (a CSV file).

    Classes by frequency are top-100, top-1000, top-10000 and rare, by part of speech
    noun, verb, adjective, adverb, name and function-word; every table also has the
    classes number and unknown; "other" stands for classes that are not named.
    """

    epsilons: dict[str, Annotated[float, Meta(gt=0, le=1e6)]]
    by: str = "frequency"
    table: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """epsilon of each row, (V + 1,) float64; where it comes from, and its digest."""

    of: NDArray[np.float64]
    used: str
    content: Mapping[str, str]


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Look the class of each word of the vocabulary up."""
    found = _classes.classes(lexicon, params.by, params.table)
    told = ", ".join(f"{name} {value:g}" for name, value in params.epsilons.items())
    used = f"Epsilon by {params.by.replace('-', ' ')}: {told}."
    return State(found.epsilons(params.epsilons)[found.of], used, found.content)


def content(state: State) -> Mapping[str, str]:
    """Return the digest of the table, where there is one."""
    return state.content


def describe(state: State) -> BudgetDescription:
    """Say that epsilon follows from the word, by a public table."""
    low, high = float(state.of.min()), float(state.of.max())
    return BudgetDescription(BudgetKind.TYPE, low, high, used=(state.used,))


def spread(state: State, words: Words, bits: RandomBits) -> Eps:
    """Return the epsilon of each word's class, (n,) float64."""
    return state.of[words.ids]
