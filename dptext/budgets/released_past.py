"""Epsilon chosen by what has been released: the class of the word drawn before.

A word after a word of some public class gets that class's epsilon, as far as the total
of the text goes. Since the choice looks at released words alone, a text loses at most
its total, whatever it is (adaptive composition; docs/guarantees.md, 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.budgets import Draw, _classes, positions_in_text
from dptext.randomness import RandomBits
from dptext.types import BudgetDescription, BudgetKind, Eps, Ids, Lexicon, Words

Epsilon = Annotated[float, Meta(gt=0, le=1e6)]
_LONGEST_TEXT = 1e9

EXAMPLE = {"epsilon": 60.0, "start": 4.0, "epsilons": {"top-100": 8.0, "other": 6.0}}


@dataclass(frozen=True, slots=True)
class Params:
    """epsilon, the total of a text; start, that of its first word.

    epsilons by the class of the word released before, as in the budget declared; min,
    which every word gets at least, or an equal part of the total where that is less.
    """

    epsilon: Epsilon
    start: Epsilon
    epsilons: dict[str, Epsilon]
    min: Epsilon = 0.1
    by: str = "frequency"
    table: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The settings, the epsilon after each row (V + 1,), where they come from.

    content: the digest of the table, where there is one.
    """

    params: Params
    after: NDArray[np.float64]
    used: str
    content: Mapping[str, str]


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Look the class of each word of the vocabulary up."""
    found = _classes.classes(lexicon, params.by, params.table)
    told = ", ".join(f"{name} {value:g}" for name, value in params.epsilons.items())
    used = (
        f"Epsilon by the {params.by.replace('-', ' ')} of the word released before: "
        f"{told}; {params.start:g} at the beginning of a text."
    )
    after = found.epsilons(params.epsilons)[found.of]
    return State(params, after, used, found.content)


def content(state: State) -> Mapping[str, str]:
    """Return the digest of the table, where there is one."""
    return state.content


def describe(state: State) -> BudgetDescription:
    """Say that released words choose, within a total."""
    params = state.params
    high = min(max(params.start, params.min, float(state.after.max())), params.epsilon)
    low = min(params.min, params.epsilon / _LONGEST_TEXT)
    return BudgetDescription(
        BudgetKind.PAST, low, high, total=params.epsilon, used=(state.used,)
    )


def release(
    state: State, words: Words, bits: RandomBits, draw: Draw
) -> tuple[Ids, Eps]:
    """Draw the words of all texts place by place; return them and their epsilons."""
    params = state.params
    position = positions_in_text(words)
    counts = np.bincount(words.texts, minlength=len(words.ends))
    # A little is held back, so that rounding never takes a sum above the total.
    total = params.epsilon * (1.0 - 1e-9)
    floor = np.minimum(params.min, total / np.maximum(counts, 1))
    left = np.full(len(words.ends), total)
    wanted = np.full(len(words.ends), params.start)
    drawn = np.empty(len(words.ids), np.int32)
    eps = np.empty(len(words.ids))
    order = np.argsort(position, kind="stable")
    begins = np.searchsorted(position[order], np.arange(position.max(initial=-1) + 2))
    for number, (begin, end) in enumerate(pairwise(begins.tolist())):
        at = order[begin:end]
        texts = words.texts[at]
        # What the words that are still to come need at least is kept for them.
        most = left[texts] - floor[texts] * (counts[texts] - number - 1)
        eps[at] = np.clip(wanted[texts], floor[texts], np.maximum(most, floor[texts]))
        drawn[at] = draw(at, eps[at])
        left[texts] -= eps[at]
        wanted[texts] = state.after[drawn[at]]
    return drawn, eps
