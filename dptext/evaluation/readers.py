"""The epsilon at which a reader of whole texts finds so many words of public ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from dptext import pipeline
from dptext.budgets import uniform
from dptext.errors import InputError, UsageError
from dptext.evaluation.rows import texts_of
from dptext.measures import context_risk
from dptext.measures.context_risk import Reading
from dptext.profile import Part, Profile
from dptext.randomness import RunKey
from dptext.types import Lexicon

# Words of the corpus that are read at each epsilon, about.
_WORDS = 50_000


def calibrated(
    recipe: Profile,
    lexicon: Lexicon,
    target: float,
    reader: str,
    text: str,
    fields: tuple[str, ...],
) -> Crossing:
    """Return the epsilon of a profile at which a reader finds target of a public text.

    Of a large corpus the first 50,000 words are read. Raises UsageError and InputError.
    """
    texts: list[str] = []
    for batch in texts_of([text], fields, None):
        texts += batch
        if sum(map(len, texts)) > 6 * _WORDS:
            break

    def read(epsilon: float) -> Reading:
        params = uniform.Params(epsilon=epsilon)
        ready = pipeline.build(replace(recipe, budget=Part("uniform", params)), lexicon)
        # Public texts: a fixed seed, so that the search can be repeated.
        randomness = ready.randomness(RunKey.from_seed(0))
        results = context_risk.measure(
            ready, [context_risk.named(ready, reader)], [texts], randomness
        )
        if not results:
            raise InputError(f"{text}: no words of the lexicon to read")
        return results[0]

    ready = pipeline.build(recipe, lexicon)
    return search_by_reader(read, target, ready.budget.description.high)


# No smaller epsilon is tried; how far a larger one than the first is sought.
_LEAST, _GROWTH, _TIMES = 0.05, 1.2, 6
# The search ends where its limits are so near each other.
_NEAR = 0.01


class Crossing(NamedTuple):
    """An epsilon, and what the reader finds at it."""

    epsilon: float
    reading: Reading


def search_by_reader(
    read: Callable[[float], Reading], target: float, start: float
) -> Crossing:
    """Return about the largest epsilon at which a reader finds at most target.

    read returns what the reader finds at an epsilon, the same each time;
    start, an epsilon at which it may find more. Raises UsageError where target is below
    or above all that it finds.
    """
    best, high = _grown(read, target, start)
    low = best.epsilon if best is not None else 0.0
    while high - low > _NEAR * high and high > _LEAST:
        middle = (low + high) / 2.0
        reading = read(middle)
        if reading.success > target:
            high = middle
        else:
            low, best = middle, Crossing(middle, reading)
    if best is None:
        msg = (
            f"risk {target:.2%} is out of reach: even at epsilon {high:.2g} the reader "
            "finds more; give a larger risk"
        )
        raise UsageError(msg)
    return best


def _grown(
    read: Callable[[float], Reading], target: float, start: float
) -> tuple[Crossing | None, float]:
    """Return the last point that meets the target, from start up, and the next."""
    best, point = None, start
    for _ in range(_TIMES):
        reading = read(point)
        if reading.success > target:
            return best, point
        best, point = Crossing(point, reading), point * _GROWTH
    msg = (
        f"risk {target:.2%} is out of reach: at epsilon {point / _GROWTH:.3g} the "
        f"reader finds {reading.success:.2%} of this text; give a smaller risk"
    )
    raise UsageError(msg)
