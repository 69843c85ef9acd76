"""The weighted mean of scores, and shares of a total in proportion to weights.

The scores of a profile with their weights, and the weighted mean over the words.

Shares of a total, in proportion to weights, within bounds for each word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import registry
from dptext.budgets.scores import Params, Score
from dptext.errors import UsageError
from dptext.settings import convert
from dptext.types import Lexicon, Words

# What is never given away, so that rounded sums stay below the total.
_HELD_BACK = 2.0**-40


def normalized(values: Column, texts: NDArray[np.int64], count: int) -> Column:
    """Return values that sum to 1 over each of count texts; equal ones where all are 0.

    values (n,) >= 0; texts (n,) the text of each.
    """
    sums = np.bincount(texts, values, minlength=count)
    sizes = np.bincount(texts, minlength=count)
    even = 1.0 / np.maximum(sizes, 1)
    shares = np.divide(values, sums[texts], out=even[texts], where=(sums > 0)[texts])
    return np.asarray(shares)


def fill(
    weights: Column, texts: NDArray[np.int64], totals: Column, low: Column, high: Column
) -> Column:
    """Return clip(factor * weight, low, high), one factor a text, that sum to totals.

    weights (n,) > 0; totals, low, high (r,), low <= high. Where low is too much for
    all, each word gets an equal part; where high is too little, the rest of the total
    is not spent. Exact: what passes a bound is held there and the rest shared anew;
    whichever side passes by more is certain to be at its bound in the end, so nothing
    that is held is ever let go again.
    """
    count = len(totals)
    sizes = np.bincount(texts, minlength=count)
    totals = totals * (1.0 - _HELD_BACK)
    floor = np.minimum(low, totals / np.maximum(sizes, 1))[texts]
    ceiling = np.maximum(high[texts], floor)
    # Where the total is but the floors, or all the caps, there is nothing to share.
    full = (high * sizes <= totals)[texts]
    free = (low * sizes < totals)[texts] & ~full
    eps = np.where(full, ceiling, floor)
    while free.any():
        fixed = np.bincount(texts, np.where(free, 0.0, eps), minlength=count)
        sums = np.bincount(texts, np.where(free, weights, 0.0), minlength=count)
        factor = (totals - fixed) / np.where(sums > 0, sums, 1.0)
        wanted = np.where(free, factor[texts] * weights, eps)
        over = np.bincount(texts, np.maximum(wanted - ceiling, 0), minlength=count)
        under = np.bincount(texts, np.maximum(floor - wanted, 0), minlength=count)
        above = free & (wanted > ceiling) & (over >= under)[texts]
        below = free & (wanted < floor) & (over < under)[texts]
        eps = np.where(above, ceiling, np.where(below, floor, wanted))
        held = above | below
        # A text without anything held is done.
        again = np.bincount(texts, held, minlength=count) > 0
        free &= again[texts] & ~held
    return np.asarray(np.clip(eps, floor, ceiling))


Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A score made ready, with its name and its weight > 0."""

    name: str
    weight: float
    score: Score

    @property
    def content(self) -> dict[str, str]:
        """Return the digests of what its settings name, and of another's code."""
        digests = dict(self.score.content)
        if code := registry.code("budgets.scores", self.name):
            digests |= {"code": code, "used": self.score.description}
        return {f"scores.{self.name}.{key}": value for key, value in digests.items()}

    @property
    def description(self) -> str:
        """Say name, weight and what it rests on."""
        return f"{self.name} (weight {self.weight:g}): {self.score.description}"

    def values(self, words: Words) -> Column:
        """Return the score of each word, (n,). Raises UsageError for what is none."""
        values = self.score.values(words)
        fits = values.shape == words.ids.shape
        if not fits or not (np.isfinite(values) & (values >= 0)).all():
            raise UsageError(
                f"the score {self.name} gave something else than numbers from 0 up"
            )
        return values


def prepare(
    settings: Mapping[str, object], lexicon: Lexicon
) -> tuple[WeightedScore, ...]:
    """Read a mapping from names to weights or settings; leave out what is off.

    Raises UsageError that names the key.
    """
    read = ((name, *_settings(name, value)) for name, value in settings.items())
    scores = tuple(
        WeightedScore(name, weight, params.prepare(lexicon))
        for name, weight, params in read
        if weight > 0
    )
    if not scores:
        raise UsageError(
            "budget: scores: none is on; name at least one, as in frequency: 1"
        )
    return scores


def combined(
    scores: tuple[WeightedScore, ...], words: Words
) -> tuple[Column, dict[str, Column]]:
    """Return the final score, (n,) sums to 1 over each text, and a column by score."""
    count = len(words.ends)
    columns: dict[str, Column] = {}
    final, weights = np.zeros(len(words.ids)), 0.0
    factor = np.ones(len(words.ids))
    for each in scores:
        columns[each.name] = values = each.values(words)
        if each.score.multiplies:
            factor *= np.maximum(1.0 + each.weight * (values - 1.0), 0.0)
            continue
        share = normalized(values, words.texts, count)
        columns[f"{each.name} share"] = share
        final += each.weight * share
        weights += each.weight
    # Factors alone work on equal shares.
    mean = final / weights if weights else np.ones(len(final))
    return normalized(mean * factor, words.texts, count), columns


def _settings(name: str, settings: object) -> tuple[float, Params]:
    location = f"budget: scores.{name}"
    kind = registry.find("budgets.scores", name).Params
    if not isinstance(settings, Mapping):
        settings = {"weight": settings}
    weight = settings.get("weight", 1.0)
    if not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        raise UsageError(
            f"{location}: the weight is a number from 0 to 1000000, true or false"
        )
    rest = {key: value for key, value in settings.items() if key != "weight"}
    return float(weight), convert(rest, kind, location, ("weight",))
